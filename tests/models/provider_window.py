"""A model with a real window: it refuses what does not fit, in its protocol's words, and counts what does."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from models.provider_replies import answer, error
from models.provider_server import Exchange, Received, Reply


@dataclass(frozen=True)
class ScriptedReply:
    """An answer whose usage is what the request really was; see `provider_replies.answer`."""

    text: str = ""
    calls: Sequence[tuple[str, str, dict[str, Any]]] = ()
    thinking: str = ""
    stop: str | None = None


@dataclass
class Windowed:
    """A reply for a provider's script: `replies`, one after the other, for what is within `window` tokens.

    `sizes` are those of all requests, `refused` how many of them were too long. With `is_silent` nothing is
    refused: too long requests are answered as well, as some servers do that cut them.
    """

    window: int
    replies: Sequence[Reply | ScriptedReply]
    is_silent: bool = False
    sizes: list[int] = field(default_factory=list)
    refused: int = 0
    answered: int = 0

    async def __call__(self, exchange: Exchange) -> None:
        tokens = request_tokens(exchange.request)
        self.sizes.append(tokens)
        if tokens > self.window and not self.is_silent:
            self.refused += 1
            await _too_long(exchange.request, tokens, self.window)(exchange)
            return
        reply = self.replies[min(self.answered, len(self.replies) - 1)]
        self.answered += 1
        if isinstance(reply, ScriptedReply):
            answered_with = reply.text + reply.thinking + "".join(json.dumps(call) for call in reply.calls)
            usage = (tokens, len(answered_with) // 4 + 1)
            reply = answer(
                reply.text, thinking=reply.thinking, calls=reply.calls, stop=reply.stop, usage=usage
            )
        await reply(exchange)


def request_tokens(request: Received) -> int:
    """The size of a request as this model counts it: a quarter of the characters."""
    names = ("system", "messages", "tools", "instructions", "input", "systemInstruction", "contents")
    parts = [request.body.get(name) for name in names]
    return sum(len(json.dumps(part, ensure_ascii=False)) for part in parts if part) // 4


def _too_long(request: Received, tokens: int, window: int) -> Reply:
    if request.is_anthropic:
        return error(400, f"prompt is too long: {tokens} tokens > {window} maximum")
    return error(
        400,
        f"This model's maximum context length is {window} tokens. However, your messages resulted in {tokens}"
        " tokens. Please reduce the length of the messages.",
        code="context_length_exceeded",
    )
