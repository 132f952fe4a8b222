"""Where a session file's bytes come from. Sources are only ever read."""

import io
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from coppice.errors import ImportFailedError


class Source:
    """Bytes that can be read several times: a file, a text, or an open binary file."""

    def __init__(self, origin: Path | str | BinaryIO) -> None:
        self._path: Path | None = None
        self._file: BinaryIO | None = None
        if isinstance(origin, Path):
            self._path = origin
            _refuse_unreadable(origin)
        elif isinstance(origin, str):
            self._file = io.BytesIO(origin.encode("utf-8", errors="surrogatepass"))
        else:
            self._file = origin if origin.seekable() else self._copied(origin)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The source from its first byte. Raises ImportFailedError when it cannot be read."""
        try:
            if self._path is not None:
                with self._path.open("rb") as file:
                    yield file
            elif self._file is not None:
                self._file.seek(0)
                yield self._file
        except OSError as error:
            raise _unreadable(error) from error

    def _copied(self, origin: BinaryIO) -> BinaryIO:
        copy: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed when this source goes
        weakref.finalize(self, copy.close)
        shutil.copyfileobj(origin, copy)
        return copy


def _refuse_unreadable(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error
    if stat.S_ISDIR(mode):
        raise ImportFailedError(f"{path.name} is a folder. Name a session file in it.")
    if not stat.S_ISREG(mode):
        raise ImportFailedError(f"{path.name} is not a regular file. Name a session file.")


def _unreadable(error: OSError | ValueError) -> ImportFailedError:
    match error:
        case FileNotFoundError():
            return ImportFailedError("There is no such file. Check its name and folder.")
        case PermissionError():
            return ImportFailedError(
                "The file may not be read. Ask for permission to read it, then try again."
            )
        case OSError():
            return ImportFailedError(f"The file cannot be read ({error.strerror}). Check it and try again.")
        case _:
            return ImportFailedError("This is not a file name. Check its spelling.")
