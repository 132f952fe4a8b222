"""Pi's session files, versions 1 to 3, and version 4, as OpenClaw writes it.

The rules are those of the session manager of the npm package @mariozechner/pi-coding-agent 0.73.1: in
version 1 entries have neither id nor parent and follow one another; `firstKeptEntryIndex` counts the lines
of the file with its header, which is number 0; version 3 renamed the role `hookMessage` to `custom`. Every
entry but the header lies in the tree, and the last one in the file is the leaf.
"""

import json
import uuid
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final

from pydantic import ValidationError
from typing_extensions import override

from coppice.formats.answers import answered, answers_by, of_questions
from coppice.formats.entry_file import ENTRY_TYPES, UNKNOWN, EntryFile
from coppice.formats.lines import ParsedLine, dump_line, object_at, objects_at, text_at, type_of
from coppice.formats.session import SessionHeader
from coppice.formats.source import Source
from coppice.tree.entries import ENTRY, CustomEntry, Entry, SessionInfoEntry
from coppice.tree.ids import new_entry_id
from coppice.tree.messages import ANSWERED, DENIED, present

VERSION: Final = 3  # of Pi's session format that is written (Pi 0.73.1 to 1.5.2)
NEWEST_READ: Final = 4  # OpenClaw's, with the records of version 3
FIRST_VERSION_WITH_IDS: Final = 2  # of Pi's format; before it an entry's parent is the entry before it

OWN_TYPES: Final = {
    "pin": "coppice.pin",
    "file_activity": "coppice.file_activity",
    "context_edit": "coppice.context_edit",
}
"""Entry types Pi does not know, and the `customType` under which a Pi file holds them."""

_TOOLS_OWN: Final = {mark: f"pi.{mark}" for mark in (*ANSWERED, *DENIED)}
"""`details` of a Pi session are a tool's: these would say that the user has spoken."""
_TYPE_OF_CUSTOM: Final = {custom: own for own, custom in OWN_TYPES.items()}
_BASE_KEYS: Final = ("id", "parentId", "timestamp")


class Reader(EntryFile):
    """Reads a Pi session of any version."""

    format: ClassVar[str] = "pi"
    header_type: ClassVar[str] = "session"
    title: ClassVar[str] = "Pi session"

    def __init__(self, source: Source) -> None:
        self._version: int | None = None
        self._last_position: int | None = None
        self._position_of_line = array("q")
        super().__init__(source)

    def _take_header(self, line: ParsedLine) -> None:
        value = dict(line.value)
        self._version = self._version_of(line)
        for key in ("type", "version"):
            value.pop(key, None)
        self.header = SessionHeader(
            format=self.format,
            session_id=_pop_text(value, "id"),
            cwd=_pop_text(value, "cwd"),
            created_at=_pop_text(value, "timestamp"),
            extra=value,
        )

    def _version_of(self, line: ParsedLine) -> int:
        version = line.value.get("version", 1)
        if isinstance(version, int | float) and not isinstance(version, bool):
            if version > NEWEST_READ:
                self._log.add(
                    line.number,
                    "version",
                    f"version {version} is newer than {NEWEST_READ}, as which it was read",
                )
            return int(version)
        self._log.add(line.number, "version", f"the version is no number; read as version {VERSION}")
        return VERSION

    @override
    def _resume(self, state: dict[str, Any]) -> None:
        super()._resume(state)
        self._version = state["version"]

    @override
    def _state(self) -> dict[str, Any] | None:
        return None if (self._version or 1) < FIRST_VERSION_WITH_IDS else {"version": self._version}

    def _keeps_ids(self, value: dict[str, Any]) -> bool:
        has_ids = isinstance(value.get("id"), str) and "parentId" in value
        if self._version is None and type_of(value) not in ENTRY_TYPES:
            return True
        if self._version is None:
            self._version = VERSION if has_ids else 1
            if self._version == 1:
                self._position_of_line.append(-1)
        elif self._version < FIRST_VERSION_WITH_IDS and has_ids and not len(self._index):
            self._version = FIRST_VERSION_WITH_IDS
            self._log.add(
                1, "version", "the header names no version with ids, but the entries have ids; kept"
            )
        return self._version >= FIRST_VERSION_WITH_IDS

    def _note(self, line: ParsedLine, position: int | None) -> None:
        self._last_position = self._last_position if position is None else position
        if position is not None and line.value.get("type") == "session_info":
            name = line.value.get("name")
            self.header.name = (name.strip() or None) if isinstance(name, str) else None
        if self._version == 1:
            self._position_of_line.append(-1 if position is None else position)

    def _find_leaf(self) -> str | None:
        return None if self._last_position is None else self._id_of(self._last_position)

    def _migrated(self, value: dict[str, Any], position: int) -> dict[str, Any]:
        version = self._version or 1
        message = value.get("message")
        if version < VERSION and isinstance(message, dict) and message.get("role") == "hookMessage":
            value = {**value, "message": {**message, "role": "custom"}}
        if version < FIRST_VERSION_WITH_IDS and "firstKeptEntryIndex" in value:
            value = self._with_first_kept_id(value, position)
        return _own_type_restored(_with_answer(_with_details(value, _TOOLS_OWN)))

    def _with_first_kept_id(self, value: dict[str, Any], position: int) -> dict[str, Any]:
        index = value["firstKeptEntryIndex"]
        value = {key: item for key, item in value.items() if key != "firstKeptEntryIndex"}
        if isinstance(index, int) and 0 <= index < len(self._position_of_line):
            first_kept = self._position_of_line[index]
            if 0 <= first_kept < position:
                return {**value, "firstKeptEntryId": self._id_of(first_kept)}
        self._content_log.add(
            self._index.lines[position],
            "first kept entry",
            f"firstKeptEntryIndex {index!r} names no earlier entry; the compaction keeps nothing before it",
        )
        return value


