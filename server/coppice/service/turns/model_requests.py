"""The requests of a turn to its model: how long each took, and the key of its cache."""

import time
from hashlib import blake2b

from coppice.models.chat import ChatModel, ChatRequest, Delta, OnDelta
from coppice.tree.messages import AssistantMessage, RequestTimes


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


def cache_key(conversation_id: str) -> str:
    """The same for each request of a conversation; it tells nothing of the conversation."""
    return blake2b(conversation_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
