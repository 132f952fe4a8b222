"""Files that hold one entry a line, after a header line: Pi's and Coppice's own."""

from abc import abstractmethod
from collections.abc import Iterator
from io import BufferedReader
from typing import Any, BinaryIO, ClassVar, Final, get_args

from pydantic import ValidationError

from coppice.errors import ImportFailedError
from coppice.formats.entry_index import ROOT, EntryIndex, in_order, shown
from coppice.formats.lines import ParsedLine, object_at, read_objects, read_text_at, text_at, type_of
from coppice.formats.session import EPOCH, SessionReader, changed_meanwhile, derived_id, read_again, time_of
from coppice.formats.source import NotResumableError, Source
from coppice.tree.entries import ENTRY, CustomEntry, Entry
from coppice.tree.nesting import nests_deeper

UNKNOWN: Final = "coppice.unknown"
"""The `customType` of an entry that was not understood; its `data` is the object as the file holds it."""

ENTRY_TYPES: Final = frozenset(model.model_fields["type"].default for model in get_args(get_args(Entry)[0]))

_HEADER_TYPES: Final = frozenset({"session", "coppice"})


class EntryFile(SessionReader):
    """The first reading finds ids and parents, each further one reads the entries at their places."""

    header_type: ClassVar[str]

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._index = EntryIndex(self._log)
        self._has_header = False
        self._last_timestamp = EPOCH
        self._last_line: ParsedLine | None = None
        recognized = 0
        if self._resumed is not None:
            self._resume(self._resumed)
        with source.open() as file:
            for line in read_objects(file, self._log, source.first_line):
                recognized += type_of(line.value) in ENTRY_TYPES
                position = self._meet(file, line)
                self._note(line, position)
                if position is not None:
                    self._last_line = line
        if not self._has_header:
            if not recognized:
                raise self._no_usable_line()
            self._log.add(
                1, "header", f"the header of the {self.title} is missing; its entries were read without"
            )
        self._index.connect(stored=self._resumed is not None)
        self.leaf_id = self._find_leaf()

    @abstractmethod
    def _take_header(self, line: ParsedLine) -> None:
        """Fills `header` from the header line."""

    @abstractmethod
    def _find_leaf(self) -> str | None: ...

    def _resume(self, state: dict[str, Any]) -> None:
        """Takes over what `_state` gave. A format without resuming has no checkpoints."""
        del state
        self._has_header = True

    def _state(self) -> dict[str, Any] | None:
        """What a reading that begins at a later entry must know; None where there is no such reading."""
        return None

    def _keeps_ids(self, value: dict[str, Any]) -> bool:
        """Whether the entries have ids and parents of their own; `value` is one of them."""
        del value
        return True

    @abstractmethod
    def _note(self, line: ParsedLine, position: int | None) -> None:
        """Sees each line of the first reading; `position` is None for what is no entry."""

    def _migrated(self, value: dict[str, Any], position: int) -> dict[str, Any]:
        """The entry in its current shape."""
        del position
        return value

    def _id_of(self, position: int) -> str:
        return self._index.ids[position] or derived_id(self.header.session_id, position)

    def _meet(self, file: BinaryIO, line: ParsedLine) -> int | None:
        """The position of the entry in `line`; None for what is no entry."""
        if type_of(line.value) == self.header_type:
            self._meet_header(line)
            return None
        if not len(self._index) and type_of(line.value) in _HEADER_TYPES:
            raise ImportFailedError(f"This file is no {self.title}. Choose the format it has, or `auto`.")
        entry_id = text_at(line.value, "id")
        if entry_id is None and type_of(line.value) is None:
            self._log.add(line.number, "no type", "this object has neither type nor id and was left out")
            return None
        if not self._keeps_ids(line.value):
            return self._index.add(line, None, len(self._index) - 1)
        if not entry_id:
            self._log.add(line.number, "no id", "this entry has no id and was given one")
        elif self._index.has_same(file, entry_id, line.value):
            self._log.add(line.number, "repeated", f"the entry {shown(entry_id)} is in the file twice")
            return self._index.position_of(entry_id)
        return self._index.add(line, entry_id or None, self._parent(line))

    def _meet_header(self, line: ParsedLine) -> None:
        if self._has_header:
            self._log.add(
                line.number, "header", "a second header was left out; the entries after it were kept"
            )
        else:
            self._has_header = True
            self._take_header(line)

    def _parent(self, line: ParsedLine) -> str | int:
        parent = line.value.get("parentId", False)
        if parent is None:
            return ROOT
        if isinstance(parent, str):
            return parent
        before = len(self._index) - 1
        if before == ROOT and self._resumed is not None:
            raise NotResumableError
        if before != ROOT:
            self._log.add(
                line.number, "no parent", "this entry names no parent and was hung on the one before it"
            )
        return before

    def _entries(self, file: BufferedReader) -> Iterator[Entry]:
        self._last_timestamp = self.header.created_at or EPOCH
        for position in in_order(self._index.parents):
            yield self._entry(file, position)
        state = self._state()
        if self._last_line is not None and state is not None:
            self._pass(self._last_line, state)

    def _entry(self, file: BinaryIO, position: int) -> Entry:
        index = self._index
        value = read_again(file, index.offsets[position])
        known_id = index.ids[position]
        if known_id is not None and not known_id.startswith(str(value.get("id"))):
            raise changed_meanwhile()
        line, parent = index.lines[position], index.parents[position]
        entry_id = self._id_of(position)
        parent_id = index.stored_parents.get(position) if parent == ROOT else self._id_of(parent)
        timestamp = self._timestamp(line, value)
        linked = {**value, "id": entry_id, "parentId": parent_id, "timestamp": timestamp}
        migrated = self._migrated(linked, position)
        if nests_deeper(migrated):
            reason = "is nested too deep"
            data: Any = read_text_at(file, index.offsets[position])
        else:
            try:
                return ENTRY.validate_python(migrated)
            except ValidationError as error:
                reason, data = _reason(migrated, error), migrated
        self._content_log.add(
            line, "not understood", f"this entry {reason}; it was kept as data that no model sees"
        )
        return CustomEntry(
            id=entry_id, parent_id=parent_id, timestamp=timestamp, custom_type=UNKNOWN, data=data
        )

    def _timestamp(self, line: int, value: dict[str, Any]) -> str:
        timestamp = value.get("timestamp")
        if isinstance(timestamp, str):
            self._last_timestamp = timestamp
            return timestamp
        recorded = object_at(value, "message").get("timestamp")
        mended = time_of(timestamp, 1000) or time_of(recorded, 1000) or self._last_timestamp
        self._content_log.add(line, "no time", f"this entry has no usable timestamp; {mended} was taken")
        return mended


def _reason(value: dict[str, Any], error: ValidationError) -> str:
    kind = type_of(value)
    if kind not in ENTRY_TYPES:
        return f"is of the unknown type {shown(str(value.get('type')))}"
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "union_tag_invalid" and first["loc"][-1:] == ("message",):
        return f"has the unknown role {shown(str(first['ctx']['tag']))}"
    place = ".".join(str(part) for part in first["loc"][1:])
    return f"({kind}) is not as expected at {place or 'its top'} ({first['msg']})"
