"""Gemini CLI's chats: a header, messages that are repeated by id as they grow, and `{"$set": …}` patches.

Written after the files of version 0.61.0. `$set.messages` is the whole history anew: at the beginning with
the context of the session, after a compression with the summary in place of what it replaced, after a rewind
without what was taken back. The newest version of a message is the one that is read. Resuming a session also
begins another file, which stays without messages: they go into the first one.
"""

from array import array
from collections.abc import Iterator
from io import BufferedReader
from typing import Any, BinaryIO, ClassVar, Final

from coppice.formats.answers import of_questions
from coppice.formats.gemini_parts import (
    ASKING_TOOL,
    call_of,
    parts_of,
    reply_of,
    results_in,
    usage_of,
    words_of,
)
from coppice.formats.lines import ParsedLine, objects_at, read_objects, text_at
from coppice.formats.session import EPOCH, SessionReader, check_number_of_entries, read_again
from coppice.formats.source import NoMessageYetError, NotResumableError, Source
from coppice.tree.entries import HARNESS_TYPE, CompactionEntry, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import (
    AssistantContent,
    AssistantMessage,
    ThinkingContent,
    ToolCall,
    UserMessage,
    present,
)

_SUMMARY: Final = "<state_snapshot>"
_MESSAGE_TYPES: Final = frozenset({"user", "gemini"})


