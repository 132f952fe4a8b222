"""What differs between the protocols of providers."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from coppice.models.chat import ChatRequest
from coppice.models.providers.answer import AnswerBuilder, Block
from coppice.models.providers.answer_fault import AnswerFaultError
from coppice.models.providers.error_response import ErrorResponse
from coppice.tree.messages import StopReason, Usage


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended. `model` is the name that the server used for itself."""

    stop_reason: StopReason
    usage: Usage | None
    model: str | None


class AnswerReader(ABC):
    """Reads one answer into its builder. Each method raises AnswerFaultError or RefusedInStreamError.

    `_reason` is why the answer ended, once that is known, and `_model` what the server calls itself.
    `_understood` says that an answer has begun; `_calls` are its tool calls by their places in it.
    """

    def __init__(self, builder: AnswerBuilder) -> None:
        self._builder = builder
        self._reason: str | None = None
        self._model: str | None = None
        self._understood = False
        self._calls: dict[int, Block] = {}

    @property
    def finished(self) -> bool:
        """Whether the answer is whole, though its usage may still follow."""
        return self._reason is not None

    def event(self, data: str) -> bool:
        """Takes the data of one event; false when nothing follows it."""
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            if self.finished:
                return False
            raise AnswerFaultError("bad-answer", "sent something that is no JSON. Check baseUrl.") from None
        self._builder.begin_event()
        return self._event(event)

    @abstractmethod
    def _event(self, event: Any) -> bool: ...

    @abstractmethod
    def whole(self, data: Any) -> None:
        """Takes an answer in one piece, from a server that does not stream."""

    @abstractmethod
    def ending(self) -> Ending:
        """Raises AnswerFaultError: `cut-off` for a part of an answer, `bad-answer` for none."""


class Dialect(Protocol):
    """A protocol of chat requests: how to write one, and how to read the answer.

    `provider` and `model` are the names that the settings give.
    """

    provider: str
    model: str

    @property
    def edits_context(self) -> bool:
        """Whether the protocol has `ContextEditing`, and the server has not refused it."""
        ...

    def listing(self) -> str:
        """Where the models are listed, below the base URL: all of them on one page."""
        ...

    def path(self, *, stream: bool) -> str:
        """Where requests go, below the base URL."""
        ...

    def headers(self, key: str | None, body: Mapping[str, Any] | None = None) -> dict[str, str]:
        """The headers that are special to the protocol, for a request with that `body`.

        `key` is sent nowhere else.
        """
        ...

    def body(self, request: ChatRequest, max_tokens: int, *, stream: bool) -> dict[str, Any]:
        """The JSON of a request for at most `max_tokens` of answer."""
        ...

    def reader(self, builder: AnswerBuilder) -> AnswerReader:
        """A reader of one answer, which it builds in `builder`."""
        ...

    def adapt(self, error_response: ErrorResponse, sent: dict[str, Any]) -> bool:
        """Whether the body that `sent` was would now be made without what it was refused for.

        Several requests may be under way: each is judged by what it sent itself. No cause is found twice in
        bodies that were made after it.
        """
        ...


DialectFactory = Callable[[str, bool], Dialect]
"""Makes the dialect for a model's name; the flag is True if the endpoint is the provider's own.

Each module that a line of `coppice.providers` names has one, called `make_dialect`.
"""
