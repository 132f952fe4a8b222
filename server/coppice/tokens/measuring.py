"""The size of an entry: what it adds to the request when a model sees it."""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from coppice.tokens.counting import (
    CHARS_PER_TOKEN,
    IMAGE_TOKENS,
    count_tokens,
    is_loaded,
    load_soon,
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

MOST_ESTIMATED: Final = 1_000
"""Tokens by the estimate: more than a typed message has. Of Chinese text it is a quarter of the tokens."""
_Parts = tuple[Sequence[str], int]
"""Texts, and a number of images."""


def size_of_entry(entry: Entry) -> Size:
    """The size of `entry`; zero for what a model never sees, failed replies among it.

    CPU-bound: call it off the event loop.
    """
    return _size(*_parts_of_entry(entry))


def sizes_without_waiting(entries: Sequence[Entry]) -> list[Size]:
    """As `size_of_entry` of each; by the estimate alone where the tokenizer is not loaded yet and all of them
    are short together.

    The tokenizer is then loaded soon.
    """
    if not is_loaded():
        load_soon()
        estimates = [_estimate(*_parts_of_entry(entry)) for entry in entries]
        if sum(estimates) <= MOST_ESTIMATED:
            return [Size(tokenizer=each, estimate=each) for each in estimates]
    return [size_of_entry(entry) for entry in entries]


def size_of_message(message: Message) -> Size:
    """The estimate is rounded up once a message, as Pi does, not once a block."""
    return _size(*_parts_of_message(message))


def size_of_text(text: str) -> Size:
    """Both counts of a text. CPU-bound."""
    return _size([text], 0)


def _parts_of_entry(entry: Entry) -> _Parts:
    match entry:
        case MessageEntry():
            return _parts_of_message(entry.message) if is_sent(entry.message) else ([], 0)
        case CompactionEntry() | BranchSummaryEntry():
            return [entry.summary], 0
        case CustomMessageEntry():
            return _parts_of_content(entry.content)
        case _:
            return [], 0


def _parts_of_message(message: Message) -> _Parts:
    match message:
        case BashExecutionMessage():
            return [message.command, message.output], 0
        case BranchSummaryRoleMessage() | CompactionSummaryRoleMessage():
            return [message.summary], 0
        case _:
            return _parts_of_content(message.content)


def _parts_of_content(content: str | Sequence[AssistantContent | UserContent]) -> _Parts:
    if isinstance(content, str):
        return [content], 0
    return [*_texts_in(content)], sum(isinstance(block, ImageContent) for block in content)


def _size(texts: Sequence[str], images: int) -> Size:
    tokens = images * IMAGE_TOKENS + sum(map(count_tokens, texts))
    return Size(tokenizer=tokens, estimate=_estimate(texts, images))


def _estimate(texts: Sequence[str], images: int) -> int:
    return tokens_of_units(images * IMAGE_TOKENS * CHARS_PER_TOKEN + sum(map(utf16_units, texts)))


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
