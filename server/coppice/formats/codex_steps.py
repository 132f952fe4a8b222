"""The entries of a Codex rollout, made record by record as they come.

A rollout is a log of one path. Consecutive items of the model are one reply; its tokens are counted in a
record after the results of its calls, so a reply is held until the next begins. A rollback takes the path
back to where a user's turn began.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from coppice.formats.codex_context import CONTEXT_TYPE, Context, Words, pieces_of
from coppice.formats.codex_messages import (
    CALL_TYPES,
    OUTPUT_TYPES,
    PROVIDER_CALL_TYPES,
    calls_of,
    result_of,
    texts_of,
    thinking_of,
    usage_of,
)
from coppice.formats.entry_file import EPOCH, derived_id
from coppice.formats.lines import MAX_LINE_BYTES, ParsedLine
from coppice.formats.session import SessionHeader
from coppice.formats.warning_log import WarningLog
from coppice.tree.entries import (
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    FileActivityEntry,
    FileChange,
    FileChangeKind,
    MessageEntry,
    ModelChangeEntry,
    ThinkingLevelChangeEntry,
)
from coppice.tree.messages import (
    AssistantContent,
    AssistantMessage,
    DeveloperMessage,
    Message,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
    text_of,
)

MAX_HELD: Final = 1000
"""Entries held for a reply whose tokens are not known yet. A guess; a reply makes a few calls at a time."""

MAX_HELD_BYTES: Final = MAX_LINE_BYTES
"""Of the lines of a reply and its results: no provider takes a request of that size."""

NO_RESULT: Final = "(The provider ran this tool; the rollout does not hold its result.)"
RESULT_BELOW: Final = "(The output of this call is part of the result after this one.)"
ENCRYPTED: Final = "The summary of this compaction is encrypted for its provider and cannot be read here."
KEPT: Final = "Messages that the compaction kept word for word, oldest first:"
UNKNOWN_TOOL: Final = "unknown"
PATCH_TOOL: Final = "apply_patch"

_CHANGE_KINDS: Final[Mapping[str, FileChangeKind]] = {
    "add": "created",
    "update": "modified",
    "delete": "deleted",
}


@dataclass
class _Reply:
    """A reply of the model that may still grow."""

    place: dict[str, Any]
    fields: dict[str, Any]
    content: list[AssistantContent] = field(default_factory=list)
    complete: bool = False

    def entry(self) -> MessageEntry:
        """The reply as far as it has come."""
        calls = any(isinstance(block, ToolCall) for block in self.content)
        message = AssistantMessage(
            content=self.content, stop_reason="toolUse" if calls else "stop", **self.fields
        )
        return MessageEntry(**self.place, message=message)


class Steps:
    """Turns records into entries. `leaf_id` is the end of the path after what was fed so far.

    `typed` are the fingerprints of what the user typed, as far as the file records it.
    """

    def __init__(self, header: SessionHeader, typed: Container[int], log: WarningLog) -> None:
        self.leaf_id: str | None = None
        self._header = header
        self._typed = typed
        self._log = log
        self._timestamp = header.created_at or EPOCH
        self._line = 0
        self._entries_of_line = 0
        self._about_model: dict[str, Any] = {"provider": header.extra.get("modelProvider", "openai")}
        self._effort: str | None = None
        self._turns: list[str | None] = []
        self._calls: dict[str, list[ToolCall]] = {}
        self._failed: set[str] = set()
        self._context_tokens: int | None = None
        self._reply: _Reply | None = None
        self._held: list[Entry] = []
        self._held_bytes = 0

    def feed(self, line: ParsedLine, kind: str, payload: dict[str, Any]) -> Iterator[Entry]:
        """The entries that are finished with this record."""
        self._line, self._entries_of_line = line.number, 0
        timestamp = line.value.get("timestamp")
        self._timestamp = timestamp if isinstance(timestamp, str) else self._timestamp
        match kind:
            case "response_item":
                yield from self._item(payload)
            case "compacted":
                yield from self.finish()
                yield from self._compacted(payload)
            case "turn_context":
                yield from self.finish()
                yield from self._turn_context(payload)
            case "event_msg":
                self._event(payload)
        if self._reply is not None or self._held:
            self._held_bytes += line.size
        if len(self._held) > MAX_HELD or self._held_bytes > MAX_HELD_BYTES:
            yield from self.finish()

    def finish(self) -> Iterator[Entry]:
        """The entries that are still held."""
        if self._reply is not None:
            yield self._reply.entry()
        yield from self._held
        self._reply, self._held, self._held_bytes = None, [], 0

    def _item(self, item: dict[str, Any]) -> Iterator[Entry]:
        kind = str(item.get("type"))
        if kind == "message" and item.get("role") == "assistant":
            yield from self._extend(
                [TextContent(text=text) for text in texts_of(item.get("content")) if text]
            )
        elif kind == "message":
            yield from self.finish()
            yield from self._messages(str(item.get("role")), item.get("content"))
        elif kind == "reasoning":
            yield from self._extend(thinking_of(item))
        elif kind in CALL_TYPES:
            calls = calls_of(item)
            yield from self._extend(calls)
            # Ids and names are enough, and there may be many calls without a result.
            self._calls[calls[0].id] = [call.model_copy(update={"arguments": {}}) for call in calls]
        elif kind in PROVIDER_CALL_TYPES:
            call = calls_of(item)[0]
            call = call if call.id else call.model_copy(update={"id": f"call_{self._line}"})
            yield from self._extend([call])
            self._hold_result(_result(call, NO_RESULT))
        elif kind in OUTPUT_TYPES:
            self._output(item)

    def _extend(self, blocks: Sequence[AssistantContent]) -> Iterator[Entry]:
        """Adds `blocks` to the reply; they begin a reply when the one before is complete."""
        if not blocks:
            return
        if self._reply is not None and (self._reply.complete or self._held):
            yield from self.finish()
        if self._reply is None:
            yield from self.finish()
            self._reply = _Reply(self._place(), dict(self._about_model))
        self._reply.content += blocks

    def _output(self, item: dict[str, Any]) -> None:
        call_id = str(item.get("call_id") or "")
        calls = self._calls.pop(call_id, None)
        if calls is None:
            self._log.add(
                self._line, "no tool call", "this tool result answers a call that is not in the file"
            )
            calls = [ToolCall(id=call_id, name=UNKNOWN_TOOL, arguments={})]
        *earlier, last = calls
        for call in earlier:
            self._hold_result(_result(call, RESULT_BELOW))
        failed = call_id in self._failed
        self._failed.discard(call_id)
        self._hold_result(result_of(item, last.id, last.name, failed=failed))

    def _hold_result(self, result: ToolResultMessage) -> None:
        self._held.append(MessageEntry(**self._place(), message=result))

    def _messages(self, role: str, content: object) -> Iterator[Entry]:
        """The entries of a message that is not the model's."""
        if role in ("developer", "system"):
            texts = [TextContent(text=text) for text in texts_of(content)]
            message: Message = (
                DeveloperMessage(content=texts) if role == "developer" else SystemMessage(content=texts)
            )
            yield MessageEntry(**self._place(), message=message)
            return
        for piece in pieces_of(content, self._typed):
            match piece:
                case Context():
                    yield self._context(piece.text)
                case Words():
                    self._turns.append(self.leaf_id)
                    yield MessageEntry(**self._place(), message=UserMessage(content=piece.content))
                case command:
                    yield MessageEntry(**self._place(), message=command)

    def _context(self, text: str) -> CustomMessageEntry:
        return CustomMessageEntry(**self._place(), custom_type=CONTEXT_TYPE, content=text, display=False)

    def _compacted(self, payload: dict[str, Any]) -> Iterator[Entry]:
        """The compaction, and after it the context that it put anew before the model."""
        history = payload.get("replacement_history")
        messages = [item for item in history if isinstance(item, dict)] if isinstance(history, list) else []
        written = payload.get("message")
        summary = written if isinstance(written, str) and written.strip() else ENCRYPTED
        kept = [text for item in messages for text in self._kept_texts(item, summary)]
        parts = [summary, *([KEPT, *kept] if kept else [])]
        tokens: dict[str, Any] = (
            {} if self._context_tokens is None else {"tokens_before": self._context_tokens}
        )
        yield CompactionEntry(**self._place(), summary="\n\n".join(parts), **tokens)
        for item in messages:
            if item.get("role") in ("developer", "system"):
                yield from self._messages(str(item["role"]), item.get("content"))
            elif item.get("role") == "user":
                pieces = pieces_of(item.get("content"), self._typed)
                yield from (self._context(piece.text) for piece in pieces if isinstance(piece, Context))

    def _kept_texts(self, item: dict[str, Any], summary: str) -> Iterator[str]:
        """What the compaction kept of a message; the summary itself, which is one of the messages, is not."""
        if item.get("role") == "assistant":
            yield from (f"Assistant: {text}" for text in texts_of(item.get("content")))
        elif item.get("role") == "user":
            for piece in pieces_of(item.get("content"), self._typed):
                text = text_of(piece.content).strip() if isinstance(piece, Words) else ""
                if text and text not in summary:
                    yield f"User: {text}"

    def _turn_context(self, payload: dict[str, Any]) -> Iterator[Entry]:
        model, effort = payload.get("model"), payload.get("effort")
        if isinstance(model, str) and model != self._about_model.get("model"):
            self._about_model["model"] = model
            yield ModelChangeEntry(**self._place(), provider=self._about_model["provider"], model_id=model)
        if isinstance(effort, str) and effort != self._effort:
            self._effort = effort
            yield ThinkingLevelChangeEntry(**self._place(), thinking_level=effort)

    def _event(self, payload: dict[str, Any]) -> None:
        match payload:
            case {"type": "token_count"}:
                self._count_tokens(usage_of(payload.get("info")))
            case {"type": "patch_apply_end", "call_id": str(call_id)}:
                if payload.get("success") is False:
                    self._failed.add(call_id)
                elif call_id not in self._calls and not self._awaits_patch():
                    self._file_activity(payload.get("changes"))
            case {"type": "exec_command_end", "call_id": str(call_id), "exit_code": int(code)} if code:
                self._failed.add(call_id)
            case {"type": "thread_rolled_back", "num_turns": int(number)} if number > 0:
                self._roll_back(number)

    def _count_tokens(self, usage: Usage | None) -> None:
        if usage is None:
            return
        self._context_tokens = usage.context_tokens
        if self._reply is not None:
            self._reply.fields.setdefault("usage", usage)
            self._reply.complete = True

    def _file_activity(self, changes: object) -> None:
        """The files of a patch that no recorded call holds: one that a script computed."""
        if isinstance(changes, dict) and (found := list(_file_changes(changes))):
            leaf = self.leaf_id
            self._held.append(FileActivityEntry(**self._place(), changes=found))
            self.leaf_id = leaf

    def _awaits_patch(self) -> bool:
        """Whether a script whose result is still to come is known to apply a patch."""
        return any(call.name == PATCH_TOOL for calls in self._calls.values() for call in calls)

    def _roll_back(self, number: int) -> None:
        turns = self._turns
        if turns:
            self.leaf_id = turns[-number] if number <= len(turns) else turns[0]
            del turns[-number:]
        if self._reply is not None:
            self._reply.complete = True

    def _place(self) -> dict[str, Any]:
        """Id, parent and time of the next entry, which becomes the end of the path."""
        own = derived_id(self._header.session_id, self._line)
        place = {
            "id": f"{own}.{self._entries_of_line}" if self._entries_of_line else own,
            "parent_id": self.leaf_id,
            "timestamp": self._timestamp,
        }
        self._entries_of_line += 1
        self.leaf_id = place["id"]
        return place


def _result(call: ToolCall, text: str) -> ToolResultMessage:
    return ToolResultMessage(tool_call_id=call.id, tool_name=call.name, content=[TextContent(text=text)])


def _file_changes(changes: dict[str, Any]) -> Iterator[FileChange]:
    """The changes of a patch: `{path: {"type": "update", "move_path": …}}`; once `{path: {"update": …}}`."""
    for path, change in changes.items():
        if not isinstance(change, dict) or not change:
            continue
        kind = change["type"] if isinstance(change.get("type"), str) else next(iter(change))
        inner = change.get(kind)
        moved = (inner if isinstance(inner, dict) else change).get("move_path")
        if isinstance(moved, str):
            yield FileChange(path=moved, kind="renamed", from_path=path, source="tool")
        elif kind in _CHANGE_KINDS:
            yield FileChange(path=path, kind=_CHANGE_KINDS[kind], source="tool")
