"""What a model is asked and answers, whoever serves it, and how it fails."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from coppice.errors import ModelFailedError
from coppice.tree.messages import AssistantMessage, text_of
from coppice.tree.view import ViewMessage

Purpose = Literal["summary", "turn"]
LimitSource = Literal["settings", "server", "default"]
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


class Tool(BaseModel):
    """A tool that a model may call. `inputSchema` is the JSON Schema of its arguments."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", strict=True)

    name: Annotated[str, Field(min_length=1, max_length=200)]
    description: str = ""
    input_schema: Annotated[dict[str, Any], Field(default_factory=dict)]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to a model.

    `messages` are a view's; `system` stands before them; `max_tokens` bounds the answer, thinking included.
    `temperature` None leaves that to the server; 0 asks for the likeliest words. Anthropic and the editor are
    not told: newer models refuse to be.
    """

    messages: Sequence[ViewMessage]
    max_tokens: int
    system: str | None = None
    purpose: Purpose = "summary"
    tools: Sequence[Tool] = ()
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """A whole answer: text, thinking and tool calls, usage, `stop_reason`, provider and model."""

    message: AssistantMessage

    @property
    def text(self) -> str:
        return text_of(self.message.content)


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Sizes in tokens. `source` says who told the window: the settings, the server, or nobody."""

    context_window: int
    max_output_tokens: int | None
    source: LimitSource


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer as it arrives.

    For a tool call `text` is a piece of its arguments as JSON, `call_index` counts the answer's calls from 0,
    and `call_id` and `call_name` stand in each of its pieces once the provider has told them.
    """

    kind: Literal["text", "thinking", "toolCall"]
    text: str
    call_index: int | None = None
    call_id: str | None = None
    call_name: str | None = None


OnDelta = Callable[[Delta], None]
"""Hears the pieces in order. A retried request never repeats pieces: it is retried only before the first."""


class ChatModel(Protocol):
    @property
    def name(self) -> str:
        """Provider and model, `openai/gpt-4o-mini` for instance."""
        ...

    async def limits(self) -> ModelLimits:
        """What fits, from the settings, else from the server, else a default. Never raises ModelError."""
        ...

    async def complete(self, request: ChatRequest, on_delta: OnDelta | None = None) -> ChatAnswer:
        """The answer, however it stopped. Cancellable at any moment.

        Raises ModelError when none came, or only part of one.
        """
        ...

    async def close(self) -> None:
        """Lets go of the connections. A closed model is not asked again."""
        ...


class ModelError(ModelFailedError):
    """A request that brought no whole answer.

    `str(error)` says what to do and holds no key, no header and no URL with credentials.

    - `overflow`: the request does not fit the model's window; a smaller one may.
    - `auth`: no key, a wrong one, or one that may not do this.
    - `rate-limit`: too many requests just now; `retry_after` is in seconds where the provider told.
    - `quota`: nothing left to spend; waiting does not help.
    - `not-found`: no such model, or no such endpoint.
    - `refused`: the provider takes the request as invalid, or will not answer this content.
    - `timeout`, `network`, `server`: the way to the provider, or the provider, is in trouble.
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
        told = {"status": status, "providerCode": provider_code, "retryAfter": retry_after}
        super().__init__(
            message, kind=kind, **{key: value for key, value in told.items() if value is not None}
        )
        self.kind: FailureKind = kind
        self.status = status
        self.provider_code = provider_code
        self.retry_after = retry_after
