"""The entries of a Codex rollout, made record by record as they come.

A rollout is a log of one path. Consecutive items of the model are one reply; its tokens are counted in a
record after the results of its calls, so a reply is held until the next begins.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from coppice.formats.answers import answered, codex_answers, of_questions
from coppice.formats.codex_context import STARTED_BY, HarnessText, developer_text, pieces_of, summary_text
from coppice.formats.codex_messages import (
    CALL_TYPES,
    OUTPUT_TYPES,
    PROVIDER_CALL_TYPES,
    calls_of,
    changes_of,
    result_of,
    texts_of,
    thinking_of,
    usage_of,
)
from coppice.formats.codex_path import RolloutPath
from coppice.formats.lines import MAX_LINE_BYTES, ParsedLine, objects_at
from coppice.formats.session import SessionHeader
from coppice.formats.warning_log import WarningLog
from coppice.tree.entries import (
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    FileActivityEntry,
    MessageEntry,
    ModelChangeEntry,
    ThinkingLevelChangeEntry,
)
from coppice.tree.messages import (
    DENIED,
    AssistantContent,
    AssistantMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    present,
    text_of,
)

MAX_HELD: Final = 1000
"""Entries held for a reply whose tokens are not known yet. A reply makes a few calls at a time."""

MAX_HELD_BYTES: Final = MAX_LINE_BYTES
"""Of the lines of a reply and its results: no provider takes a request of that size."""

NO_RESULT: Final = "(The provider ran this tool; the rollout does not hold its result.)"
RESULT_BELOW: Final = "(The output of this call is part of the result after this one.)"
UNKNOWN_TOOL: Final = "unknown"
PATCH_TOOL: Final = "apply_patch"

_HARNESS_ROLES: Final = ("developer", "system")

_ASKING_TOOL: Final = "request_user_input"
_DENIALS: Final = ("exec command rejected by user", "patch rejected by user", "rejected by user")
"""Whole outputs. Codex records no reason of the user's."""


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
    """Turns records into entries. `path` is the path after what was fed so far.

    `typed` are the fingerprints of what the user typed, as far as the file records it. `resumed` is the
    `state` of the steps that went before.
    """

    def __init__(
        self,
        header: SessionHeader,
        typed: Container[int],
        log: WarningLog,
        resumed: dict[str, Any] | None,
    ) -> None:
        self.path = RolloutPath(header, resumed and resumed["path"])
        self._typed = typed
        self._user = STARTED_BY if header.of_sub_agent else "User"
        self._log = log
        self._about_model: dict[str, Any] = {"provider": header.extra.get("modelProvider", "openai")}
        self._effort: str | None = None
        self._calls: dict[str, list[ToolCall]] = {}
        self._patching: set[str] = set()  # those of them that are known to apply a patch
        self._failed: set[str] = set()
        self._asking: dict[str, list[str]] = {}  # calls that ask the user, and the ids of their questions
        self._unapplied: set[str] = (
            set()
        )  # calls of the patch tool, until something says that they were applied
        self._context_tokens: int | None = None
        self._reply: _Reply | None = None
        self._held: list[Entry] = []
        self._held_bytes = 0
        if resumed is not None:
            self._effort, self._context_tokens = resumed["effort"], resumed["contextTokens"]
            self._about_model |= resumed["model"]

    @property
    def holds(self) -> bool:
        """Whether entries are held that further records may change."""
        return self._reply is not None or bool(self._held)

    @property
    def given_leaf(self) -> str | None:
        """The end of the path as far as entries were given."""
        if self._reply is not None:
            leaf: str | None = self._reply.place["parent_id"]
            return leaf
        return self._held[0].parent_id if self._held else self.path.leaf_id

    def state(self) -> dict[str, Any]:
        """What the next steps must know where nothing is held."""
        model = {key: self._about_model[key] for key in ("model",) if key in self._about_model}
        return {
            "path": self.path.state(),
            "effort": self._effort,
            "contextTokens": self._context_tokens,
            "model": model,
        }

    def feed(self, line: ParsedLine, kind: str, payload: dict[str, Any]) -> Iterator[Entry]:
        """The entries that are finished with this record."""
        self.path.begin_record(line)
        match kind:
            case "response_item":
                yield from self._item(payload)
            case "compacted":
                self._take_summary_back(payload.get("message"))
                yield from self.finish()
                yield from self._compacted(payload)
            case "turn_context":
                yield from self.finish()
                yield from self._turn_context(payload)
            case "event_msg":
                self._event(payload)
                if payload.get("type") == "task_complete":
                    yield from self.finish()
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
            yield from self._messages(item)
        elif kind == "reasoning":
            yield from self._extend(thinking_of(item))
        elif kind in CALL_TYPES:
            calls = calls_of(item)
            yield from self._extend(calls)
            self._note_questions(item, calls[0])
            # Ids and names are enough, and there may be many calls without a result.
            self._calls[calls[0].id] = [call.model_copy(update={"arguments": {}}) for call in calls]
            if any(call.name == PATCH_TOOL for call in calls):
                self._patching.add(calls[0].id)
            else:
                self._patching.discard(calls[0].id)
            if item.get("name") == PATCH_TOOL:
                self._unapplied.add(calls[0].id)
        elif kind in PROVIDER_CALL_TYPES:
            call = calls_of(item)[0]
            call = call if call.id else call.model_copy(update={"id": f"call_{self.path.line}"})
            yield from self._extend([call])
            self._hold(_text_result(call, NO_RESULT))
        elif kind in OUTPUT_TYPES:
            self._output(item)

    def _extend(self, blocks: Sequence[AssistantContent]) -> Iterator[Entry]:
        """Adds `blocks` to the reply; they begin a reply when the one before is complete."""
        if not blocks:
            return
        if self._reply is None or self._reply.complete or self._held:
            yield from self.finish()
            self._reply = _Reply(self.path.place(), dict(self._about_model))
        self._reply.content += blocks

    def _output(self, item: dict[str, Any]) -> None:
        call_id = str(item.get("call_id") or "")
        calls = self._calls.pop(call_id, None)
        self._patching.discard(call_id)
        if calls is None:
            self._log.add(
                self.path.line, "no tool call", "this tool result answers a call that is not in the file"
            )
            calls = [ToolCall(id=call_id, name=UNKNOWN_TOOL, arguments={})]
        *earlier, last = calls
        for call in earlier:
            self._hold(_text_result(call, RESULT_BELOW))
        failed = call_id in self._failed
        self._failed.discard(call_id)
        result = result_of(item, last.id, last.name, failed=failed)
        if call_id in self._unapplied and result.details is None:
            # It was refused: what is run has an exit code.
            result = result.model_copy(update={"is_error": True})
        self._unapplied.discard(call_id)
        ids = self._asking.pop(call_id, None)
        if ids is not None and not result.is_error:
            details = answered(codex_answers(text_of(result.content), ids))
            result = result.model_copy(update={"details": details})
        elif result.is_error and result.details is None and text_of(result.content).strip() in _DENIALS:
            result = result.model_copy(update={"details": DENIED})
        self._hold(result)

    def _note_questions(self, item: dict[str, Any], call: ToolCall) -> None:
        """Notes what `call` asks the user; nothing where another call may have its result."""
        is_own = item.get("type") == "function_call" and not item.get("namespace")
        if is_own and call.name == _ASKING_TOOL and call.id not in self._calls:
            self._asking[call.id] = of_questions(call.arguments, "id")
        else:
            self._asking.pop(call.id, None)

    def _hold(self, result: ToolResultMessage) -> None:
        self._held.append(MessageEntry(**self.path.place(), message=result))

    def _messages(self, item: dict[str, Any]) -> Iterator[Entry]:
        """The entries of a message that is not the model's."""
        if item.get("role") in _HARNESS_ROLES:
            yield self._harness(developer_text(item))
            return
        for piece in pieces_of(item, self._typed):
            if isinstance(piece, HarnessText):
                yield self._harness(piece)
                continue
            if isinstance(piece, UserMessage):
                self.path.begin_turn()
            yield MessageEntry(**self.path.place(), message=piece)

    def _harness(self, written: HarnessText) -> CustomMessageEntry:
        return CustomMessageEntry(
            **self.path.place(), custom_type=written.custom_type, content=written.text, display=False
        )

    def _take_summary_back(self, summary: object) -> None:
        """The reply to Codex's request for a summary, which it records like any other, is no report."""
        reply = self._reply
        if reply is None or self._held:
            return
        *earlier, last = reply.content
        if not isinstance(last, TextContent) or not f"\n{summary}".endswith(f"\n{last.text}"):
            return
        if all(isinstance(block, ThinkingContent) for block in earlier):
            self._reply, self.path.leaf_id = None, reply.place["parent_id"]
        else:
            reply.content = earlier

    def _compacted(self, payload: dict[str, Any]) -> Iterator[Entry]:
        """The compaction, and after it the context that it put anew before the model."""
        messages = objects_at(payload, "replacement_history")
        summary = summary_text(payload.get("message"), messages, self._typed, self._user)
        tokens = present(tokens_before=self._context_tokens)
        yield CompactionEntry(**self.path.place(), summary=summary, **tokens)
        for item in messages:
            if item.get("role") in _HARNESS_ROLES:
                yield from self._messages(item)
            elif item.get("role") == "user":
                pieces = pieces_of(item, self._typed)
                yield from (self._harness(piece) for piece in pieces if isinstance(piece, HarnessText))

    def _turn_context(self, payload: dict[str, Any]) -> Iterator[Entry]:
        model, effort = payload.get("model"), payload.get("effort")
        if isinstance(model, str) and model != self._about_model.get("model"):
            self._about_model["model"] = model
            yield ModelChangeEntry(
                **self.path.place(), provider=self._about_model["provider"], model_id=model
            )
        if isinstance(effort, str) and effort != self._effort:
            self._effort = effort
            yield ThinkingLevelChangeEntry(**self.path.place(), thinking_level=effort)

    def _event(self, payload: dict[str, Any]) -> None:
        match payload:
            case {"type": "token_count"}:
                if usage := usage_of(payload.get("info")):
                    self._context_tokens = usage.context_tokens
                    self._complete_reply(usage=usage)
            case {"type": "patch_apply_end", "call_id": str(call_id)}:
                self._patched(call_id, payload.get("changes"), failed=payload.get("success") is False)
            case {"type": "item_completed", "item": {"type": "FileChange", "id": str(call_id)} as item}:
                self._patched(call_id, item.get("changes"), failed=item.get("status") != "completed")
            case {"type": "exec_command_end", "call_id": str(call_id), "exit_code": int(code)} if code:
                self._failed.add(call_id)
            case {"type": "thread_rolled_back", "num_turns": int(number)} if number > 0:
                self.path.roll_back(number)
                self._complete_reply()

    def _complete_reply(self, **fields: Any) -> None:
        if self._reply is not None:
            self._reply.fields = fields | self._reply.fields
            self._reply.complete = True

    def _patched(self, call_id: str, changes: object, *, failed: bool) -> None:
        self._unapplied.discard(call_id)
        if failed:
            self._failed.add(call_id)
        elif call_id not in self._calls and not self._patching:
            self._file_activity(changes)

    def _file_activity(self, changes: object) -> None:
        """The files of a patch that no recorded call holds: one that a script computed."""
        if file_changes := list(changes_of(changes)):
            leaf = self.path.leaf_id
            self._held.append(FileActivityEntry(**self.path.place(), changes=file_changes))
            self.path.leaf_id = leaf


def _text_result(call: ToolCall, text: str) -> ToolResultMessage:
    return ToolResultMessage(tool_call_id=call.id, tool_name=call.name, content=[TextContent(text=text)])
