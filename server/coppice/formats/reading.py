"""Opens a session file of any format."""

import itertools
import json
from codecs import BOM_UTF8
from pathlib import Path
from typing import BinaryIO, Final

from coppice.errors import ImportFailedError
from coppice.formats.lines import Places, read_objects
from coppice.formats.registry import AUTO, FORMATS, READABLE_TITLES, Format, format_named
from coppice.formats.session import SessionReader
from coppice.formats.source import Checkpoint, OnRead, Source
from coppice.formats.warning_log import WarningLog

LINES_TO_RECOGNIZE: Final = 1000
"""How many readable lines are looked at before a file counts as none of the formats."""

MAX_ARRAY_BYTES: Final = 8 * 2**20
"""Of a JSON array, which is parsed in one call: of the smallest elements it takes 0.4 GB, and while it is
parsed no other thread runs, for half a second. A conversation of messages is seldom that long."""
_ARRAY_LIMIT: Final = (
    f" A JSON array is read where it is whole and has at most {MAX_ARRAY_BYTES // 2**20} MiB; "
    "write each element of a longer one on a line of its own, as `jq -c '.[]' FILE` does."
)

_START_BYTES: Final = 2**16  # bytes that decide whether a file is empty or binary: the first read


def open_session(
    source: Path | str | BinaryIO, format_: str = AUTO, on_read: OnRead | None = None
) -> SessionReader:
    """A reader of `source`: a file, a session's text, or an open binary file. It is only ever read.

    `format_` is one of IMPORT_NAMES. A reader reads its source twice; `on_read` is called as it does, and
    what it raises ends the reading. Raises ImportFailedError for what cannot be read, is empty, or has no
    line of a session. A JSON array stands for its elements, one a line.
    """
    opened = Source(source, on_read)
    with opened.open() as file:
        start = file.read(_START_BYTES)
    if not start.strip() and len(start) < _START_BYTES:
        raise ImportFailedError("The file is empty. Choose a file that holds a session.")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ImportFailedError("The file is UTF-16. Save it as UTF-8 and import it again.")
    hint = ""
    if start.removeprefix(BOM_UTF8).lstrip().startswith(b"["):
        hint = _ARRAY_LIMIT
        opened = _of_array(opened, on_read) or opened
    chosen = _recognized(opened, start, hint) if format_ == AUTO else format_named(format_)
    return chosen.open(opened)


def open_growing(
    path: Path,
    format_: str,
    start: Checkpoint | None = None,
    *,
    growing: bool = True,
    part: str | None = None,
    places: Places | None = None,
    on_read: OnRead | None = None,
) -> SessionReader:
    """A reader of a file that another program appends to, from `start` on; see `SessionReader`.

    `part` is the session that is meant in a file of several, and `places` are the lines that can be of it;
    `on_read` is as in `open_session`.

    Raises ImportFailedError as `open_session`, and NotResumableError.
    """
    source = Source(path, on_read, start=start, growing=growing, part=part, places=places)
    return format_named(format_).open(source)


def _of_array(source: Source, on_read: OnRead | None) -> Source | None:
    """The elements of a JSON array, one a line; None where it is none, or too long to be read at once."""
    with source.open() as file:
        text = file.read(MAX_ARRAY_BYTES + 1)
    try:
        values = json.loads(text) if len(text) <= MAX_ARRAY_BYTES else None
        lines = None if values is None else "".join(f"{json.dumps(each)}\n" for each in values)
    except (ValueError, RecursionError):
        return None
    return None if lines is None else Source(lines, on_read)


def _recognized(source: Source, start: bytes, hint: str) -> Format:
    with source.open() as file:
        for line in itertools.islice(read_objects(file, WarningLog()), LINES_TO_RECOGNIZE):
            for format_ in FORMATS:
                if format_.recognizes(line.value):
                    return format_
    if b"\0" in start:
        raise ImportFailedError("The file is binary. Choose a session file: text, one JSON object a line.")
    raise ImportFailedError(
        f"This file is no session that Coppice knows ({READABLE_TITLES}, one JSON object a line). "
        f"Choose another file.{hint}"
    )
