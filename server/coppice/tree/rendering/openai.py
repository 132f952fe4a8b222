"""A view as the messages of OpenAI's chat completions API."""

from collections.abc import Sequence
from typing import Any

from coppice.tree.messages import (
    AssistantMessage,
    DeveloperMessage,
    ImageContent,
    Message,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from coppice.tree.rendering.call_ids import sent_id
from coppice.tree.rendering.reasoning import reasoning_of, turn_begins
from coppice.tree.view import ViewMessage


def openai_messages(view: Sequence[ViewMessage], *, with_reasoning: bool = False) -> list[dict[str, Any]]:
    """One message of the API for one of the view, in order.

    Thinking is left out, but for that of the turn under way where `with_reasoning` asks for it. Images in a
    tool result follow as a user message, because the API takes text alone in results.
    """
    rendered: list[dict[str, Any]] = []
    images: list[dict[str, Any]] = []
    thinks_from = turn_begins(view) if with_reasoning else len(view)
    for index, item in enumerate(view):
        if images and not isinstance(item.message, ToolResultMessage):
            rendered.append({"role": "user", "content": images})
            images = []
        message = _rendered(item.message)
        if message is not None:
            if index >= thinks_from and isinstance(item.message, AssistantMessage):
                message |= reasoning_of(item.message)
            rendered.append(message)
        if isinstance(item.message, ToolResultMessage):
            images += [_image(block) for block in item.message.content if isinstance(block, ImageContent)]
    if images:
        rendered.append({"role": "user", "content": images})
    return rendered


def _rendered(message: Message) -> dict[str, Any] | None:
    match message:
        case UserMessage():
            return {"role": "user", "content": _content(message.content)}
        case SystemMessage() | DeveloperMessage():
            return {"role": message.role, "content": text_of(message.content)}
        case ToolResultMessage():
            text = text_of(message.content)
            call_id = sent_id(message.tool_call_id, strict=False)
            return {"role": "tool", "tool_call_id": call_id, "content": text or "(no output)"}
        case AssistantMessage():
            return _reply(message)
        case _:
            return None


def _reply(message: AssistantMessage) -> dict[str, Any] | None:
    text = text_of(message.content)
    calls = [
        {
            "id": sent_id(call.id, strict=False),
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments_json},
        }
        for call in message.tool_calls
    ]
    if not text and not calls:
        return None
    reply: dict[str, Any] = {"role": "assistant", "content": text or None}
    return reply | {"tool_calls": calls} if calls else reply


def _content(content: str | list[Any]) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    if not any(isinstance(block, ImageContent) for block in content):
        return text_of(content)
    return [
        _image(block) if isinstance(block, ImageContent) else {"type": "text", "text": block.text}
        for block in content
        if isinstance(block, ImageContent | TextContent)
    ]


def _image(block: ImageContent) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}
