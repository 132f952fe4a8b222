"""What a provider's protocol has to know, so that everything else is said once."""

from dataclasses import dataclass
from typing import Any, Protocol

from coppice.models.chat import ChatRequest
from coppice.models.providers.answer import AnswerBuilder
from coppice.models.providers.refusals import Refusal
from coppice.tree.messages import StopReason, Usage


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended. `model` is the name that the server used for itself."""

    stop_reason: StopReason
    usage: Usage | None
    model: str | None


class AnswerReader(Protocol):
    """Reads one answer into its builder. Each method raises AnswerFaultError or RefusedInStreamError."""

    @property
    def finished(self) -> bool:
        """Whether the answer is whole, though its usage may still follow."""
        ...

    def event(self, data: str) -> bool:
        """Takes the data of one event; false when nothing follows it."""
        ...

    def whole(self, data: Any) -> None:
        """Takes an answer in one piece, from a server that does not stream."""
        ...

    def ending(self) -> Ending:
        """Raises AnswerFaultError: `cut-off` for a part of an answer, `bad-answer` for none."""
        ...


class Dialect(Protocol):
    @property
    def provider(self) -> str: ...

    @property
    def path(self) -> str:
        """Where requests go, below the base URL."""
        ...

    def headers(self, key: str | None) -> dict[str, str]: ...

    def body(self, request: ChatRequest, max_tokens: int, *, stream: bool) -> dict[str, Any]: ...

    def reader(self, builder: AnswerBuilder) -> AnswerReader: ...

    def adapt(self, refusal: Refusal, sent: dict[str, Any]) -> bool:
        """Whether the body that `sent` was would now be made without what it was refused for.

        Several requests may be under way: each is judged by what it sent itself. No cause is found twice in
        bodies that were made after it.
        """
        ...
