"""The events of GitHub's Copilot CLI, `events.jsonl` of a session: `{type, data, id, parentId, timestamp}`.

Written after the events of version 1.0.102. The system prompt, which is in the file anew for each session, is
left out. Sub-agents write into the file of their session, each event with their `agentId`; nothing that the
agent itself writes has one.
"""

import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from typing_extensions import override

from coppice.formats.answers import answered, copilot_answers
from coppice.formats.lines import ParsedLine, object_at, objects_at, text_at, type_of
from coppice.formats.record_log import RecordLog
from coppice.formats.session import derived_id
from coppice.formats.source import NotResumableError, Source
from coppice.tree.entries import (
    HARNESS_TYPE,
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
)
from coppice.tree.messages import (
    DENIED,
    AssistantContent,
    AssistantMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserContent,
    UserMessage,
    present,
)

UNKNOWN_TOOL: Final = "unknown"
_ASKING_TOOL: Final = "ask_user"
_REJECTED: Final = "rejected"  # code of the error of a call that the user rejected
STARTED: Final = "subagent.started"
AGENT_ID: Final = re.compile(r"[\w-]{1,100}", re.ASCII)
"""Of a sub-agent that is read; the events of others are not."""
_OTHERS: Final = "of another agent"
_UNREAD: Final = "of an agent whose id is not read"
_VERSION: Final = 2  # of a checkpoint's state; before, what sub-agents write was read as the session's
_IGNORED: Final = frozenset(
    {
        "abort",
        "assistant.intent",
        "assistant.turn_end",
        "assistant.turn_start",
        "hook.end",
        "hook.start",
        "model.call_failure",
        "permission.completed",
        "permission.requested",
        "session.context_changed",
        "session.error",
        "session.info",
        "session.mode_changed",
        "session.model_change",
        "session.permissions_changed",
        "session.plan_changed",
        "session.resume",
        "session.shutdown",
        "session.task_complete",
        "session.title_changed",
        "session.todos_changed",
        "session.truncation",
        "session.warning",
        "session.workspace_file_changed",
        "skill.invoked",
        "subagent.completed",
        "subagent.configured",
        "subagent.deselected",
        "subagent.failed",
        "subagent.selected",
        "system.message",
        "system.notification",
        "tool.execution_start",
        "tool.user_requested",
        "user_input.completed",
        "user_input.requested",
        _OTHERS,
    }
)
"""What repeats others, shows how the session goes on, or is the application's."""
_PREFIXES: Final = ("session.", "user.", "assistant.", "tool.", "system.")


