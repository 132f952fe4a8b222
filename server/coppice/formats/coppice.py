"""Coppice's own session files.

The first line is `{"type": "coppice", "version": 1, "id", "name", "cwd", "createdAt", "leafId", "extra"}`;
every further line is an entry as docs/protocol.md describes it, in the order of appending. `leafId` may be
null (before the first entry); where it is absent the last entry that is no metadata is the leaf. `extra`
keeps the header of the file the conversation was once imported from.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from coppice.errors import ImportFailedError
from coppice.formats.entry_file import EntryFile
from coppice.formats.entry_index import shown
from coppice.formats.lines import ParsedLine, dump_line, object_at, text_at, type_of
from coppice.formats.session import SessionHeader
from coppice.formats.source import Source
from coppice.tree.entries import METADATA_TYPES, Entry
from coppice.tree.messages import present

VERSION: Final = 1  # of our own session format

_HEADER_KEYS: Final = frozenset({"type", "version", "id", "name", "cwd", "createdAt", "leafId", "extra"})


class Reader(EntryFile):
    """Reads what `write` writes."""

    format: ClassVar[str] = "coppice"
    header_type: ClassVar[str] = "coppice"
    title: ClassVar[str] = "Coppice session"

    def __init__(self, source: Source) -> None:
        self._stored_leaf: Any = False
        self._last_position: int | None = None
        self._header_number = 1
        super().__init__(source)

    def _take_header(self, line: ParsedLine) -> None:
        value = line.value
        version = value.get("version")
        if not isinstance(version, int) or version > VERSION:
            raise ImportFailedError(
                f"This session has format version {version}; this Coppice reads {VERSION}. Update Coppice."
            )
        self._stored_leaf = value.get("leafId", False)
        self._header_number = line.number
        unknown = {key: item for key, item in value.items() if key not in _HEADER_KEYS}
        self.header = SessionHeader(
            format=self.format,
            session_id=text_at(value, "id"),
            name=text_at(value, "name"),
            cwd=text_at(value, "cwd"),
            created_at=text_at(value, "createdAt"),
            extra={**object_at(value, "extra"), **unknown},
        )

    def _note(self, line: ParsedLine, position: int | None) -> None:
        if position is not None and type_of(line.value) not in METADATA_TYPES:
            self._last_position = position

    def _find_leaf(self) -> str | None:
        if self._stored_leaf is None:
            return None
        last = None if self._last_position is None else self._id_of(self._last_position)
        if isinstance(self._stored_leaf, str):
            if self._index.position_of(self._stored_leaf) is not None:
                return self._stored_leaf
            self._log.add(
                self._header_number,
                "leaf",
                f"the leaf {shown(self._stored_leaf)} is not in the file; the last entry is the leaf",
            )
        return last


def write(header: SessionHeader, entries: Iterable[Entry], *, leaf_id: str | None = None) -> Iterator[str]:
    """The lines of a Coppice session, newlines included. `entries` come in the order of appending."""
    optional = present(
        id=header.session_id,
        name=header.name,
        cwd=header.cwd,
        createdAt=header.created_at,
        extra=header.extra or None,
    )
    yield dump_line({"type": "coppice", "version": VERSION, **optional, "leafId": leaf_id})
    for entry in entries:
        yield dump_line(entry.model_dump(mode="json", by_alias=True))


def recognize(value: dict[str, Any]) -> bool:
    """Whether `value` is an object of such a file."""
    return value.get("type") == "coppice" and "version" in value
