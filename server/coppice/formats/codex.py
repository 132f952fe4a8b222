"""Codex's rollouts: a log of records `{timestamp, type, payload}`, one a line.

The first rollouts have the response items alone, without the record around them; these are read too. The
format's source is the crate `codex-protocol` of openai/codex, from 2025 to July 2026.
"""

from collections import Counter
from collections.abc import Iterator
from io import BufferedReader
from typing import Any, ClassVar, Final

from typing_extensions import override

from coppice.formats.codex_context import fingerprint
from coppice.formats.codex_messages import CALL_TYPES, OUTPUT_TYPES, PROVIDER_CALL_TYPES
from coppice.formats.codex_steps import Steps
from coppice.formats.entry_index import shown
from coppice.formats.lines import ParsedLine, object_at, read_objects, text_at, type_of
from coppice.formats.session import SessionReader, changed_meanwhile, check_number_of_entries
from coppice.formats.source import Source
from coppice.formats.warning_log import WarningLog
from coppice.tree.entries import Entry

RECORD_TYPES: Final = frozenset(
    {
        "session_meta",
        "response_item",
        "compacted",
        "turn_context",
        "event_msg",
        "world_state",
        "token_usage_record",
    }
)
ITEM_TYPES: Final = CALL_TYPES | OUTPUT_TYPES | PROVIDER_CALL_TYPES | {"message", "reasoning"}

_ITEMS_WITHOUT_CONTENT: Final = frozenset(
    {"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "other"}
)
_HEADER_FIELDS: Final = {
    "cli_version": "codexVersion",
    "originator": "originator",
    "model_provider": "modelProvider",
    "forked_from_id": "forkedFrom",
}


class Reader(SessionReader):
    """Takes from the first reading the header and what the user typed."""

    format: ClassVar[str] = "codex"
    title: ClassVar[str] = "Codex rollout"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._typed: set[int] = set()
        self._unknown: dict[str, tuple[int, int]] = {}
        self._records = 0
        with source.open() as file:
            for line in read_objects(file, self._log, source.first_line):
                self._survey(*record_of(line.value), line)
        if not self._records:
            raise self._no_usable_line()
        for kind, (first, number) in self._unknown.items():
            self._log.add(
                first,
                "unknown",
                f"{number:,} records of the unknown type {shown(kind)} were left out, this one the first",
            )

    @property
    @override
    def unknown(self) -> Counter[str]:
        """Items of responses, too."""
        items = {kind: number for kind, (_, number) in self._unknown.items()}
        return Counter({**super().unknown, **items})

    def _entries(self, file: BufferedReader) -> Iterator[Entry]:
        steps = Steps(self.header, self._typed, self._content_log, self._resumed)
        records = 0
        for line in read_objects(file, WarningLog(), self._source.first_line):
            kind, payload = record_of(line.value)
            records += kind in RECORD_TYPES
            if kind == "event_msg" and payload.get("type") == "task_started":
                yield from steps.finish()
                self._pass(line, {"header": self._header_state(), **steps.state()})
            if not line.too_deep:
                yield from steps.feed(line, kind, payload)
        self.held = self._source.growing and steps.holds
        leaf = steps.given_leaf
        if not self.held:
            yield from steps.finish()
            leaf = steps.path.leaf_id
        if records != self._records:
            raise changed_meanwhile()
        self.leaf_id = leaf

    def _header_state(self) -> dict[str, Any]:
        provider = self.header.extra.get("modelProvider")
        return {
            "session_id": self.header.session_id,
            "created_at": self.header.created_at,
            "of_sub_agent": self.header.of_sub_agent,
            "extra": {} if provider is None else {"modelProvider": provider},
        }

    def _survey(self, kind: str, payload: dict[str, Any], line: ParsedLine) -> None:
        """Takes from a record what must be known before the entries are made."""
        if kind not in RECORD_TYPES:
            self._count_unknown(kind, line)
            self.skipped[kind if kind in self._unknown else "other"] += 1
            return
        self._records += 1
        if line.too_deep:
            self._log.add(line.number, "nested too deep", "this record is nested too deep and was left out")
        elif kind == "session_meta" and self.header.session_id is None:
            self._take_header(payload)
        elif kind == "response_item":
            item = str(payload.get("type"))
            if item not in ITEM_TYPES and item not in _ITEMS_WITHOUT_CONTENT:
                self._count_unknown(item, line)
        elif kind == "event_msg" and payload.get("type") == "user_message":
            self._typed.add(fingerprint(str(payload.get("message"))))
            check_number_of_entries(len(self._typed))
        elif kind == "event_msg" and payload.get("type") == "thread_name_updated":
            self.header.name = text_at(payload, "thread_name") or None

    def _take_header(self, payload: dict[str, Any]) -> None:
        git = object_at(payload, "git")
        fields = {name: text_at(payload, key) for key, name in _HEADER_FIELDS.items()}
        fields |= {"gitBranch": text_at(git, "branch"), "gitCommit": text_at(git, "commit_hash")}
        self.header.session_id = text_at(payload, "id") or None
        self.header.cwd = text_at(payload, "cwd") or None
        self.header.created_at = text_at(payload, "timestamp") or None
        source = payload.get("source")
        self.header.of_sub_agent = isinstance(source, dict) and "subagent" in source
        self.header.extra = {name: value for name, value in fields.items() if value}

    def _count_unknown(self, kind: str, line: ParsedLine) -> None:
        first, number = self._unknown.get(kind, (line.number, 0))
        if number or len(self._unknown) < _MAX_UNKNOWN_TYPES:
            self._unknown[kind] = (first, number + 1)


_MAX_UNKNOWN_TYPES: Final = 100
"""Further unknown types are not counted apart: a warning is a sentence, and a hostile file has any number."""


def record_of(value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A line's record type and payload; a bare response item or header is given the record it lacks."""
    kind, payload = type_of(value), value.get("payload")
    if isinstance(payload, dict):
        return str(kind), payload
    if kind in ITEM_TYPES and (kind != "message" or "role" in value):
        return "response_item", value
    if kind is None and isinstance(value.get("id"), str) and isinstance(value.get("timestamp"), str):
        return "session_meta", value
    return str(kind or value.get("record_type")), value


def recognize(value: dict[str, Any]) -> bool:
    """Whether `value` is an object of such a file."""
    kind = type_of(value)
    if kind is None:
        return {"id", "timestamp", "instructions"} <= value.keys()
    if kind in RECORD_TYPES:
        return isinstance(value.get("payload"), dict)
    return kind in ITEM_TYPES and "parentId" not in value and ("role" in value or kind != "message")
