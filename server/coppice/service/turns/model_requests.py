"""The requests of a turn to its model: how long each took, and what else the provider is asked for."""

import time
from hashlib import blake2b
from typing import Final

from coppice.compaction.clearing import clear_sizes, clears
from coppice.models.chat import ChatModel, ChatRequest, ContextEditing, Delta, OnDelta
from coppice.service.window.usage import provider_edits_context
from coppice.settings import Settings
from coppice.tree.messages import AssistantMessage, RequestTimes

_TOKENS_PER_TOOL_USE: Final = 1_200
"""With what goes with it: 40,000 tokens of six recorded sessions hold 34 tool results, the median."""


async def timed_reply(model: ChatModel, request: ChatRequest, on_delta: OnDelta) -> AssistantMessage:
    """The model's reply, with the milliseconds to its first piece and to its end. Raises ModelError."""
    started = time.monotonic()
    first: float | None = None

    def take(delta: Delta) -> None:
        nonlocal first
        first = first or time.monotonic()
        on_delta(delta)

    reply = await model.complete(request, take)
    ended = time.monotonic()
    times = RequestTimes(
        first_token=int(((first or ended) - started) * 1000), whole=int((ended - started) * 1000)
    )
    return reply.model_copy(update={"milliseconds": times})


def context_editing(settings: Settings, context_window: int) -> ContextEditing | None:
    """What the provider is asked to clear itself; None where the user does not want that."""
    if not (clears(settings) and provider_edits_context(settings)):
        return None
    sizes = clear_sizes(settings.compaction.clear, context_window)
    keep = max(1, sizes.keep // _TOKENS_PER_TOOL_USE)
    return ContextEditing(sizes.start, keep_tool_uses=keep, least_gain_tokens=sizes.least_gain)


def cache_key(conversation_id: str) -> str:
    """The same for each request of a conversation; it tells nothing of the conversation."""
    return blake2b(conversation_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
