"""The size of an entry: what it adds to the request when a model sees it."""

import json
from collections.abc import Iterator
from typing import Any

from coppice.tokens.counting import IMAGE_TOKENS, count_tokens, image_units, tokens_of_units, utf16_units
from coppice.tokens.size import Size
from coppice.tree.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
)
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
            return _size(_parts_of_content(entry.content), _images_in(entry.content))
        case _:
            return Size()


def size_of_message(message: Message) -> Size:
    """The estimate is rounded up once a message, as Pi does, not once a block."""
    match message:
        case AssistantMessage():
            return _size(_parts_of_reply(message), 0)
        case BashExecutionMessage():
            return _size(iter((message.command, message.output)), 0)
        case BranchSummaryRoleMessage() | CompactionSummaryRoleMessage():
            return size_of_text(message.summary)
        case _:
            return _size(_parts_of_content(message.content), _images_in(message.content))


def size_of_text(text: str) -> Size:
    """Both counts of a text. CPU-bound."""
    return _size(iter((text,)), 0)


def _size(parts: Iterator[str], images: int) -> Size:
    units = image_units(images)
    tokens = images * IMAGE_TOKENS
    for part in parts:
        units += utf16_units(part)
        tokens += count_tokens(part)
    return Size(tokenizer=tokens, estimate=tokens_of_units(units))


def _parts_of_content(content: str | list[Any]) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if isinstance(block, TextContent):
            yield block.text


def _images_in(content: str | list[Any]) -> int:
    return 0 if isinstance(content, str) else sum(isinstance(block, ImageContent) for block in content)


def _parts_of_reply(message: AssistantMessage) -> Iterator[str]:
    for block in message.content:
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
