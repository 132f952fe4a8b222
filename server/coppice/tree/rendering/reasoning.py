"""Thinking that goes back to the model it came from."""

from collections.abc import Sequence
from typing import Final

from coppice.tree.messages import AssistantMessage, ThinkingContent, UserMessage
from coppice.tree.view import ViewMessage

REASONING_NAMES: Final = ("reasoning_content", "reasoning")
"""Where servers compatible with OpenAI put thinking, the commoner name first."""


def reasoning_of(message: AssistantMessage) -> dict[str, str]:
    """The thinking of a reply under the names it came in; empty where it came under none."""
    named: dict[str, str] = {}
    for block in message.content:
        if isinstance(block, ThinkingContent) and block.thinking_signature in REASONING_NAMES:
            name = block.thinking_signature
            named[name] = named.get(name, "") + block.thinking
    return named


def signature_of(block: ThinkingContent) -> str | None:
    """Anthropic's signature of a block; None for unsigned thinking and for that of other providers.

    Pi keeps what other providers want back in the same place: a property's name, or an item as JSON.
    """
    written = block.thinking_signature or (block.model_extra or {}).get("signature")
    if not isinstance(written, str) or written in REASONING_NAMES or written.startswith("{"):
        return None
    return written or None


def turn_begins(view: Sequence[ViewMessage]) -> int:
    """The index after the newest user message; the messages from there on are the turn under way."""
    return next(
        (index + 1 for index in reversed(range(len(view))) if isinstance(view[index].message, UserMessage)), 0
    )
