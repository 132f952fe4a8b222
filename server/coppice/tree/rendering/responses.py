"""A view as the input items of OpenAI's Responses API."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from coppice.json_values import as_text
from coppice.tree.messages import (
    AssistantMessage,
    DeveloperMessage,
    ImageContent,
    Message,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from coppice.tree.rendering.call_ids import sent_id
from coppice.tree.view import ViewMessage

REASONING: Final = "reasoning"


def responses_input(view: Sequence[ViewMessage], provider: str) -> list[dict[str, Any]]:
    """The items of the view, in order; one message may be several.

    Reasoning goes back as `provider` wrote it, all of it, so that the beginning of one request is that of the
    next.
    """
    return [item for each in view for item in _items(each.message, provider)]


def reasoning_item(item: object) -> dict[str, Any] | None:
    """What of a reasoning item goes back; None for another item, and for one without its text.

    Of an encrypted one not its id, which names an item that the provider stored: it stores none. Servers
    that give the plain text, as local ones do, want it with its id.
    """
    if not isinstance(item, dict):
        return None
    sent = {"type": REASONING, "summary": _parts(item, "summary", "summary_text")}
    if isinstance(encrypted := item.get("encrypted_content"), str):
        return {**sent, "encrypted_content": encrypted}
    plain = _parts(item, "content", "reasoning_text")
    return {**sent, "id": as_text(item.get("id")), "content": plain} if plain else None


def _parts(item: dict[str, Any], name: str, part_type: str) -> list[dict[str, Any]]:
    given = item.get(name)
    parts = [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []
    texts = [text for part in parts if isinstance(text := part.get("text"), str)]
    return [{"type": part_type, "text": text} for text in texts]


def _item_in(signature: str | None) -> dict[str, Any] | None:
    """The reasoning item that a thinking block's signature is, as Pi keeps it; None for another signature."""
    try:
        return reasoning_item(json.loads(signature or ""))
    except (ValueError, RecursionError):
        return None


def _items(message: Message, provider: str) -> Iterator[dict[str, Any]]:
    match message:
        case UserMessage():
            yield {"type": "message", "role": "user", "content": _content(message.content)}
        case SystemMessage() | DeveloperMessage():
            yield {"type": "message", "role": "developer", "content": text_of(message.content)}
        case ToolResultMessage():
            yield {
                "type": "function_call_output",
                "call_id": sent_id(message.tool_call_id),
                "output": _output(message),
            }
        case AssistantMessage():
            yield from _reply(message, is_own=message.provider == provider)
        case _:
            pass


def _reply(message: AssistantMessage, *, is_own: bool) -> Iterator[dict[str, Any]]:
    for block in message.content:
        match block:
            case TextContent() if block.text.strip():
                content = [{"type": "output_text", "text": block.text}]
                yield {"type": "message", "role": "assistant", "content": content}
            case ToolCall():
                call = {"call_id": sent_id(block.id), "name": block.name, "arguments": block.arguments_json}
                yield {"type": "function_call", **call}
            case ThinkingContent() if is_own and (item := _item_in(block.thinking_signature)):
                yield item
            case _:
                pass


def _output(message: ToolResultMessage) -> str | list[dict[str, Any]]:
    has_image = any(isinstance(block, ImageContent) for block in message.content)
    return _content(message.content) if has_image else text_of(message.content) or "(no output)"


def _content(content: str | Sequence[Any]) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "input_text", "text": content}]
    return [
        {"type": "input_image", "image_url": f"data:{block.mime_type};base64,{block.data}"}
        if isinstance(block, ImageContent)
        else {"type": "input_text", "text": block.text}
        for block in content
        if isinstance(block, ImageContent | TextContent)
    ]
