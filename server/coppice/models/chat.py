"""What a model is asked and answers, whoever serves it, and how it fails."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from coppice.errors import ModelFailedError
from coppice.protocol.tools import Purpose, Tool
from coppice.providers import ThinkingLevel
from coppice.tree.messages import AssistantMessage, RequestTimes
from coppice.tree.view import ViewMessage

FailureKind = Literal[
    "overflow",
    "auth",
    "rate-limit",
    "quota",
    "not-found",
    "refused",
    "timeout",
    "network",
    "server",
    "bad-answer",
    "cut-off",
]

DEFAULT_WINDOW: Final = 200_000
"""The window, in tokens, of a model when neither the settings nor the server name one. Anthropic's."""


@dataclass(frozen=True, slots=True)
class ContextEditing:
    """What a provider is asked to do itself: where a request has more than `trigger_tokens`, to clear all
    tool results but the newest `keep_tool_uses`, unless that saves fewer than `least_gain_tokens`.
    """

    trigger_tokens: int
    keep_tool_uses: int
    least_gain_tokens: int


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to a model.

    `messages` are a view's, after `system`; `max_tokens` bounds the answer, thinking included.
    `temperature` None leaves that to the server; 0 asks for the likeliest words. Anthropic and the editor are
    not sent it: newer models refuse the parameter. With `caller_waits` a failed request is not made again by
    itself: whoever asks decides when. Requests that begin alike have the same `cache_key`, by which a
    provider may choose the machine that has their beginning. `context_editing` is for a model that
    `edits_context`; others are not sent it. Without a `thinking_level` the model thinks as much as it does by
    itself; one that refuses the level is asked without.
    """

    messages: Sequence[ViewMessage]
    max_tokens: int
    system: str | None = None
    purpose: Purpose = "summary"
    tools: Sequence[Tool] = ()
    temperature: float | None = None
    caller_waits: bool = False
    cache_key: str | None = None
    context_editing: ContextEditing | None = None
    thinking_level: ThinkingLevel | None = None


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Sizes in tokens. `source` is where the window comes from."""

    context_window: int
    max_output_tokens: int | None
    source: Literal["settings", "server", "default"]


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer as it arrives.

    For a tool call `text` is a piece of its arguments as JSON, empty where the call begins.
    """

    kind: Literal["text", "thinking", "toolCall"]
    text: str


OnDelta = Callable[[Delta], None]
"""Is called with the pieces in order. A request is retried only before its first piece."""


class ChatModel(Protocol):
    """A model that answers chat requests, wherever it runs."""

    @property
    def name(self) -> str:
        """Provider and model, `openai/gpt-4o-mini` for instance."""
        ...

    @property
    def edits_context(self) -> bool:
        """Whether its protocol has `ContextEditing`, and its server has not refused it."""
        ...

    async def limits(self) -> ModelLimits:
        """What fits, from the settings, else from the server, else a default. Never raises ModelError."""
        ...

    async def complete(self, request: ChatRequest, on_delta: OnDelta | None = None) -> AssistantMessage:
        """The whole answer, however it stopped. Cancellable at any moment.

        Raises ModelError when none came, or only part of one.
        """
        ...

    async def close(self) -> None:
        """Closes the connections. A closed model is not asked again."""
        ...


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


class ModelError(ModelFailedError):
    """A request that brought no whole answer.

    `str(error)` names what to do and holds no key, no header and no URL with credentials.

    - `overflow`: the request does not fit the model's window; a smaller one may.
    - `auth`: no key, a wrong one, or one that may not do this.
    - `rate-limit`: too many requests just now; `retry_after` is in seconds, where the provider sent it.
    - `quota`: nothing left to spend; waiting does not help.
    - `not-found`: no such model, or no such endpoint.
    - `refused`: the provider takes the request as invalid, or will not answer this content.
    - `timeout`, `network`, `server`: the network or the provider failed.
    - `bad-answer`: what came is no answer of the protocol.
    - `cut-off`: the answer began and ended before its end.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind,
        status: int | None = None,
        provider_code: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        details = {"status": status, "providerCode": provider_code, "retryAfter": retry_after}
        super().__init__(
            message, kind=kind, **{key: value for key, value in details.items() if value is not None}
        )
        self.kind: FailureKind = kind
        self.status = status
        self.provider_code = provider_code
        self.retry_after = retry_after
