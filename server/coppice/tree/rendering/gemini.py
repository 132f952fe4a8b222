"""A view as the contents of Gemini's generateContent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from coppice.tree.messages import (
    AssistantMessage,
    DeveloperMessage,
    ImageContent,
    Message,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from coppice.tree.rendering.anthropic import OPENING
from coppice.tree.view import ViewMessage

NO_SIGNATURE: Final = "skip_thought_signature_validator"
"""In place of the signature of a call that another model made, as Gemini's reference has it."""


@dataclass(frozen=True, slots=True)
class GeminiRequest:
    """`system` is None where the view has no system or developer message."""

    system: str | None
    contents: list[dict[str, Any]]


def gemini_request(view: Sequence[ViewMessage], provider: str, *, signs_all: bool = False) -> GeminiRequest:
    """The view with roles that alternate and begin with the user.

    Thinking is left out: what goes back is the signature of a call, as `provider` wrote it. With `signs_all`
    calls without one get `NO_SIGNATURE`.
    """
    system: list[str] = []
    contents: list[dict[str, Any]] = []
    for item in view:
        message = item.message
        if isinstance(message, SystemMessage | DeveloperMessage):
            system.append(text_of(message.content))
            continue
        role = "model" if isinstance(message, AssistantMessage) else "user"
        parts = list(_parts(message, provider, signs_all=signs_all))
        if not parts:
            continue
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": role, "parts": parts})
    if contents and contents[0]["role"] == "model":
        contents.insert(0, {"role": "user", "parts": [{"text": OPENING}]})
    return GeminiRequest("\n\n".join(filter(None, system)) or None, contents)


def _parts(message: Message, provider: str, *, signs_all: bool) -> Iterator[dict[str, Any]]:
    match message:
        case UserMessage():
            yield from _content(message.content)
        case ToolResultMessage():
            text = text_of(message.content) or "(no output)"
            response = {"error" if message.is_error else "output": text}
            yield {"functionResponse": {"name": message.tool_name, "response": response}}
            yield from _content([block for block in message.content if isinstance(block, ImageContent)])
        case AssistantMessage():
            is_own = message.provider == provider
            for block in message.content:
                match block:
                    case TextContent() if block.text.strip():
                        yield {"text": block.text}
                    case ToolCall():
                        signature = block.thought_signature if is_own else None
                        signature = signature or (NO_SIGNATURE if signs_all else None)
                        part = {"functionCall": {"name": block.name, "args": block.arguments}}
                        yield part | ({"thoughtSignature": signature} if signature else {})
                    case _:
                        pass
        case _:
            pass


def _content(content: str | Sequence[Any]) -> Iterator[dict[str, Any]]:
    for block in [TextContent(text=content)] if isinstance(content, str) else content:
        if isinstance(block, ImageContent):
            yield {"inlineData": {"mimeType": block.mime_type, "data": block.data}}
        elif isinstance(block, TextContent) and block.text.strip():
            yield {"text": block.text}
