"""Reading a file that may not be what it seems: a checkout can hold links, FIFOs and devices."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from coppice.operating_system import open_to_read


def read_regular_file(file: Path, max_bytes: int, *, follow_link: bool = False) -> bytes:
    """The content of a regular file of at most `max_bytes`; it never waits for a FIFO or a device.

    A link as the last part of the path is refused unless `follow_link`. Raises FileNotFoundError, or another
    OSError whose `strerror` is the reason the file is not read.
    """
    with _opened(file, follow_link=follow_link) as opened:
        content = opened.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(0, f"it is larger than {max_bytes:,} bytes")
    return content


def read_end(file: Path, max_bytes: int) -> tuple[bytes, int]:
    """The last `max_bytes` of a regular file, and when it was modified, in nanoseconds of the epoch.

    Raises as `read_regular_file`, and follows no link as the last part of the path.
    """
    with _opened(file, follow_link=False) as opened:
        status = os.fstat(opened.fileno())
        opened.seek(max(0, status.st_size - max_bytes))
        return opened.read(max_bytes), status.st_mtime_ns


def file_type(path: Path) -> int | None:
    """The type of the file at `path` as `stat.S_IFMT` gives it, a link being one; None where none is seen."""
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except (OSError, ValueError):
        return None


@contextmanager
def _opened(file: Path, *, follow_link: bool) -> Iterator[BinaryIO]:
    try:
        descriptor = open_to_read(file, follow_link=follow_link)
    except ValueError as error:
        raise OSError(0, str(error)) from None
    except OSError:
        if not follow_link and file.is_symlink():
            raise OSError(0, "it is a link") from None
        raise
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is no regular file")
        yield opened
