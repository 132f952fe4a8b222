"""Messages without entries, one a line, as adapters of agents give them.

A line is a message as docs/protocol.md describes it, `{"role", "content", …}`; `content` may be a string for
every role. The summary of a compaction is `{"role": "compactionSummary", "summary"}`: what follows was kept.
A line `{"type": "messages", "id", "cwd"}` may come first.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from pydantic import ValidationError
from typing_extensions import override

from coppice.formats.lines import ParsedLine, text_at
from coppice.formats.record_log import RecordLog
from coppice.formats.session import derived_id
from coppice.tree.entries import ENTRY, CompactionEntry, Entry

_HEADER: Final = "messages"
_SUMMARY: Final = "compactionSummary"
_ROLES: Final = frozenset(
    {"user", "assistant", "toolResult", "bashExecution", "developer", "system", _SUMMARY}
)


class Reader(RecordLog):
    """One path. A message that is not as expected is left out with a warning."""

    format: ClassVar[str] = "messages"
    title: ClassVar[str] = "list of messages"
    record_types: ClassVar[frozenset[str]] = _ROLES | {_HEADER}

    @override
    def _kind(self, value: dict[str, Any]) -> str | None:
        return text_at(value, "type") or text_at(value, "role")

    @override
    def _survey(self, line: ParsedLine) -> None:
        if self._kind(line.value) == _HEADER:
            self.header.session_id = text_at(line.value, "id")
            self.header.cwd = text_at(line.value, "cwd")

    @override
    def _made_of(self, line: ParsedLine) -> Iterator[Entry]:
        place = self._place(derived_id(self.header.session_id, line.number))
        match self._kind(line.value):
            case "messages":
                return
            case "compactionSummary":
                yield CompactionEntry(**place, summary=text_at(line.value, "summary") or "")
            case _:
                yield from self._message(line, place)

    def _message(self, line: ParsedLine, place: dict[str, Any]) -> Iterator[Entry]:
        value, content = line.value, line.value.get("content")
        if isinstance(content, str) and value["role"] in ("assistant", "toolResult"):
            value = {**value, "content": [{"type": "text", "text": content}]}
        entry = {
            "type": "message",
            "id": place["id"],
            "parentId": place["parent_id"],
            "timestamp": place["timestamp"],
        }
        try:
            yield ENTRY.validate_python({**entry, "message": value})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            self._content_log.add(
                line.number, "not understood", f"this message is not as expected ({first['msg']})"
            )


def recognize(value: dict[str, Any]) -> bool:
    """Whether `value` is a message without an entry, or the header before such messages."""
    return value.get("type") == _HEADER or ("type" not in value and text_at(value, "role") in _ROLES)
