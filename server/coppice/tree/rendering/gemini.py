"""A view as the contents of Gemini's generateContent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

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
from coppice.tree.tags import attribute
from coppice.tree.view import ViewMessage

Kind = Literal["model", "user", "result"]

NO_SIGNATURE: Final = "skip_thought_signature_validator"
"""In place of the signature of a call that another model made, as Gemini's reference has it."""


@dataclass(frozen=True, slots=True)
class GeminiRequest:
    """`system` is None where the view has no system or developer message."""

    system: str | None
    contents: list[dict[str, Any]]


def gemini_request(view: Sequence[ViewMessage], provider: str, *, signs_all: bool) -> GeminiRequest:
    """The view as contents that begin with the user's.

    Results of tools have contents of their own, as many as there are calls, and their images follow in other
    ones: between results they are refused. Thinking is left out: what goes back are the signatures of calls
    and of texts, as `provider` wrote them. With `signs_all` calls without one get `NO_SIGNATURE`.
    """
    system: list[str] = []
    contents: list[dict[str, Any]] = []
    before: Kind | None = None
    images: list[dict[str, Any]] = []
    for item in view:
        message = item.message
        if isinstance(message, SystemMessage | DeveloperMessage):
            system.append(text_of(message.content))
            continue
        parts = list(_parts(message, provider, signs_all=signs_all))
        if not parts:
            continue
        kind = _kind(message)
        if images and kind != "result":
            contents.append({"role": "user", "parts": images})
            before, images = "user", []
        if kind == before:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": "model" if kind == "model" else "user", "parts": parts})
        before = kind
        images += _images(message)
    if images:
        contents.append({"role": "user", "parts": images})
    if contents and contents[0]["role"] == "model":
        contents.insert(0, {"role": "user", "parts": [{"text": OPENING}]})
    return GeminiRequest("\n\n".join(filter(None, system)) or None, contents)


def _parts(message: Message, provider: str, *, signs_all: bool) -> Iterator[dict[str, Any]]:
    match message:
        case UserMessage():
            yield from _content(message.content)
        case ToolResultMessage():
            text = text_of(message.content) or ("(an image)" if list(_images(message)) else "(no output)")
            response = {"error" if message.is_error else "output": text}
            yield {"functionResponse": {"name": message.tool_name, "response": response}}
        case AssistantMessage():
            is_own = message.provider == provider
            for block in message.content:
                match block:
                    case TextContent() if block.text.strip():
                        signature = block.text_signature if is_own else None
                        yield {"text": block.text} | ({"thoughtSignature": signature} if signature else {})
                    case ToolCall():
                        signature = block.thought_signature if is_own else None
                        signature = signature or (NO_SIGNATURE if signs_all else None)
                        part = {"functionCall": {"name": block.name, "args": block.arguments}}
                        yield part | ({"thoughtSignature": signature} if signature else {})
                    case _:
                        pass
        case _:
            pass


def _kind(message: Message) -> Kind:
    match message:
        case AssistantMessage():
            return "model"
        case ToolResultMessage():
            return "result"
        case _:
            return "user"


def _images(message: Message) -> Iterator[dict[str, Any]]:
    """The images of a tool's result, with the name of the tool."""
    if isinstance(message, ToolResultMessage):
        images = [block for block in message.content if isinstance(block, ImageContent)]
        if images:
            yield {"text": f"From the result of `{attribute(message.tool_name)}`:"}
            yield from _content(images)


def _content(content: str | Sequence[Any]) -> Iterator[dict[str, Any]]:
    for block in [TextContent(text=content)] if isinstance(content, str) else content:
        if isinstance(block, ImageContent):
            yield {"inlineData": {"mimeType": block.mime_type, "data": block.data}}
        elif isinstance(block, TextContent) and block.text.strip():
            yield {"text": block.text}
