"""Requests to one model: side by side while its server bears that, else one at a time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(eq=False, slots=True)
class Visit:
    """A request under way. `is_shared`: another one was under way at the same time."""

    is_shared: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)


class SideBySide:
    """Knows the requests of one piece of work.

    llama-cpp-python's server interrupts the request that it answers when another comes, unless it was started
    with `--interrupt_requests false`; other servers with room for one may do the like.
    """

    def __init__(self) -> None:
        self._running: list[Visit] = []
        self._one_at_a_time = False

    def go_on_one_at_a_time(self) -> None:
        """From now on, start a request only when none is under way."""
        self._one_at_a_time = True

    @asynccontextmanager
    async def visit(self) -> AsyncIterator[Visit]:
        """One request, as long as the block runs. Waits until it may begin."""
        while self._one_at_a_time and self._running:
            await self._running[0].over.wait()
        visit = Visit(is_shared=bool(self._running))
        for other in self._running:
            other.is_shared = True
        self._running.append(visit)
        try:
            yield visit
        finally:
            self._running.remove(visit)
            visit.over.set()
