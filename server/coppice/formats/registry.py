"""The formats of session files. A new one is a module and a line in `FORMATS`.

The module of a format that can be read has `recognize(value)`, whether a file of this format may hold that
JSON object in a line, and `Reader`, which opens a source. That of a format that can be written has
`write(header, entries, leaf_id=…)`, which gives a file's text in pieces. A module is imported when it is
needed: who wants names alone does not wait for parsers.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from coppice.formats.session import SessionHeader, SessionReader
    from coppice.formats.source import Source
    from coppice.tree.entries import Entry


@dataclass(frozen=True)
class Format:
    """`name` is what settings, requests and commands call it, `title` what a person reads.

    `database` is set where the sessions are in a database, which is followed and cannot be imported.
    `writes_path` is set where a file holds one path, root first, instead of the whole tree. A file whose
    name ends in one of `endings` is written in this format unless another is named.
    """

    name: str
    title: str
    module: str
    reads: bool = False
    writes: bool = False
    writes_path: bool = False
    database: bool = False
    endings: tuple[str, ...] = ()

    def recognizes(self, value: dict[str, Any]) -> bool:
        """Whether `value`, the object of one line, belongs to a file of this format."""
        return self.reads and bool(import_module(self.module).recognize(value))

    def open(self, source: "Source") -> "SessionReader":
        """A reader of `source`. Raises ImportFailedError when no line of it can be used."""
        reader: SessionReader = import_module(self.module).Reader(source)
        return reader

    def write(
        self, header: "SessionHeader", entries: "Iterable[Entry]", *, leaf_id: str | None
    ) -> Iterator[str]:
        """The text of a session in pieces. `leaf_id` is the end of its path."""
        pieces: Iterator[str] = import_module(self.module).write(header, entries, leaf_id=leaf_id)
        return pieces


FORMATS: Final = (
    Format("coppice", "Coppice", "coppice.formats.coppice", reads=True, writes=True),
    Format("qwen", "Qwen Code", "coppice.formats.qwen", reads=True),
    Format("claude-code", "Claude Code", "coppice.formats.claude_code", reads=True),
    Format("codex", "Codex", "coppice.formats.codex", reads=True),
    Format("copilot", "Copilot CLI", "coppice.formats.copilot", reads=True),
    Format("gemini", "Gemini CLI", "coppice.formats.gemini", reads=True),
    Format("pi", "Pi", "coppice.formats.pi", reads=True, writes=True, endings=(".pi.jsonl",)),
    Format("messages", "messages", "coppice.formats.messages", reads=True),
    Format("opencode", "opencode", "coppice.formats.opencode", database=True),
    Format("openclaw", "OpenClaw", "coppice.formats.openclaw", database=True),
    Format("hermes", "Hermes", "coppice.formats.hermes", database=True),
    Format(
        "markdown",
        "Markdown",
        "coppice.formats.markdown",
        writes=True,
        writes_path=True,
        endings=(".md", ".markdown"),
    ),
)
"""In the order in which they are asked about a file: Pi recognizes any entry, and Claude Code's records have
the properties of Qwen Code's.
"""

AUTO: Final = "auto"
"""In place of a name when reading: the format that recognizes the file."""

IMPORT_NAMES: Final = (AUTO, *(format_.name for format_ in FORMATS if format_.reads))
EXPORT_NAMES: Final = tuple(format_.name for format_ in FORMATS if format_.writes)
READABLE_TITLES: Final = " or ".join(
    ", ".join(format_.title for format_ in FORMATS if format_.reads).rsplit(", ", maxsplit=1)
)
"""For a sentence: "Coppice, Claude Code, … or Pi"."""


def format_named(name: str) -> Format:
    """The format of this name. Raises KeyError where there is none."""
    return {format_.name: format_ for format_ in FORMATS}[name]


def format_of_file_name(name: str) -> str | None:
    """The format that a file to be written asks for by its name; None where the name has no such ending."""
    lowered = name.lower()
    return next((f.name for f in FORMATS if f.writes and any(map(lowered.endswith, f.endings))), None)
