"""The size of an entry: what it adds to the request when a model sees it."""

import json
from collections.abc import Iterable, Iterator, Sequence

from coppice.tokens.counting import (
    CHARS_PER_TOKEN,
    IMAGE_TOKENS,
    count_tokens,
    tokens_of_units,
    utf16_units,
)
from coppice.tokens.size import Size
from coppice.tree.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
)
from coppice.tree.messages import (
    AssistantContent,
    BashExecutionMessage,
    BranchSummaryRoleMessage,
    CompactionSummaryRoleMessage,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    UserContent,
)
from coppice.tree.view import is_sent


def size_of_entry(entry: Entry) -> Size:
    """The size of `entry`; zero for what a model never sees, failed replies among it.

    CPU-bound: call it off the event loop.
    """
    match entry:
        case MessageEntry():
            return size_of_message(entry.message) if is_sent(entry.message) else Size()
        case CompactionEntry() | BranchSummaryEntry():
            return size_of_text(entry.summary)
        case CustomMessageEntry():
            return _size_of_content(entry.content)
        case _:
            return Size()


def size_of_message(message: Message) -> Size:
    """The estimate is rounded up once a message, as Pi does, not once a block."""
    match message:
        case BashExecutionMessage():
            return _size([message.command, message.output])
        case BranchSummaryRoleMessage() | CompactionSummaryRoleMessage():
            return size_of_text(message.summary)
        case _:
            return _size_of_content(message.content)


def size_of_text(text: str) -> Size:
    """Both counts of a text. CPU-bound."""
    return _size([text])


def _size_of_content(content: str | Sequence[AssistantContent | UserContent]) -> Size:
    if isinstance(content, str):
        return size_of_text(content)
    images = sum(isinstance(block, ImageContent) for block in content)
    return _size(_texts_in(content), images)


def _size(parts: Iterable[str], images: int = 0) -> Size:
    units = images * IMAGE_TOKENS * CHARS_PER_TOKEN
    tokens = images * IMAGE_TOKENS
    for part in parts:
        units += utf16_units(part)
        tokens += count_tokens(part)
    return Size(tokenizer=tokens, estimate=tokens_of_units(units))


def _texts_in(blocks: Sequence[AssistantContent | UserContent]) -> Iterator[str]:
    for block in blocks:
        match block:
            case TextContent():
                yield block.text
            case ThinkingContent():
                yield block.thinking
            case ToolCall():
                yield block.name
                yield compact_json(block.arguments)


def compact_json(value: object) -> str:
    """JSON without white space, numbers written as JavaScript writes them (`1.0` is `1`).

    A value nested deeper than the interpreter can follow counts as its outermost brackets.
    """
    try:
        return json.dumps(_integral(value), ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return "{}"


def _integral(value: object) -> object:
    match value:
        case float() if value.is_integer() and abs(value) < 1e21:  # noqa: PLR2004 - from there on JavaScript writes an exponent
            return int(value)
        case dict():
            return {key: _integral(item) for key, item in value.items()}
        case list():
            return [_integral(item) for item in value]
        case _:
            return value