class Reader(RecordLog):
    """Reads a session, or its sub-agent `source.part`, that is still going on, too: each message is written
    when it is complete.
    """

    format: ClassVar[str] = "copilot"
    title: ClassVar[str] = "Copilot CLI session"
    ignored: ClassVar[frozenset[str]] = _IGNORED
    record_types: ClassVar[frozenset[str]] = frozenset(
        {
            "session.start",
            STARTED,
            "session.binary_asset",
            "session.usage_record",
            "session.compaction_start",
            "session.compaction_complete",
            "user.message",
            "assistant.message",
            "tool.execution_complete",
        }
    )

    def __init__(self, source: Source) -> None:
        if source.start is not None and source.start.state.get("version") != _VERSION:
            raise NotResumableError
        super().__init__(source)
        self.header.of_sub_agent = source.part is not None

    @override
    def _kind(self, value: dict[str, Any]) -> str | None:
        part, data = self._source.part, object_at(value, "data")
        marks = (value.get("agentId"), data.get("agentId"), data.get("parentToolCallId"))
        is_own = marks == (None, None, None) if part is None else marks[0] == part
        if is_own:
            return super()._kind(value)
        agent = marks[0]
        is_read = agent is None or (isinstance(agent, str) and AGENT_ID.fullmatch(agent))
        return _OTHERS if is_read else _UNREAD

    @override
    def _survey(self, line: ParsedLine) -> None:
        data = object_at(line.value, "data")
        header, context = self.header, object_at(data, "context")
        if line.value["type"] == STARTED and self._source.part is not None:
            header.session_id = self._source.part
            header.created_at = text_at(line.value, "timestamp")
            header.name = text_at(data, "agentDescription")
        if line.value["type"] != "session.start" or header.session_id is not None:
            return
        header.session_id = text_at(data, "sessionId")
        header.created_at = text_at(data, "startTime")
        header.cwd = text_at(context, "cwd")
        header.extra = present(
            gitBranch=text_at(context, "branch"), copilotVersion=text_at(data, "copilotVersion")
        )

    @override
    def _begin(self, state: dict[str, Any]) -> None:
        super()._begin(state)
        self._usage: Usage | None = None
        self._tools: dict[str, tuple[str, bool]] = {}  # with whether the call asks the user one question
        self._images: dict[str, ImageContent] = {}
        # While a summary is written in the background, further messages come, which it does not replace.
        self._cut: tuple[str | None, str | None] | None = None
        if state.get("cut") is not None:
            self._cut = (state["cut"][0], state["cut"][1])

    @override
    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "version": _VERSION, "cut": self._cut}

    @override
    def _made_of(self, line: ParsedLine) -> Iterator[Entry]:
        data = object_at(line.value, "data")
        entry_id = text_at(line.value, "id") or derived_id(self.header.session_id, line.number)
        before = self.leaf_id
        match line.value["type"]:
            case "user.message":
                self._pass(line, self._state())
                self._images = {}
                yield self._user_entry(data, entry_id)
            case "assistant.message":
                yield from self._reply(data, entry_id)
            case "tool.execution_complete":
                yield MessageEntry(**self._place(entry_id), message=self._result(data))
            case "session.binary_asset":
                self._keep_image(data)
            case "session.usage_record":
                self._usage = _usage(data.get("usage"))
            case "session.compaction_start":
                self._cut = (before, None)
            case "session.compaction_complete":
                yield from self._compaction(data, entry_id)
        if self._cut is not None and self._cut[1] is None and self.leaf_id != self._cut[0]:
            self._cut = (self._cut[0], self.leaf_id)

    def _user_entry(self, data: dict[str, Any], entry_id: str) -> Entry:
        text = text_at(data, "content") or ""
        if data.get("source") in (None, "user"):
            return MessageEntry(**self._place(entry_id), message=UserMessage(content=text))
        return CustomMessageEntry(
            **self._place(entry_id), custom_type=HARNESS_TYPE, content=text, display=False
        )

    def _reply(self, data: dict[str, Any], entry_id: str) -> Iterator[Entry]:
        content: list[AssistantContent] = []
        if thinking := text_at(data, "reasoningText"):
            content.append(ThinkingContent(thinking=thinking))
        if text := text_at(data, "content"):
            content.append(TextContent(text=text))
        for call in map(_call, objects_at(data, "toolRequests")):
            self._tools[call.id] = call.name, _asks_one(call) and call.id not in self._tools
            content.append(call)
        if content:
            calls = any(isinstance(block, ToolCall) for block in content)
            optional = present(model=text_at(data, "model"), usage=self._usage)
            self._usage = None
            message = AssistantMessage(
                content=content, provider="copilot", stop_reason="toolUse" if calls else "stop", **optional
            )
            yield MessageEntry(**self._place(entry_id), message=message)

    def _result(self, data: dict[str, Any]) -> ToolResultMessage:
        call_id = text_at(data, "toolCallId") or ""
        failed = data.get("success") is False
        result = object_at(data, "error" if failed else "result")
        text = text_at(result, "content") or text_at(result, "message") or ""
        code = object_at(data, "shellExecution").get("exitCode")
        tool_name, asks_one = self._tools.pop(call_id, (UNKNOWN_TOOL, False))
        details: dict[str, Any] | None = {"exitCode": code} if type(code) is int else None
        if failed and text_at(result, "code") == _REJECTED:
            details = DENIED
        elif not failed and tool_name == _ASKING_TOOL:
            details = answered(copilot_answers(text) if asks_one else ())
        return ToolResultMessage(
            tool_call_id=call_id,
            tool_name=tool_name,
            content=[TextContent(text=text), *self._shown(result)],
            is_error=failed or bool(code),
            **present(details=details),
        )

    def _keep_image(self, data: dict[str, Any]) -> None:
        """For the results of this turn, which name it; a later one that does so shows its description."""
        asset, content, kind = (text_at(data, name) for name in ("assetId", "data", "mimeType"))
        if data.get("type") == "image" and asset and content and kind:
            self._images[asset] = ImageContent(data=content, mime_type=kind)

    def _shown(self, result: dict[str, Any]) -> Iterator[UserContent]:
        """What a result has next to its text."""
        for each in objects_at(result, "binaryResultsForLlm"):
            image = self._images.get(text_at(each, "assetId") or "")
            yield image or TextContent(text=text_at(each, "description") or "[binary data]")

    def _compaction(self, data: dict[str, Any], entry_id: str) -> Iterator[Entry]:
        summary = text_at(data, "summaryContent")
        cut, self._cut = self._cut, None
        if not summary or data.get("success") is False:
            return
        optional = present(
            tokens_before=_count(data, "preCompactionTokens"),
            tokens_after=_count(data, "postCompactionTokens"),
            reason=text_at(data, "trigger"),
            first_kept_entry_id=None if cut is None else cut[1],
        )
        yield CompactionEntry(**self._place(entry_id), summary=summary, **optional)


def _call(request: dict[str, Any]) -> ToolCall:
    given = request.get("arguments")
    arguments = given if isinstance(given, dict) else {} if given is None else {"input": given}
    call_id, name = text_at(request, "toolCallId") or "", text_at(request, "name") or UNKNOWN_TOOL
    return ToolCall(id=call_id, name=name, arguments=arguments)


def _asks_one(call: ToolCall) -> bool:
    """Whether it asks the user one question: the answers to a form have the names of its fields with them."""
    is_form = "requestedSchema" in call.arguments
    return call.name == _ASKING_TOOL and bool(text_at(call.arguments, "question")) and not is_form


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    given, output, read, written = (_count(value, name) or 0 for name in names)
    if not given:
        return None
    return Usage(
        input=max(given - read, 0),
        output=output,
        cache_read=read,
        cache_write=written,
        total_tokens=given + output,
    )


def _count(value: dict[str, Any], key: str) -> int | None:
    count = value.get(key)
    return count if type(count) is int and count >= 0 else None


def recognize(value: dict[str, Any]) -> bool:
    """Whether `value` is an object of such a file."""
    kind = type_of(value) or ""
    return kind.startswith(_PREFIXES) and isinstance(value.get("data"), dict) and "parentId" in value
