"""What a person sees of a long job, on whichever tokens the client can show it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

from lsprotocol import types

from coppice.protocol.base import WireModel
from coppice.service.core.progress import NoProgress, Progress

Token = int | str

REPORT_INTERVAL: Final = 0.1
"""Seconds between two reports of the same stage; more would flood the client."""


class ProgressChannel(Protocol):
    """What progress needs of a connection."""

    def notify(self, method: str, params: Any | None = None) -> None:
        """Send a notification. Never raises and never waits."""


class WorkDoneProgress:
    """A job's `coppice.service.core.progress.Progress` over LSP.

    Best effort: it never raises and never waits. With `create`, the token is the server's own: nothing is
    sent before the client has accepted it, and nothing ever when it refuses or does not answer. Pieces of
    the result go out on `partial_token`, every one and at once.
    """

    def __init__(
        self,
        channel: ProgressChannel,
        token: Token | None,
        *,
        create: Callable[[Token], Awaitable[bool]] | None = None,
        partial_token: Token | None = None,
        make_nested: Callable[[], Progress] = NoProgress,
    ) -> None:
        self._channel = channel
        self._make_nested = make_nested
        self.token = token
        self._partial_token = partial_token
        self._create = create
        self._creating: asyncio.Task[None] | None = None
        self._open = create is None
        self._title: str | None = None
        self._stage: str | None = None
        self._percentage = 0
        self._reported_at = 0.0
        self._ending: str | None = None

    def begin(self, title: str) -> None:
        """Begin the progress, once; a later call does nothing."""
        if self._title is not None:
            return
        self._title = title
        if self._open:
            self._send_begin()
        else:
            self._creating = asyncio.get_running_loop().create_task(self._ask_client())

    def report(self, stage: str, percentage: int) -> None:
        """Report the stage and the percentage; one that is lower than before is raised to it."""
        if self._title is None or self._ending is not None:
            return
        percentage = max(self._percentage, min(100, percentage))
        now = asyncio.get_running_loop().time()
        news = stage != self._stage or percentage > self._percentage
        due = stage != self._stage or now - self._reported_at >= REPORT_INTERVAL
        self._percentage = percentage
        if news and due:
            self._stage, self._reported_at = stage, now
            if self._open:
                self._send_report()

    def end(self, message: str) -> None:
        """End the progress, once; what never began has no end."""
        if self._ending is not None:
            return
        self._ending = message
        if self._open and self._title is not None:
            self._send_end()

    def partial(self, value: WireModel) -> None:
        """Send a part of the result, where the client gave a token for parts."""
        if self._partial_token is not None:
            self._send(self._partial_token, value)

    def nested(self) -> Progress:
        """A progress on a token of its own, for a step that is shown by itself."""
        return self._make_nested()

    def close(self) -> None:
        """End what the job left open, a job that was stopped for instance."""
        if self._title is not None and self._ending is None:
            self.end("Stopped")

    async def _ask_client(self) -> None:
        assert self._create is not None  # noqa: S101 - begin asks only where there is somebody to ask
        assert self.token is not None  # noqa: S101 - it is what the client is asked about
        if not await self._create(self.token):
            return
        self._open = True
        self._send_begin()
        if self._ending is not None:
            self._send_end()
        elif self._stage is not None:
            self._send_report()

    def _send_begin(self) -> None:
        self._show(types.WorkDoneProgressBegin(title=self._title or "", cancellable=True, percentage=0))

    def _send_report(self) -> None:
        self._show(
            types.WorkDoneProgressReport(message=self._stage, percentage=self._percentage, cancellable=True)
        )

    def _send_end(self) -> None:
        self._show(types.WorkDoneProgressEnd(message=self._ending))

    def _show(self, value: Any) -> None:
        if self.token is not None:
            self._send(self.token, value)

    def _send(self, token: Token, value: Any) -> None:
        self._channel.notify(types.PROGRESS, types.ProgressParams(token=token, value=value))
