"""Qwen Code's chats: one record a line, a tree by `uuid` and `parentUuid`.

Written after the records of version 0.24.4.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from typing_extensions import override

from coppice.formats.answers import of_questions
from coppice.formats.gemini_parts import (
    QWEN_ASKING_TOOL,
    parts_of,
    reply_of,
    results_in,
    usage_of,
    words_of,
)
from coppice.formats.lines import ParsedLine, object_at, objects_at, text_at
from coppice.formats.record_log import RecordLog
from coppice.formats.source import NotResumableError
from coppice.tree.entries import HARNESS_TYPE, CompactionEntry, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import AssistantMessage, ToolCall, UserMessage, present

_COMPRESSION = "chat_compression"


class Reader(RecordLog):
    """Reads a session that is still going on, too: each record is written when it is complete."""

    format: ClassVar[str] = "qwen"
    title: ClassVar[str] = "Qwen Code chat"
    ignored: ClassVar[frozenset[str]] = frozenset(
        f"system {each}"
        for each in (
            "at_command",
            "attribution_snapshot",
            "custom_title",
            "file_history_snapshot",
            "notification",
            "parent_session",
            "rewind",
            "session_model",
            "session_source",
            "slash_command",
            "ui_telemetry",
        )
    )
    record_types: ClassVar[frozenset[str]] = frozenset({"user", "assistant", "tool_result", "system"})

    @override
    def _survey(self, line: ParsedLine) -> None:
        header, value = self.header, line.value
        header.session_id = header.session_id or text_at(value, "sessionId")
        header.created_at = header.created_at or text_at(value, "timestamp")
        header.cwd = header.cwd or text_at(value, "cwd")
        extra = {"qwenVersion": text_at(value, "version"), "gitBranch": text_at(value, "gitBranch")}
        header.extra = {key: item for key, item in extra.items() if item} | header.extra

    @override
    def _begin(self, state: dict[str, Any]) -> None:
        super()._begin(state)
        self._entry_of: dict[str, str | None] = {}
        self._headings: dict[str, list[str]] = {}  # of the questions of calls that ask the user
        if state.get("link") is not None:
            self._entry_of[state["link"]] = self.leaf_id

    @override
    def _made_of(self, line: ParsedLine) -> Iterator[Entry]:
        value = line.value
        parent = text_at(value, "parentUuid")
        if parent is not None and parent in self._entry_of:
            self.leaf_id = self._entry_of[parent]
        elif parent is not None and self._resumed is not None:
            raise NotResumableError
        record_id = text_at(value, "uuid") or f"{self.header.session_id}:{line.number}"
        if value["type"] == "user" and value.get("provenance") in (None, "real_user"):
            self._pass(line, {**self._state(), "link": parent})
            self._headings = {}
        for number, entry in enumerate(self._entries_of(value, record_id)):
            yield entry.model_copy(update={"id": f"{record_id}#{number}"}) if number else entry
        self._entry_of[record_id] = self.leaf_id

    def _entries_of(self, value: dict[str, Any], record_id: str) -> Iterator[Entry]:
        parts = parts_of(object_at(value, "message").get("parts"))
        match value["type"]:
            case "user" if parts:
                yield self._user_entry(value, record_id, parts)
            case "assistant":
                content = reply_of(parts)
                calls = [block for block in content if isinstance(block, ToolCall)]
                for call in calls:
                    if call.name == QWEN_ASKING_TOOL:
                        is_known = call.id in self._headings  # and not which of them a result is of
                        self._headings[call.id] = [] if is_known else of_questions(call.arguments, "header")
                counted = value.get("usageMetadata")
                names = ("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount")
                usage = usage_of(counted, *names, "totalTokenCount")
                if content:
                    optional = present(model=text_at(value, "model"), usage=usage)
                    reply = AssistantMessage(
                        content=content,
                        provider="qwen",
                        stop_reason="toolUse" if calls else "stop",
                        **optional,
                    )
                    yield MessageEntry(**self._place(record_id), message=reply)
            case "tool_result":
                failed = object_at(value, "toolCallResult").get("status") == "error"
                for result_message in results_in(parts, failed=failed, headings=self._headings):
                    self._headings.pop(result_message.tool_call_id, None)
                    yield MessageEntry(**self._place(record_id), message=result_message)
            case "system" if value.get("subtype") == _COMPRESSION:
                yield from self._compaction(value, record_id)
            case kind:
                self.skipped[f"{kind} {value.get('subtype')}"[:100]] += 1

    def _user_entry(self, value: dict[str, Any], record_id: str, parts: list[dict[str, Any]]) -> Entry:
        content = words_of(parts)
        if value.get("provenance") in (None, "real_user"):
            return MessageEntry(**self._place(record_id), message=UserMessage(content=content))
        return CustomMessageEntry(
            **self._place(record_id), custom_type=HARNESS_TYPE, content=content, display=False
        )

    def _compaction(self, value: dict[str, Any], record_id: str) -> Iterator[Entry]:
        """The first text of the compressed history is the summary."""
        payload = object_at(value, "systemPayload")
        texts = [
            text
            for each in objects_at(payload, "compressedHistory")
            for part in parts_of(each.get("parts"))
            if (text := text_at(part, "text"))
        ]
        if texts:
            before = object_at(payload, "info").get("originalTokenCount")
            optional = present(tokens_before=before if type(before) is int else None)
            yield CompactionEntry(**self._place(record_id), summary=texts[0], **optional)


def recognize(value: dict[str, Any]) -> bool:
    """Whether `value` is an object of such a file."""
    message = value.get("message")
    is_chat = isinstance(message, dict) and isinstance(message.get("parts"), list)
    return {"uuid", "parentUuid", "sessionId"} <= value.keys() and (is_chat or "systemPayload" in value)
