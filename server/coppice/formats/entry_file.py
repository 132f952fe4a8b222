"""Files that hold one entry a line, after a header line: Pi's and Coppice's own."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, BinaryIO, ClassVar, Final, get_args

from pydantic import ValidationError

from coppice.errors import ImportFailedError
from coppice.formats.entry_index import EntryIndex, shown
from coppice.formats.forest import ROOT, in_order
from coppice.formats.lines import (
    ParsedLine,
    UnusableLineError,
    read_object_at,
    read_objects,
    read_text_at,
    type_of,
)
from coppice.formats.session import SessionHeader
from coppice.formats.source import Source
from coppice.formats.times import iso_of_milliseconds
from coppice.formats.warning_log import WarningLog, as_sentences
from coppice.tree.entries import ENTRY, CustomEntry, Entry
from coppice.tree.nesting import nests_deeper

UNKNOWN: Final = "coppice.unknown"
"""The `customType` of an entry that was not understood; its `data` is the object as the file holds it."""

ENTRY_TYPES: Final = frozenset(model.model_fields["type"].default for model in get_args(get_args(Entry)[0]))

_HEADER_TYPES: Final = frozenset({"session", "coppice"})

EPOCH: Final = "1970-01-01T00:00:00.000Z"


class EntryFile(ABC):
    """Reads the file twice: first for ids and parents, then, on iteration, for the entries.

    See `SessionReader` for what it gives.
    """

    format: ClassVar[str]
    header_type: ClassVar[str]
    title: ClassVar[str]
    header: SessionHeader
    leaf_id: str | None

    def __init__(self, source: Source) -> None:
        self.header = SessionHeader(format=self.format)
        self._source = source
        self._log = WarningLog()
        self._content_log = WarningLog()
        self._index = EntryIndex(self._log)
        self._has_header = False
        self._last_timestamp = EPOCH
        recognized = 0
        with source.open() as file:
            for line in read_objects(file, self._log):
                if type_of(line.value) == self.header_type:
                    self._meet_header(line)
                else:
                    recognized += type_of(line.value) in ENTRY_TYPES
                    self._meet_entry(file, line)
        if not self._has_header:
            if not recognized:
                raise ImportFailedError(
                    f"No line of this file could be used as part of a {self.title}. "
                    "Choose another file or format."
                )
            self._log.add(
                1, "header", f"the header of the {self.title} is missing; its entries were read without"
            )
        self._index.connect()
        self.leaf_id = self._find_leaf()

    @property
    def warnings(self) -> list[str]:
        """See `SessionReader`."""
        return as_sentences(self._log, self._content_log)

    def __iter__(self) -> Iterator[Entry]:
        self._content_log = WarningLog()
        self._last_timestamp = self.header.created_at or EPOCH
        index = self._index
        with self._source.open() as file:
            for position in in_order(index.parents):
                yield self._entry(file, position)

    @abstractmethod
    def _take_header(self, line: ParsedLine) -> None:
        """Fills `header` from the header line."""

    @abstractmethod
    def _find_leaf(self) -> str | None: ...

    def _keeps_ids(self, value: dict[str, Any]) -> bool:
        """Whether the entries have ids and parents of their own; `value` is one of them."""
        del value
        return True

    @abstractmethod
    def _note(self, line: ParsedLine, position: int | None) -> None:
        """Sees each line of the first reading; `position` is None for a header."""

    def _migrated(self, value: dict[str, Any], position: int) -> dict[str, Any]:
        """The entry in its current shape."""
        del position
        return value

    def _id_of(self, position: int) -> str:
        return self._index.ids[position] or derived_id(self.header.session_id, position)

    def _meet_header(self, line: ParsedLine) -> None:
        if self._has_header:
            self._log.add(
                line.number, "header", "a second header was left out; the entries after it were kept"
            )
        else:
            self._has_header = True
            self._take_header(line)
        self._note(line, None)

    def _meet_entry(self, file: BinaryIO, line: ParsedLine) -> None:
        if not len(self._index) and type_of(line.value) in _HEADER_TYPES:
            raise ImportFailedError(f"This file is no {self.title}. Choose the format it has, or `auto`.")
        if not any(isinstance(line.value.get(key), str) for key in ("type", "id")):
            self._log.add(
                line.number,
                "no type",
                "this object has neither type nor id and was left out",
            )
            self._note(line, None)
            return
        if not self._keeps_ids(line.value):
            self._note(line, self._index.add(line, None, len(self._index) - 1))
            return
        given = line.value.get("id")
        entry_id = given if isinstance(given, str) and given else None
        if entry_id is None:
            self._log.add(line.number, "no id", "this entry has no id and was given one")
        elif self._index.has_same(file, entry_id, line.value):
            self._log.add(line.number, "repeated", f"the entry {shown(entry_id)} is in the file twice")
            self._note(line, self._index.position_of(entry_id))
            return
        self._note(line, self._index.add(line, entry_id, self._parent(line)))

    def _parent(self, line: ParsedLine) -> str | int:
        parent = line.value.get("parentId", False)
        if parent is None:
            return ROOT
        if isinstance(parent, str):
            return parent
        before = len(self._index) - 1
        if before != ROOT:
            self._log.add(
                line.number, "no parent", "this entry names no parent and was hung on the one before it"
            )
        return before

    def _read_again(self, file: BinaryIO, position: int) -> dict[str, Any]:
        try:
            value = read_object_at(file, self._index.offsets[position])
        except UnusableLineError as error:
            raise changed_meanwhile() from error
        expected = self._index.ids[position]
        if expected is not None and not expected.startswith(str(value.get("id"))):
            raise changed_meanwhile()
        return value

    def _entry(self, file: BinaryIO, position: int) -> Entry:
        value = self._read_again(file, position)
        line = self._index.lines[position]
        parent = self._index.parents[position]
        entry_id = self._id_of(position)
        parent_id = None if parent == ROOT else self._id_of(parent)
        timestamp = self._timestamp(line, value)
        found = {**value, "id": entry_id, "parentId": parent_id, "timestamp": timestamp}
        migrated = self._migrated(found, position)
        if nests_deeper(migrated):
            reason = "is nested too deep"
            kept: Any = read_text_at(file, self._index.offsets[position])
        else:
            try:
                return ENTRY.validate_python(migrated)
            except ValidationError as error:
                reason, kept = _reason(migrated, error), migrated
        self._content_log.add(
            line, "not understood", f"this entry {reason}; it was kept as data that no model sees"
        )
        return CustomEntry(
            id=entry_id, parent_id=parent_id, timestamp=timestamp, custom_type=UNKNOWN, data=kept
        )

    def _timestamp(self, line: int, value: dict[str, Any]) -> str:
        found = value.get("timestamp")
        if isinstance(found, str):
            self._last_timestamp = found
            return found
        message = value.get("message")
        recorded = message.get("timestamp") if isinstance(message, dict) else None
        mended = iso_of_milliseconds(found) or iso_of_milliseconds(recorded) or self._last_timestamp
        self._content_log.add(line, "no time", f"this entry has no usable timestamp; {mended} was taken")
        return mended


def derived_id(session_id: str | None, ordinal: int) -> str:
    """An id for an entry without one: the same each time the same file is read."""
    return blake2b(f"{session_id or ''}:{ordinal}".encode(), digest_size=8).hexdigest()


def _reason(value: dict[str, Any], error: ValidationError) -> str:
    kind = type_of(value)
    if kind not in ENTRY_TYPES:
        return f"is of the unknown type {shown(str(value.get('type')))}"
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "union_tag_invalid" and first["loc"][-1:] == ("message",):
        return f"has the unknown role {shown(str(first['ctx']['tag']))}"
    place = ".".join(str(part) for part in first["loc"][1:])
    return f"({kind}) is not as expected at {place or 'its top'} ({first['msg']})"


def changed_meanwhile() -> ImportFailedError:
    """The error for a file that is no longer what the first reading saw."""
    return ImportFailedError("The file was changed while it was read. Import it again.")