class Reader(SessionReader):
    """The first reading finds the newest version of each message, each further one the messages."""

    format: ClassVar[str] = "gemini"
    title: ClassVar[str] = "Gemini CLI chat"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._order: list[str | None] = []
        self._offsets = array("q")
        self._lines = array("q")
        self._newest: dict[str, int] = {}
        with source.open() as file:
            for line in read_objects(file, self._log, source.first_line):
                self._survey(line)
        if not self._newest and self.header.session_id:
            raise NoMessageYetError(f"This {self.title} has no messages yet.")
        if not self._newest:
            raise self._no_usable_line()

    def _survey(self, line: ParsedLine) -> None:
        value = line.value
        patch, entry_id = value.get("$set"), text_at(value, "id")
        if line.too_deep:
            self.skipped["nested too deep"] += 1
        elif isinstance(patch, dict) and isinstance(patch.get("messages"), list):
            self._note(line, None)
        elif "sessionId" in value and "startTime" in value:
            header = self.header
            header.session_id = header.session_id or text_at(value, "sessionId")
            header.created_at = header.created_at or text_at(value, "startTime")
            header.of_sub_agent = header.of_sub_agent or value.get("kind") == "subagent"
        elif entry_id and text_at(value, "type") in _MESSAGE_TYPES:
            if entry_id in self._newest:
                self._offsets[self._newest[entry_id]] = line.offset
                return
            self._newest[entry_id] = len(self._order)
            self._note(line, entry_id)
        elif not isinstance(patch, dict):
            self.skipped[str(value.get("type"))[:100]] += 1

    def _note(self, line: ParsedLine, entry_id: str | None) -> None:
        check_number_of_entries(len(self._order) + 1)
        self._order.append(entry_id)
        self._offsets.append(line.offset)
        self._lines.append(line.number)

    def _entries(self, file: BufferedReader) -> Iterator[Entry]:
        state = {} if self._resumed is None else self._resumed
        self.leaf_id = state.get("leaf")
        self._entry_of: dict[str, str] = {}
        self._end_of: dict[str, str | None] = {}
        self._answered: set[str] = set()
        self._headings: dict[str, list[str]] = {}  # of the questions of calls that ask the user
        settled = len(self._order) - self._open_end(file)
        self.held = settled < len(self._order)
        for position in range(settled):
            value = read_again(file, self._offsets[position])
            made = self._patched(value) if self._order[position] is None else self._made_of(value, position)
            for entry in made:
                yield entry
                self.leaf_id = entry.id
                self._entry_of.setdefault(str(self._order[position]), entry.id)
            self._end_of[str(self._order[position])] = self.leaf_id

    def _open_end(self, file: BinaryIO) -> int:
        """How many of the last messages are left out: a reply that may still get its calls."""
        if not self._source.growing or self._order[-1] is None:
            return 0
        return int(read_again(file, self._offsets[-1]).get("type") == "gemini")

    def _made_of(self, value: dict[str, Any], position: int) -> Iterator[Entry]:
        parts = parts_of(value.get("content"))
        if value.get("type") == "gemini":
            yield from self._reply(value, parts)
            return
        words = words_of(parts, parts_of(value.get("displayContent")))
        if words:
            header = {
                "session_id": self.header.session_id,
                "created_at": self.header.created_at,
                "of_sub_agent": self.header.of_sub_agent,
            }
            # Later versions of a user's message do not occur: its first line is its only one.
            self._next_start = (
                self._offsets[position],
                self._lines[position],
                {"leaf": self.leaf_id, "header": header},
            )
            yield MessageEntry(**self._place(value), message=UserMessage(content=words))
        yield from self._results(value, parts, failed=False)

    def _reply(self, value: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[Entry]:
        content: list[AssistantContent] = [
            ThinkingContent(thinking=f"{text_at(each, 'subject') or ''}\n{text}".strip())
            for each in objects_at(value, "thoughts")
            if (text := text_at(each, "description"))
        ]
        calls = objects_at(value, "toolCalls")
        content += [block for block in reply_of(parts) if not (calls and isinstance(block, ToolCall))]
        content += [call_of(each) for each in calls]
        if not content:
            return
        usage = usage_of(value.get("tokens"), "input", "output", "cached", "total")
        optional = present(model=text_at(value, "model"), usage=usage)
        message = AssistantMessage(
            content=content,
            provider="google",
            stop_reason="toolUse" if any(isinstance(block, ToolCall) for block in content) else "stop",
            **optional,
        )
        yield MessageEntry(**self._place(value), message=message)
        for block in content:
            if isinstance(block, ToolCall) and block.name == ASKING_TOOL:
                self._headings[block.id] = of_questions(block.arguments, "header")
        for each in calls:
            shown = parts_of(each.get("result"))
            yield from self._results(value, shown, failed=each.get("status") == "error")

    def _results(
        self, value: dict[str, Any], parts: list[dict[str, Any]], *, failed: bool
    ) -> Iterator[Entry]:
        """The results that were not given yet: a reply has them, and the message after it once more."""
        for message in results_in(parts, failed=failed, headings=self._headings):
            if message.tool_call_id not in self._answered:
                self._answered.add(message.tool_call_id)
                place = self._place(value)
                place["id"] = f"{place['id']}#{message.tool_call_id}"
                yield MessageEntry(**place, message=message)

    def _patched(self, value: dict[str, Any]) -> Iterator[Entry]:
        """What a new history adds: context, or a summary; and where it ends if it is shorter than before."""
        messages = [each for each in objects_at(value["$set"], "messages") if text_at(each, "id")]
        fresh = [
            each for each in messages if each["id"] not in self._newest and each["id"] not in self._entry_of
        ]
        if self._resumed is not None:
            raise NotResumableError
        summaries = [each for each in fresh if _SUMMARY in _text(each)]
        if summaries:
            after = messages[messages.index(summaries[0]) + 1 :]
            first_kept = next((entry for each in after if (entry := self._entry_of.get(each["id"]))), None)
            optional = present(first_kept_entry_id=first_kept)
            place = self._place(summaries[0])
            self._entry_of[summaries[0]["id"]] = place["id"]
            yield CompactionEntry(**place, summary=_text(summaries[0]), **optional)
            self._entry_of |= dict.fromkeys((each["id"] for each in fresh), place["id"])
            self._end_of |= dict.fromkeys((each["id"] for each in messages), place["id"])
            return
        if messages:
            self.leaf_id = self._end_of.get(messages[-1]["id"], self.leaf_id)
        for each in fresh:
            if each.get("type") == "user" and (words := words_of(parts_of(each.get("content")))):
                place = self._place(each)
                self._entry_of[each["id"]] = self._end_of[each["id"]] = place["id"]
                yield CustomMessageEntry(**place, custom_type=HARNESS_TYPE, content=words, display=False)

    def _place(self, value: dict[str, Any]) -> dict[str, Any]:
        timestamp = text_at(value, "timestamp") or self.header.created_at or EPOCH
        return {"id": value["id"], "parent_id": self.leaf_id, "timestamp": timestamp}


def _text(message: dict[str, Any]) -> str:
    return "\n".join(text for part in parts_of(message.get("content")) if (text := text_at(part, "text")))


def recognize(value: dict[str, Any]) -> bool:
    """Whether `value` is an object of such a file."""
    return "$set" in value or {"sessionId", "projectHash", "startTime"} <= value.keys()
