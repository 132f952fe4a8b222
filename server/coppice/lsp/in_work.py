"""The requests that are not answered yet."""

import asyncio
from typing import Any, Final

from coppice.lsp.envelope import RequestId
from coppice.protocol.base import ProgressToken

STOP_GRACE_SECONDS: Final = 5.0
"""How long cancelled requests may take to come to their answer before the server goes on without them."""

MAX_REQUESTS: Final = 1_000
"""Requests in work at a time. An editor has some ten, a script that sends without reading any number."""
MAX_REQUEST_BYTES: Final = 128 * 1024 * 1024
"""The length of all requests in work beyond which no other is taken. Two of the longest messages."""
STALL_SECONDS: Final = 1.0
"""How long nothing is answered before requests count as waiting for the client. Longer than a short
request takes."""


class RequestsInWork:
    """`tasks` are the requests by their ids, `by_token` those with a work-done token, by that.

    Their number and their length are bounded.
    """

    def __init__(self) -> None:
        self.tasks: dict[RequestId, asyncio.Future[Any]] = {}
        self.by_token: dict[ProgressToken, asyncio.Future[Any]] = {}
        self._bytes = 0
        self._ended = asyncio.Event()
        self._stalled = False

    @property
    def is_full(self) -> bool:
        """Whether no other request is taken."""
        return len(self.tasks) >= MAX_REQUESTS or self._bytes >= MAX_REQUEST_BYTES

    def add(
        self,
        request_id: RequestId,
        task: asyncio.Future[Any],
        length: int,
        token: ProgressToken | None = None,
    ) -> None:
        """Keep a request that was sent in `length` bytes, until `task` ends.

        The first of several that have the same token keeps it.
        """
        self.tasks[request_id] = task
        self._bytes += length
        if token is not None:
            self.by_token.setdefault(token, task)
        task.add_done_callback(lambda _: self._remove(request_id, length, token))

    async def wait_for_room(self) -> None:
        """Where no request could be taken, wait for the end of one.

        Once none has ended for `STALL_SECONDS`, they may wait for the client: its answers, cancels and `exit`
        are read, and its further requests are refused.
        """
        while self.is_full and not self._stalled:
            self._ended.clear()
            try:
                await asyncio.wait_for(self._ended.wait(), STALL_SECONDS)
            except TimeoutError:
                self._stalled = True

    async def stop(self) -> None:
        """Cancel every request but the one that calls, and see them answered."""
        for task in self._others():
            task.cancel()
        await self.settle(STOP_GRACE_SECONDS)

    async def settle(self, patience: float) -> None:
        """Let the requests, but the one that calls, end by themselves within `patience` seconds."""
        if others := self._others():
            await asyncio.wait(others, timeout=patience)

    def _others(self) -> list[asyncio.Future[Any]]:
        mine = asyncio.current_task()
        return [task for task in self.tasks.values() if task is not mine]

    def _remove(self, request_id: RequestId, length: int, token: ProgressToken | None) -> None:
        task = self.tasks.pop(request_id, None)
        if token is not None and self.by_token.get(token) is task:
            del self.by_token[token]
        self._bytes -= length
        self._ended.set()
        self._stalled = False
