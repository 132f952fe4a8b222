"""A conversation in pieces that a model's window can hold, cut where no tool call loses its result."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.facts.user import answer_in
from coppice.compaction.span.condensing import condensed
from coppice.compaction.span.serialization import RESULT_CHARS, serialize, shorten
from coppice.tokens.budget import leading
from coppice.tokens.counting import CHARS_PER_TOKEN
from coppice.tree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryRoleMessage,
    CompactionSummaryRoleMessage,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    text_of,
)

_SHORTEST: Final = 40  # characters of a shortened message (guess)
_SHRINK: Final = 0.6  # factor of each further attempt to fit (guess)


@dataclass(frozen=True, slots=True)
class Group:
    """Messages that stay together: an assistant's calls with their results, or a single message.

    `shown` are the same ones condensed, `text` is how a summarizer is given them, `tokens` how long that is.
    """

    messages: tuple[Message, ...]
    shown: tuple[Message, ...]
    text: str
    tokens: int


def grouped(
    messages: Sequence[Message], count_tokens: CountTokens, result_chars: int = RESULT_CHARS
) -> list[Group]:
    """`messages` in their groups, oldest first, without those that have no content. CPU-bound.

    `result_chars` is how much is shown of a tool's result that is neither a brief nor repeated.
    """
    groups = []
    shown = condensed(messages, result_chars)
    for place in _together(messages):
        text = serialize(shown[place], None)
        if text.strip():
            groups.append(Group(tuple(messages[place]), tuple(shown[place]), text, count_tokens(text)))
    return groups


def leading_groups(groups: Sequence[Group], room: int) -> int:
    """How many of the first groups fit `room` tokens together."""
    return len(leading(groups, room, lambda group: group.tokens + 1))


def shortened_group(group: Group, room: int, count_tokens: CountTokens) -> str:
    """The group's text in at most about `room` tokens; head and tail of each text stay. CPU-bound."""
    chars = max(_SHORTEST, room * CHARS_PER_TOKEN // len(group.shown))
    while True:
        text = serialize([shortened_message(message, chars) for message in group.shown], None)
        if count_tokens(text) <= room:
            return text
        if chars <= _SHORTEST:
            return _hard_cut(text, room, count_tokens)
        chars = max(_SHORTEST, int(chars * _SHRINK))


def shortened_message(message: Message, chars: int) -> Message:
    """`message` with each of its texts in at most about `chars` characters: head and tail stay."""
    match message:
        case AssistantMessage():
            each = max(_SHORTEST, chars // max(1, len(message.content)))
            return message.model_copy(
                update={"content": [_shortened_block(b, each) for b in message.content]}
            )
        case ToolResultMessage():
            cut: dict[str, Any] = {"content": [TextContent(text=shorten(_with_images(message), chars))]}
            if answer := answer_in(message):
                cut["details"] = {**message.details, "answer": shorten(answer, chars)}
            return message.model_copy(update=cut)
        case BashExecutionMessage():
            cut = {"command": shorten(message.command, chars), "output": shorten(message.output, chars)}
            return message.model_copy(update=cut)
        case BranchSummaryRoleMessage() | CompactionSummaryRoleMessage():
            return message.model_copy(update={"summary": shorten(message.summary, chars)})
        case _:
            return message.model_copy(update={"content": shorten(text_of(message.content), chars)})


def _together(messages: Sequence[Message]) -> Iterator[slice]:
    """The places of a reply with all results of its calls, and of whatever came in between."""
    ends = _ends(messages)
    start = 0
    while start < len(messages):
        end = place = start
        while place <= end:
            end = max(end, ends.get(place, place))
            place += 1
        yield slice(start, end + 1)
        start = end + 1


def _ends(messages: Sequence[Message]) -> dict[int, int]:
    """For each reply with answered calls, the place of the last answer. An answer is the nearest call's."""
    callers: dict[str, int] = {}
    ends: dict[int, int] = {}
    for place, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            callers.update(dict.fromkeys((call.id for call in message.tool_calls), place))
        elif isinstance(message, ToolResultMessage):
            caller = callers.pop(message.tool_call_id, None)
            if caller is not None:
                ends[caller] = place
    return ends


def _shortened_block(
    block: TextContent | ThinkingContent | ToolCall, chars: int
) -> TextContent | ThinkingContent | ToolCall:
    match block:
        case TextContent():
            return TextContent(text=shorten(block.text, chars))
        case ThinkingContent():
            return ThinkingContent(thinking=shorten(block.thinking, chars))
        case ToolCall():
            each = max(_SHORTEST, chars // max(1, len(block.arguments)))
            arguments = {name: _shortened_value(value, each) for name, value in block.arguments.items()}
            return block.model_copy(update={"arguments": arguments})


def _shortened_value(value: Any, chars: int) -> Any:
    if isinstance(value, str):
        return shorten(value, chars)
    stated = str(value)
    return value if len(stated) <= chars else shorten(stated, chars)


def _with_images(message: ToolResultMessage) -> str:
    return "\n".join(
        "[image]" if isinstance(block, ImageContent) else block.text for block in message.content
    )


def _hard_cut(text: str, room: int, count_tokens: CountTokens) -> str:
    """The head alone: a tail cut anywhere could begin like a speaker's line."""
    chars = min(len(text), room * CHARS_PER_TOKEN)
    while chars > 1 and count_tokens(text[:chars]) > room:
        chars = int(chars * _SHRINK)
    return text[:chars]
