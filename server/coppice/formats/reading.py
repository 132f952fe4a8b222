"""Opens a session file of any format."""

import itertools
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from coppice.errors import ImportFailedError
from coppice.formats.claude_code import ClaudeCodeSession
from coppice.formats.coppice import CoppiceSession
from coppice.formats.entry_file import ENTRY_TYPES
from coppice.formats.lines import read_objects
from coppice.formats.pi import PiSession
from coppice.formats.session import SessionReader
from coppice.formats.source import Source
from coppice.formats.warning_log import WarningLog

ImportFormat = Literal["auto", "coppice", "pi", "claude-code"]

LINES_TO_RECOGNIZE: Final = 1000
"""How many readable lines are looked at before a file counts as none of the formats."""

_START_BYTES: Final = 2**16

_CLAUDE_CODE_TYPES: Final = frozenset(
    {"user", "assistant", "system", "summary", "progress", "file-history-snapshot", "queue-operation"}
)


def open_session(source: Path | str | BinaryIO, format: ImportFormat = "auto") -> SessionReader:  # noqa: A002
    """A reader of `source`: a file, a session's text, or an open binary file. It is only ever read.

    Raises ImportFailedError for what cannot be read, is empty, or holds no line of a session.
    """
    opened = Source(source)
    _refuse_blank(opened)
    chosen = _recognized(opened) if format == "auto" else format
    match chosen:
        case "coppice":
            return CoppiceSession(opened)
        case "pi":
            return PiSession(opened)
        case "claude-code":
            return ClaudeCodeSession(opened)


def _recognized(source: Source) -> Literal["coppice", "pi", "claude-code"]:
    with source.open() as file:
        for line in itertools.islice(read_objects(file, WarningLog()), LINES_TO_RECOGNIZE):
            found = _format_of(line.value)
            if found is not None:
                return found
    if _holds_nul(source):
        raise ImportFailedError("The file is binary. Choose a session file: text, one JSON object a line.")
    raise ImportFailedError(
        "This file is no session that Coppice knows (Pi, Claude Code or Coppice, one JSON object a line). "
        "Choose another file."
    )


def _format_of(value: dict[str, Any]) -> Literal["coppice", "pi", "claude-code"] | None:
    kind = value.get("type")
    if kind == "coppice" and "version" in value:
        return "coppice"
    if kind == "session" and isinstance(value.get("id"), str):
        return "pi"
    if kind in _CLAUDE_CODE_TYPES and ("sessionId" in value or "uuid" in value or "leafUuid" in value):
        return "claude-code"
    if kind == "file-history-snapshot":
        return "claude-code"
    return "pi" if kind in ENTRY_TYPES and "timestamp" in value else None


def _refuse_blank(source: Source) -> None:
    with source.open() as file:
        start = file.read(_START_BYTES)
    if not start.strip() and len(start) < _START_BYTES:
        raise ImportFailedError("The file is empty. Choose a file that holds a session.")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ImportFailedError("The file is UTF-16. Save it as UTF-8 and import it again.")


def _holds_nul(source: Source) -> bool:
    with source.open() as file:
        return b"\0" in file.read(_START_BYTES)
