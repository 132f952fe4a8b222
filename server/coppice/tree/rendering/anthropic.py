"""A view as the messages of Anthropic's Messages API."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

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
from coppice.tree.rendering.reasoning import signature_of
from coppice.tree.view import ViewMessage

Role = Literal["user", "assistant"]

OPENING: Final = "(The conversation goes on from an earlier one.)"
_THINKING: Final = ("thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True)
class AnthropicRequest:
    """`system` is None where the view has no system or developer message.

    `step_ends` are the places of the last results that each context edit cleared, oldest edit first: the
    indices of the message and of its block.
    """

    system: str | None
    messages: list[dict[str, Any]]
    step_ends: list[tuple[int, int]]


def anthropic_request(view: Sequence[ViewMessage]) -> AnthropicRequest:
    """The view with roles that alternate and begin with the user, as the API demands.

    System and developer messages become the system prompt. Thinking is sent back only with its signature,
    and never as the end of a reply, where it is not taken. Blocks without text are left out.
    """
    system: list[str] = []
    turns: list[dict[str, Any]] = []
    ends: dict[int, tuple[int, int]] = {}
    for item in view:
        if isinstance(item.message, SystemMessage | DeveloperMessage):
            system.append(text_of(item.message.content))
            continue
        role, blocks = _rendered(item.message)
        if not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
        if item.clearing_step is not None:
            ends[item.clearing_step] = (len(turns) - 1, len(turns[-1]["content"]) - 1)
    added = 0
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": OPENING}]})
        added = 1
    step_ends = [(message + added, block) for _, (message, block) in sorted(ends.items())]
    return AnthropicRequest("\n\n".join(filter(None, system)) or None, turns, step_ends)


def _rendered(message: Message) -> tuple[Role, list[dict[str, Any]]]:
    match message:
        case UserMessage():
            return "user", _content(message.content)
        case ToolResultMessage():
            return "user", [_result(message)]
        case AssistantMessage():
            blocks = [block for part in message.content if (block := _reply_block(part))]
            while blocks and blocks[-1]["type"] in _THINKING:
                blocks.pop()
            return "assistant", blocks
        case _:
            return "user", []


def _content(content: str | list[Any]) -> list[dict[str, Any]]:
    if isinstance(content, str):
        content = [TextContent(text=content)]
    blocks = (_image(block) if isinstance(block, ImageContent) else _text(block.text) for block in content)
    return [block for block in blocks if block]


def _result(message: ToolResultMessage) -> dict[str, Any]:
    result = {
        "type": "tool_result",
        "tool_use_id": sent_id(message.tool_call_id),
        "content": _content(message.content) or [{"type": "text", "text": "(no output)"}],
    }
    return result | {"is_error": True} if message.is_error else result


def _reply_block(part: TextContent | ThinkingContent | ToolCall) -> dict[str, Any] | None:
    match part:
        case TextContent():
            return _text(part.text)
        case ToolCall():
            return {"type": "tool_use", "id": sent_id(part.id), "name": part.name, "input": part.arguments}
        case ThinkingContent():
            signature = signature_of(part)
            if signature is None:
                return None
            if part.redacted:
                return {"type": "redacted_thinking", "data": signature}
            return {"type": "thinking", "thinking": part.thinking, "signature": signature}


def _text(text: str) -> dict[str, Any] | None:
    return {"type": "text", "text": text} if text.strip() else None


def _image(block: ImageContent) -> dict[str, Any]:
    source = {"type": "base64", "media_type": block.mime_type, "data": block.data}
    return {"type": "image", "source": source}
