"""Where a session file's bytes come from, and where a later reading begins. Sources are only ever read."""

import io
import os
import stat
import tempfile
import weakref
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from coppice.errors import ImportFailedError
from coppice.formats.lines import Places
from coppice.operating_system import open_without_waiting

_MARK_BYTES: Final = 4096
"""Of the line at a checkpoint, to recognize it by. Ids and times come early in a line."""

BUFFER_BYTES: Final = 2**16
"""After so many bytes at the latest `on_read` is called. A fraction of a millisecond's reading."""

MAX_BYTES: Final = 8 * 2**30
"""Of a session file. Two million entries, the limit, have 4,000 bytes each then."""

OnRead = Callable[[int, int], None]
"""Called while a source is read, with the bytes read so far in all readings and the size of the source.

What it raises ends the reading.
"""


class NotResumableError(Exception):
    """A file cannot be read from its checkpoint: it was rewritten, or its new lines refer to what was before.

    It is to be read from its start.
    """


class NoMessageYetError(ImportFailedError):
    """A session that was only begun: there is nothing in it to store."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The begin of a line, and what a reader must know of the lines before it.

    `line` counts from 1, `offset` from 0; `mark` is a digest of the line's beginning, None in a database,
    whose reader checks that itself. `state` is the format's own, of JSON values.
    """

    offset: int
    line: int
    mark: str | None
    state: dict[str, Any] = field(default_factory=dict)

    def is_in(self, file: BinaryIO) -> bool:
        """Whether the line is still there."""
        return self.mark is None or mark_at(file, self.offset) == self.mark

    def to_json(self) -> dict[str, Any]:
        """For `of_json`."""
        return {"offset": self.offset, "line": self.line, "mark": self.mark, "state": self.state}

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> "Checkpoint":
        """What `to_json` gave."""
        return cls(value["offset"], value["line"], value["mark"], value["state"])


def mark_at(file: BinaryIO, offset: int) -> str:
    """A digest of the beginning of the line at `offset`."""
    file.seek(offset)
    return blake2b(file.readline(_MARK_BYTES), digest_size=8).hexdigest()


class Source:
    """Bytes that can be read several times: a file, a text, or an open binary file.

    They are read up to where they ended when they were first opened; with `start`, from there on.
    `growing`: lines may follow that belong to the last entries. `part` is the session that is
    meant in a file of several; `places` are the lines that can be of it, where they are known.
    """

    def __init__(
        self,
        origin: Path | str | BinaryIO,
        on_read: OnRead | None = None,
        *,
        start: Checkpoint | None = None,
        growing: bool = False,
        part: str | None = None,
        places: Places | None = None,
    ) -> None:
        self.start = start
        self.part = part
        self._places = places
        self.growing = growing
        self._path: Path | None = None
        self._file: BinaryIO | None = None
        self._on_read = on_read
        self._bytes_read = 0
        self._end: int | None = None
        if isinstance(origin, Path):
            self._path = origin
        elif isinstance(origin, str):
            self._file = io.BytesIO(origin.encode("utf-8", errors="surrogatepass"))
        else:
            self._file = origin if origin.seekable() else self._copied(origin)

    @contextmanager
    def open(self) -> Iterator[io.BufferedReader]:
        """The source from its first byte, or from its start.

        Raises:
            ImportFailedError: it cannot be read.
            NotResumableError: the line at its start is another one by now.
        """
        try:
            if self._path is not None:
                with _opened(self._path) as file:
                    _check_regular(self._path, os.fstat(file.fileno()))
                    yield self._from_start(file)
            elif self._file is not None:
                yield self._from_start(self._file)
        except OSError as error:
            raise _unreadable(error) from error

    def file(self) -> Path:
        """The file of a format that is read by other means. Raises ImportFailedError where there is none."""
        if self._path is None:
            raise ImportFailedError("This format can only be read from a file.")
        return self._path

    @property
    def first_line(self) -> int:
        """The number of the line at which `open` begins, from 1."""
        return 1 if self.start is None else self.start.line

    @property
    def places(self) -> Places | None:
        """The lines that are to be read, from `first_line` on; None for all."""
        if self._places is None or self.start is None:
            return self._places
        return self._places[bisect_left(self._places, (self.first_line,)) :]

    def check(self) -> None:
        """Calls `on_read`, in a loop over what was read before."""
        self._report(0, self._end or 0)

    def _from_start(self, file: BinaryIO) -> io.BufferedReader:
        if self.start is not None and not self.start.is_in(file):
            raise NotResumableError
        if self._end is None:
            self._end = file.seek(0, io.SEEK_END)
        file.seek(0 if self.start is None else self.start.offset)
        return self._watched(file)

    def _watched(self, file: BinaryIO) -> io.BufferedReader:
        return io.BufferedReader(_Watched(file, self._report, self._end or 0), BUFFER_BYTES)

    def _report(self, count: int, size: int) -> None:
        self._bytes_read += count
        if self._on_read is not None:
            self._on_read(self._bytes_read, size)

    def _copied(self, origin: BinaryIO) -> BinaryIO:
        copy = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - closed when this source goes
        weakref.finalize(self, copy.close)
        copied = 0
        while piece := origin.read(BUFFER_BYTES):
            copied += len(piece)
            _check_size(copied)
            copy.write(piece)
        return copy


class _Watched(io.RawIOBase):
    """`file` up to `size`, with a report of each piece that is read. Closing it leaves `file` open."""

    def __init__(self, file: BinaryIO, report: Callable[[int, int], None], size: int) -> None:
        self._inner = file
        self._report = report
        self._size = size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._inner.seek(offset, whence)

    def tell(self) -> int:
        return self._inner.tell()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what BufferedReader hands in
        data = self._inner.read(max(min(len(buffer), self._size - self._inner.tell()), 0))
        buffer[: len(data)] = data
        self._report(len(data), self._size)
        return len(data)


def _opened(path: Path) -> BinaryIO:
    """A file, opened without waiting for a writer at the other end of a pipe."""
    try:
        return open(path, "rb", opener=open_without_waiting)
    except IsADirectoryError:
        raise ImportFailedError(f"{path.name} is a folder. Name a session file in it.") from None
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error


def _check_regular(path: Path, status: os.stat_result) -> None:
    _check_size(status.st_size)
    if not stat.S_ISREG(status.st_mode):
        raise ImportFailedError(f"{path.name} is not a regular file. Name a session file.")


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise ImportFailedError(
            f"The file is longer than {MAX_BYTES // 2**30} GiB, the most that is imported at once. Divide it "
            "into sessions of their own.",
            most=MAX_BYTES,
        )


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
