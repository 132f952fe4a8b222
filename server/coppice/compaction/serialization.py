"""A conversation as one text, for whoever summarizes it or reads it."""

from collections.abc import Iterable, Iterator
from typing import Final

from coppice.tokens.measuring import compact_json
from coppice.tree.messages import (
    AssistantMessage,
    DeveloperMessage,
    ImageContent,
    Message,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from coppice.tree.tags import escape_tags

RESULT_CHARS: Final = 2_000
_HEAD_SHARE: Final = 0.6


def serialize(messages: Iterable[Message], result_chars: int | None = RESULT_CHARS) -> str:
    """Messages as `[User]: …` and the like, separated by blank lines, unable to close a tag of ours.

    Tool results longer than `result_chars` keep head and tail, for errors stand at the end; None keeps
    them whole. Images appear as a placeholder.
    """
    return escape_tags("\n\n".join(part for message in messages for part in _parts(message, result_chars)))


def shorten(text: str, limit: int) -> str:
    """`text` in at most about `limit` characters: its head, how much is left out, its tail."""
    if len(text) <= limit:
        return text
    head = int(limit * _HEAD_SHARE)
    tail = limit - head
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[… {left_out} characters left out …]\n{text[len(text) - tail :]}"


def _parts(message: Message, result_chars: int | None) -> Iterator[str]:
    match message:
        case UserMessage():
            yield f"[User]: {_content(message.content)}"
        case AssistantMessage():
            yield from _reply(message)
        case ToolResultMessage():
            text = _content(message.content)
            yield f"[Tool result]: {text if result_chars is None else shorten(text, result_chars)}"
        case DeveloperMessage() | SystemMessage():
            yield f"[Developer]: {text_of(message.content)}"
        case _:
            pass


def _reply(message: AssistantMessage) -> Iterator[str]:
    thinking = "\n".join(block.thinking for block in message.content if isinstance(block, ThinkingContent))
    if thinking:
        yield f"[Assistant thinking]: {thinking}"
    said = "\n".join(block.text for block in message.content if isinstance(block, TextContent))
    if said.strip():
        yield f"[Assistant]: {said}"
    calls = []
    for call in message.tool_calls:
        arguments = ", ".join(f"{name}={compact_json(value)}" for name, value in call.arguments.items())
        calls.append(f"{call.name}({arguments})")
    if calls:
        yield f"[Assistant tool calls]: {'; '.join(calls)}"


def _content(content: str | list[TextContent | ImageContent]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join("[image]" if isinstance(block, ImageContent) else block.text for block in content)
