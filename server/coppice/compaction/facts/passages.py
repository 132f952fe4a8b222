"""Who said what: the texts of a conversation by their source, for weighing what stands in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from coppice.compaction.facts.actions import edges, strings_in
from coppice.compaction.facts.wording import user_words
from coppice.files.tools import touches_of
from coppice.tree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryRoleMessage,
    CompactionSummaryRoleMessage,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)

_EDGE: Final = 120_000


class Source(StrEnum):
    """Where a text comes from."""

    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    CHANGE = "change"
    CALL = "call"
    RESULT = "result"
    ERROR = "error"
    HARNESS = "harness"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Passage:
    """A text, its source, the place of its message in the conversation, and the file it shows or changes."""

    text: str
    source: Source
    index: int
    path: str | None = None


def passages_of(messages: Sequence[Message]) -> Iterator[Passage]:
    """The texts of `messages`, oldest first; images and empty texts are left out."""
    paths: dict[str, str] = {}
    for index, message in enumerate(messages):
        for source, text, path in _of_message(message, paths):
            if text:
                yield Passage(edges(text, _EDGE), source, index, path)


_Part = tuple[Source, str, str | None]


def _of_message(message: Message, paths: dict[str, str]) -> Iterator[_Part]:
    match message:
        case UserMessage():
            whole = text_of(message.content)
            words = user_words(whole)
            yield Source.USER, words, None
            if words != whole.strip():
                yield Source.HARNESS, whole, None
        case AssistantMessage():
            for block in message.content:
                yield _of_block(block, paths)
        case ToolResultMessage():
            source = Source.ERROR if message.is_error else Source.RESULT
            yield source, text_of(message.content), paths.get(message.tool_call_id)
        case BashExecutionMessage():
            yield Source.USER, message.command, None
            yield (Source.ERROR if message.exit_code else Source.RESULT), message.output, None
        case BranchSummaryRoleMessage() | CompactionSummaryRoleMessage():
            yield Source.SUMMARY, message.summary, None
        case _:
            yield Source.HARNESS, text_of(message.content), None


def _of_block(block: TextContent | ThinkingContent | ToolCall, paths: dict[str, str]) -> _Part:
    match block:
        case TextContent():
            return Source.ASSISTANT, block.text, None
        case ThinkingContent():
            return Source.THINKING, block.thinking, None
        case ToolCall():
            touches = touches_of(block, {})
            text = "\n".join(strings_in(block.arguments))
            if not touches:
                return Source.CALL, text, None
            paths[block.id] = touches[0].path
            changes = any(touch.kind != "read" for touch in touches)
            return (Source.CHANGE if changes else Source.CALL), text, touches[0].path
