"""Long requests: what a person sees of each, on whichever tokens the client can show it."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final
from uuid import uuid4

from lsprotocol import types

from coppice.lsp.errors import WireError
from coppice.lsp.protocol import CoppiceProtocol
from coppice.protocol.base import WireModel
from coppice.service.core.progress import NoProgress, Progress

Token = int | str

REPORT_INTERVAL: Final = 0.1
"""Seconds between two reports of the same stage; more would flood the client."""


class LongRequests:
    """The long requests in work, each with the tokens of its progress."""

    def __init__(self, protocol: CoppiceProtocol) -> None:
        self._protocol = protocol
        self._tasks: set[asyncio.Task[Any]] = set()
        self._by_token: dict[Token, asyncio.Task[Any]] = {}

    def cancel_all(self) -> None:
        """Cancel each of them."""
        for task in self._tasks:
            task.cancel()

    def cancel_by_token(self, token: object) -> None:
        """Cancel the request whose progress is sent on `token`, or will be once it is worked on."""
        if not isinstance(token, int | str):
            return
        task = self._by_token.get(token) or self._protocol.in_work.by_token.get(token)
        if task is not None:
            task.cancel()

    def background(self, task: asyncio.Task[Any], *, may_create: bool) -> Progress:
        """The progress of work that no request waits for, on a token of the server's own."""
        if not may_create:
            return NoProgress()
        token = f"coppice-{uuid4()}"
        progress = WorkDoneProgress(
            self._protocol, token, is_created=True, partial_token=None, make_nested=NoProgress
        )
        self._by_token[token] = task
        task.add_done_callback(lambda _: self._by_token.pop(token, None))
        return progress

    @contextlib.contextmanager
    def progress(
        self, token: Token | None, partial_token: Token | None, *, may_create: bool
    ) -> Iterator["WorkDoneProgress"]:
        """The progress of the request that is the current task; it always ends.

        Without `token` it is on one of the server's own, if the server `may_create` one. On a token that is
        in use already nothing is shown.
        """
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - requests run in tasks
        opened: list[WorkDoneProgress] = []

        def show(token: Token | None, partial_token: Token | None = None) -> WorkDoneProgress:
            created = f"coppice-{uuid4()}" if token is None and may_create else None
            shown = created or (None if token in self._by_token else token)
            progress = WorkDoneProgress(
                self._protocol,
                shown,
                is_created=created is not None,
                partial_token=partial_token,
                make_nested=lambda: show(None),
            )
            if shown is not None:
                self._by_token[shown] = task
            opened.append(progress)
            return progress

        self._tasks.add(task)
        try:
            yield show(token, partial_token)
        finally:
            self._tasks.discard(task)
            for progress in opened:
                if progress.token is not None:
                    self._by_token.pop(progress.token, None)
                progress.close()


class WorkDoneProgress:
    """A job's `coppice.service.core.progress.Progress` over LSP.

    Best effort: it never raises and never waits. A token that `is_created` is the server's own: nothing is
    sent before the client has accepted it, and nothing ever when it refuses or does not answer. Pieces of
    the result go out on `partial_token`, every one and at once.
    """

    def __init__(
        self,
        protocol: CoppiceProtocol,
        token: Token | None,
        *,
        is_created: bool,
        partial_token: Token | None,
        make_nested: Callable[[], Progress],
    ) -> None:
        self._protocol = protocol
        self._make_nested = make_nested
        self.token = token
        self._partial_token = partial_token
        self._creating: asyncio.Task[None] | None = None
        self._open = not is_created
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
            self._creating = asyncio.get_running_loop().create_task(self._create())

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

    async def _create(self) -> None:
        assert self.token is not None  # noqa: S101 - it is what the client is asked about
        wanted = types.WorkDoneProgressCreateParams(token=self.token)
        try:
            await self._protocol.ask(types.WINDOW_WORK_DONE_PROGRESS_CREATE, wanted)
        except WireError:
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
        self._protocol.notify(types.PROGRESS, types.ProgressParams(token=token, value=value))