def write(header: SessionHeader, entries: Iterable[Entry], *, leaf_id: str | None = None) -> Iterator[str]:
    """The lines of a Pi session of version 3, newlines included.

    The last line of a file is Pi's leaf, so the leaf's line is written last; without `leaf_id` the entries
    keep their order. A name that no `session_info` entry holds is added as one.
    """
    yield dump_line(_header_line(header))
    leaf_line, name, last = "", None, None
    for entry in entries:
        line = _entry_line(entry)
        if isinstance(entry, SessionInfoEntry):
            name = (entry.name or "").strip() or None
        last = entry
        if entry.id == leaf_id:
            leaf_line = line
        else:
            yield line
    if last is not None and header.name and name != header.name:
        named = SessionInfoEntry(
            id=new_entry_id(),
            parent_id=leaf_id if leaf_line else last.id,
            timestamp=last.timestamp,
            name=header.name,
        )
        yield _entry_line(named)
    if leaf_line:
        yield leaf_line


def _header_line(header: SessionHeader) -> dict[str, Any]:
    optional = present(id=header.session_id, timestamp=header.created_at, cwd=header.cwd)
    return {"id": str(uuid.uuid4()), **header.extra, "type": "session", "version": VERSION, **optional}


def _entry_line(entry: Entry) -> str:
    value = _without_answer(entry.model_dump(mode="json", by_alias=True))
    value = _with_details(value, {own: mark for mark, own in _TOOLS_OWN.items()})
    if isinstance(entry, CustomEntry) and entry.custom_type == UNKNOWN:
        return _original_line(entry) or dump_line(value)
    custom_type = OWN_TYPES.get(entry.type)
    if custom_type is None:
        return dump_line(value)
    base = {key: value[key] for key in _BASE_KEYS}
    data = {key: item for key, item in value.items() if key not in base and key != "type"}
    return dump_line({"type": "custom", **base, "customType": custom_type, "data": data})


def _original_line(entry: CustomEntry) -> str | None:
    """What was not understood on the way in, as it was; None when there is nothing such in `entry`."""
    if isinstance(entry.data, dict):
        return dump_line({**entry.data, "id": entry.id, "parentId": entry.parent_id})
    if not isinstance(entry.data, str) or "\n" in entry.data:
        return None
    try:
        return f"{entry.data}\n" if isinstance(json.loads(entry.data), dict) else None
    except (ValueError, RecursionError):
        return None


def _with_details(value: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A result whose details have other names."""
    message = object_at(value, "message")
    details = object_at(message, "details")
    if details.keys().isdisjoint(names):
        return value
    renamed = {names.get(key, key): item for key, item in details.items()}
    return {**value, "message": {**message, "details": renamed}}


def _with_answer(value: dict[str, Any]) -> dict[str, Any]:
    """A result of a question tool that comes with Pi is marked where it has what the user answered."""
    message = object_at(value, "message")
    details = object_at(message, "details")
    match message.get("toolName"):
        case "question":
            answers = [text_at(details, "answer")]
        case "questionnaire":  # has the answers in the order in which they were given
            labels = {
                f"answer {number}" if (own := text_at(each, "id")) is None else own: each.get("label")
                for number, each in enumerate(objects_at(details, "answers"))
            }
            answers = answers_by(of_questions(details, "id"), labels)
        case _:
            return value
    marks = answered(answers)
    if details.get("cancelled") is True or marks == ANSWERED:
        return value
    return {**value, "message": {**message, "details": {**details, **marks}}}


def _without_answer(value: dict[str, Any]) -> dict[str, Any]:
    """What `_with_answer` marked, as it was; anything else as it is."""
    message = object_at(value, "message")
    details = object_at(message, "details")
    for marks in (("answered", "answer"), ("answered",)):
        bare = {key: item for key, item in details.items() if key not in marks}
        before = {**value, "message": {**message, "details": bare}}
        if details != bare and _with_answer(before) == value:
            return before
    return value


def _own_type_restored(value: dict[str, Any]) -> dict[str, Any]:
    own_type = _TYPE_OF_CUSTOM.get(str(value.get("customType"))) if value.get("type") == "custom" else None
    data = value.get("data")
    if own_type is None or not isinstance(data, dict):
        return value
    restored = {**data, "type": own_type, **{key: value[key] for key in _BASE_KEYS}}
    try:
        ENTRY.validate_python(restored)
    except ValidationError:
        return value
    return restored


def _pop_text(value: dict[str, Any], key: str) -> str | None:
    return value.pop(key) if isinstance(value.get(key), str) else None


def recognize(value: dict[str, Any]) -> bool:
    """Whether `value` is an object of such a file."""
    kind = type_of(value)
    if kind == "session":
        return isinstance(value.get("id"), str)
    return kind in ENTRY_TYPES and "timestamp" in value
