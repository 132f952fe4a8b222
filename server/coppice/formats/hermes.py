"""A Hermes session, in Hermes' database.

Written after the tables `sessions` and `messages` of version 0.19.0. A compaction marks the rows that the
model saw as compacted, and writes what it sees now as new rows: the first messages again, a message with the
summary, and the last messages again. What the user took back is neither active nor compacted. The session of
a sub-agent has the `source` `subagent` and `_delegate_from` in its `model_config` (tools/delegate_tool.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from typing import Any, ClassVar, Final

from typing_extensions import override

from coppice.formats.foreign_database import object_of, rows_of
from coppice.formats.hermes_rows import QUERY, Row, row_of
from coppice.formats.lines import text_at
from coppice.formats.session import EPOCH, SessionReader, check_number_of_entries, time_of
from coppice.formats.source import Source
from coppice.tree.entries import HARNESS_TYPE, CompactionEntry, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import (
    ANSWERED,
    AssistantContent,
    AssistantMessage,
    TextContent,
    ThinkingContent,
    ToolResultMessage,
    UserMessage,
    present,
)

_SESSION: Final = "SELECT *, cwd, title, model, started_at FROM sessions WHERE id = ?"
_HEAD_ROWS: Final = 100  # that a compaction repeats before its summary: Hermes' setting is 3
_ASKING_TOOL: Final = "clarify"
_NO_ANSWERS: Final = (
    "The user did not provide a response",
    "The user cancelled.",
    "[user did not respond",
    "[clarify prompt could not be delivered]",
    "[oneshot mode: no user available.",
)
"""How what Hermes gives to the model begins where nobody answered its question."""


@dataclass
class _Context:
    """What the model sees: the messages, and the ids of the entries that hold them."""

    identities: list[tuple[object, ...]] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)

    def add(self, identity: tuple[object, ...], entry_id: str) -> None:
        self.identities.append(identity)
        self.entries.append(entry_id)

    def place(self, row: Row, start: int) -> int | None:
        """Where `row` is among the messages from `start` on."""
        try:
            return self.identities.index(row.identity, start)
        except ValueError:
            return None


class Reader(SessionReader):
    """Reads the session `source.part` of the database, each time as a whole."""

    format: ClassVar[str] = "hermes"
    title: ClassVar[str] = "Hermes session"
    ignored: ClassVar[frozenset[str]] = frozenset({"session_meta"})

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._session_id = source.part or ""
        row = next(rows_of(source, _SESSION, self._session_id), None)
        if row is None:
            raise self._no_usable_line()
        session = dict(row)
        header = self.header
        header.session_id = self._session_id
        header.cwd = text_at(session, "cwd")
        header.name = text_at(session, "title")
        header.created_at = time_of(session["started_at"])
        delegated = "_delegate_from" in object_of(session.get("model_config"))
        header.of_sub_agent = delegated or session.get("source") == "subagent"
        self._model = text_at(session, "model")

    @override
    def _entries(self, file: BufferedReader) -> Iterator[Entry]:
        del file
        self.leaf_id = None
        self._withdrawn: str | None = None
        rows = [row_of(dict(row)) for row in rows_of(self._source, QUERY, self._session_id)]
        check_number_of_entries(len(rows))
        context = _Context()
        position = 0
        while position < len(rows):
            head = _repeated_head(rows, position, context)
            if head is None:
                yield from self._message(rows[position], context)
                position += 1
            else:
                entry, context, position = self._compaction(rows, position + head, head, context)
                yield entry

    def _compaction(
        self, rows: list[Row], position: int, head: int, before: _Context
    ) -> tuple[Entry, _Context, int]:
        """The compaction whose summary is in a row, what the model sees after it, and the next row."""
        row = rows[position]
        after = _Context(before.identities[:head], before.entries[:head])
        entry_id = _entry_id(row)
        tail: list[int] = []
        if row.has_summary_below and (place := before.place(row, head)) is not None:
            tail.append(place)
        while (position := position + 1) < len(rows):
            place = before.place(rows[position], tail[-1] + 1 if tail else head)
            if place is None:
                break
            tail.append(place)
        after.add(row.identity, entry_id)
        for place in tail:
            after.add(before.identities[place], before.entries[place])
        entry = CompactionEntry(
            **self._place(row, entry_id),
            summary=row.summary or "",
            **present(first_kept_entry_id=before.entries[_run(tail)] if tail else None),
        )
        self.leaf_id = entry_id
        return entry, after, position

    def _message(self, row: Row, context: _Context) -> Iterator[Entry]:
        entry = self._entry(row)
        if entry is None:
            self.skipped[row.role[:100]] += 1
            return
        yield entry
        if row.is_valid:
            context.add(row.identity, entry.id)
            self.leaf_id = entry.id
        self._withdrawn = None if row.is_valid else entry.id

    def _entry(self, row: Row) -> Entry | None:
        place = self._place(row, _entry_id(row))
        match row.role:
            case "user" if row.is_of_user:
                return MessageEntry(**place, message=UserMessage(content=row.text))
            case "user":
                return CustomMessageEntry(**place, custom_type=HARNESS_TYPE, content=row.text, display=False)
            case "assistant" if row.text or row.calls or row.thinking:
                return MessageEntry(**place, message=self._reply(row))
            case "tool":
                return MessageEntry(**place, message=_result(row))
        return None

    def _reply(self, row: Row) -> AssistantMessage:
        content: list[AssistantContent] = []
        if row.thinking:
            content.append(ThinkingContent(thinking=row.thinking))
        if row.text:
            content.append(TextContent(text=row.text))
        content += row.calls
        return AssistantMessage(
            content=content,
            provider="hermes",
            stop_reason="toolUse" if row.calls else "stop",
            **present(model=self._model),
        )

    def _place(self, row: Row, entry_id: str) -> dict[str, Any]:
        timestamp = row.timestamp or self.header.created_at or EPOCH
        parent = self.leaf_id if row.is_valid else self._withdrawn or self.leaf_id
        return {"id": entry_id, "parent_id": parent, "timestamp": timestamp}


def _entry_id(row: Row) -> str:
    return f"m{row.id}"


def _run(places: list[int]) -> int:
    """The first of the last places that follow one another: a request may have been put before them."""
    first = places[-1]
    for place in reversed(places[:-1]):
        if place != first - 1:
            break
        first = place
    return first


def _repeated_head(rows: list[Row], position: int, context: _Context) -> int | None:
    """How many rows from `position` on repeat the start of `context` before a summary; None without one."""
    count = 0
    while count <= _HEAD_ROWS and position + count < len(rows):
        row = rows[position + count]
        if row.summary is not None:
            return count
        if count >= len(context.identities) or row.identity != context.identities[count]:
            return None
        count += 1
    return None


def _result(row: Row) -> ToolResultMessage:
    """The command's output and exit code, or the user's answer, where the result is an object with them."""
    value = object_of(row.text)
    answer = text_at(value, "user_response") if row.tool == _ASKING_TOOL else None
    if answer and not answer.startswith(_NO_ANSWERS):
        return ToolResultMessage(
            tool_call_id=row.call_id or "",
            tool_name=_ASKING_TOOL,
            content=[TextContent(text=answer)],
            details={**ANSWERED, "answer": answer},
        )
    output, code, error = value.get("output"), value.get("exit_code"), value.get("error")
    shown = "\n".join(text for text in (output, error) if isinstance(text, str) and text)
    return ToolResultMessage(
        tool_call_id=row.call_id or "",
        tool_name=row.tool or "unknown",
        content=[TextContent(text=shown if isinstance(output, str) else row.text)],
        is_error=bool(error) or (type(code) is int and code != 0),
        **present(details={"exitCode": code} if type(code) is int else None),
    )
