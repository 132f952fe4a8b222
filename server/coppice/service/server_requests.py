"""The requests that the server sends: what each carries, and what the client answers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from coppice.models.editor import SampleParams, SamplePiece, SampleResult
from coppice.service.messages.base import WireModel
from coppice.service.messages.hooks import (
    WillCompactParams,
    WillCompactResult,
    WillForkParams,
    WillForkResult,
    WillNavigateParams,
    WillNavigateResult,
)
from coppice.service.messages.recovery import AbortTurnParams, AbortTurnResult
from coppice.service.messages.tools import InvokeToolParams, InvokeToolResult

Ask = Callable[[str, WireModel], Awaitable[Any]]
"""Sends a request to the client and brings its result as it was sent; raises when the client refuses."""

WILL_COMPACT: Final = "coppice/willCompact"
WILL_NAVIGATE: Final = "coppice/willNavigate"
WILL_FORK: Final = "coppice/willFork"
SAMPLE: Final = "coppice/sample"
INVOKE_TOOL: Final = "coppice/invokeTool"
ABORT_TURN: Final = "coppice/abortTurn"


@dataclass(frozen=True)
class ServerRequest:
    """Sent only to a client whose `initializationOptions` say that it answers: `option` is the path there.

    `partial_result` is what the client may tell on the request's `partialResultToken`.
    """

    name: str
    params: type[BaseModel]
    result: type[BaseModel]
    option: str
    partial_result: type[BaseModel] | None = None


_ALL: Final = (
    ServerRequest(WILL_COMPACT, WillCompactParams, WillCompactResult, "hooks.willCompact"),
    ServerRequest(WILL_NAVIGATE, WillNavigateParams, WillNavigateResult, "hooks.willNavigate"),
    ServerRequest(WILL_FORK, WillForkParams, WillForkResult, "hooks.willFork"),
    ServerRequest(SAMPLE, SampleParams, SampleResult, "sampling", SamplePiece),
    ServerRequest(INVOKE_TOOL, InvokeToolParams, InvokeToolResult, "tools"),
    ServerRequest(ABORT_TURN, AbortTurnParams, AbortTurnResult, "abortTurn"),
)

SERVER_REQUESTS: Final[dict[str, ServerRequest]] = {request.name: request for request in _ALL}
