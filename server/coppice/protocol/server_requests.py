"""The requests that the server sends: what each carries, and what the client answers."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Protocol

from coppice.protocol.base import WireModel
from coppice.protocol.hooks import (
    HookModel,
    WillCompactParams,
    WillCompactResult,
    WillForkParams,
    WillForkResult,
    WillNavigateParams,
    WillNavigateResult,
)
from coppice.protocol.recovery import AbortTurnParams, AbortTurnResult
from coppice.protocol.tools import InvokeToolParams, InvokeToolResult, SampleParams, SamplePiece, SampleResult

Ask = Callable[[str, WireModel], Awaitable[Any]]
"""Sends a request to the client and returns its result as it was sent; raises when the client refuses."""

OnPart = Callable[[Any], None]
"""Takes a part of the client's answer, as it was sent, before the whole of it."""


class ClientPort(Protocol):
    """The client, as the service reaches it. Everything is called on the event loop."""

    @property
    def answers(self) -> Collection[str]:
        """The names of the requests that the client answers; others are never sent."""

    async def ask(self, method: str, params: WireModel, on_part: OnPart | None = None) -> Any:
        """The client's result as it was sent. Raises when the client refuses or the connection ends.

        With `on_part` the client may send parts of its answer before.
        """

    def notify(self, method: str, params: WireModel) -> None:
        """Send a notification."""

    def log(self, problem: str) -> None:
        """Show a sentence where a person looks for problems."""

    def show(self, problem: str) -> None:
        """Show a sentence to the person at once: it concerns their work."""


class NoClient:
    """No client: answers nothing and shows nothing. The command line uses it."""

    answers: Collection[str] = ()

    async def ask(self, method: str, params: WireModel, on_part: OnPart | None = None) -> NoReturn:
        """Raise: there is nobody to ask."""
        raise LookupError(f"{method} ({type(params).__name__}, {on_part}) was asked of no client")

    def notify(self, method: str, params: WireModel) -> None:
        """Do nothing."""

    def log(self, problem: str) -> None:
        """Do nothing."""

    def show(self, problem: str) -> None:
        """Do nothing."""


WILL_COMPACT: Final = "coppice/willCompact"
WILL_NAVIGATE: Final = "coppice/willNavigate"
WILL_FORK: Final = "coppice/willFork"
SAMPLE: Final = "coppice/sample"
INVOKE_TOOL: Final = "coppice/invokeTool"
ABORT_TURN: Final = "coppice/abortTurn"


@dataclass(frozen=True)
class ServerRequest:
    """Sent only to a client whose `initializationOptions` announce it: `option` is the path there.

    `partial_result` is the type of what the client may send on the request's `partialResultToken`.
    """

    name: str
    params: type[WireModel]
    result: type[WireModel]
    option: str
    partial_result: type[WireModel] | None = None


_ALL: Final = (
    ServerRequest(WILL_COMPACT, WillCompactParams, WillCompactResult, "hooks.willCompact", HookModel),
    ServerRequest(WILL_NAVIGATE, WillNavigateParams, WillNavigateResult, "hooks.willNavigate", HookModel),
    ServerRequest(WILL_FORK, WillForkParams, WillForkResult, "hooks.willFork"),
    ServerRequest(SAMPLE, SampleParams, SampleResult, "sampling", SamplePiece),
    ServerRequest(INVOKE_TOOL, InvokeToolParams, InvokeToolResult, "tools"),
    ServerRequest(ABORT_TURN, AbortTurnParams, AbortTurnResult, "abortTurn"),
)

SERVER_REQUESTS: Final[dict[str, ServerRequest]] = {request.name: request for request in _ALL}
