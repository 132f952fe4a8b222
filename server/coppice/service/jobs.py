"""Long work that a person can watch and stop: at most one job a conversation."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from coppice.errors import ConversationBusyError
from coppice.service.messages.base import WireModel

Result = TypeVar("Result")


class Progress(Protocol):
    """Where a long job says how far it is. Never raises and never waits.

    `begin` comes first and once, `end` last and once. Percentages run from 0 to 100 and never fall.
    `partial` is a piece of the result, for methods that have such pieces.
    """

    def begin(self, title: str) -> None: ...

    def report(self, stage: str, percentage: int) -> None: ...

    def end(self, message: str) -> None: ...

    def partial(self, value: WireModel) -> None: ...


class NoProgress:
    """Nobody watches."""

    def begin(self, title: str) -> None:
        del title

    def report(self, stage: str, percentage: int) -> None:
        del stage, percentage

    def end(self, message: str) -> None:
        del message

    def partial(self, value: WireModel) -> None:
        del value


@dataclass
class SharedProgress:
    """One job's progress, told to everybody who waits for it; who joins late hears where it is."""

    title: str
    watchers: list[Progress] = field(default_factory=list)
    _last: tuple[str, int] | None = None

    def join(self, watcher: Progress) -> None:
        self.watchers.append(watcher)
        watcher.begin(self.title)
        if self._last is not None:
            watcher.report(*self._last)

    def report(self, stage: str, percentage: int) -> None:
        self._last = (stage, max(percentage, self._last[1] if self._last else 0))
        for watcher in self.watchers:
            watcher.report(*self._last)

    def end(self, message: str) -> None:
        for watcher in self.watchers:
            watcher.end(message)
        self.watchers.clear()


Work = Callable[[SharedProgress], Awaitable[WireModel]]


@dataclass
class _Job:
    kind: str
    task: asyncio.Task[WireModel]
    progress: SharedProgress
    waiting: int = 0


class Jobs:
    """The running jobs, by conversation."""

    def __init__(self) -> None:
        self._running: dict[str, _Job] = {}

    async def run(
        self,
        conversation_id: str,
        kind: str,
        *,
        title: str,
        progress: Progress,
        work: Work,
        joinable: bool,
    ) -> WireModel:
        """The result of `work`, or of the job of the same kind that is already running.

        Raises ConversationBusyError when a job runs that cannot be joined. A caller that is cancelled stops
        the job if nobody else waits for it.
        """
        job = self._running.get(conversation_id)
        if job is None:
            shared = SharedProgress(title)
            task = asyncio.create_task(self._work(conversation_id, work, shared))
            job = self._running[conversation_id] = _Job(kind, task, shared)
            task.add_done_callback(lambda _: self._ended(conversation_id, shared))
        elif not (joinable and job.kind == kind):
            self.refuse_if_busy(conversation_id)
        job.progress.join(progress)
        return await self._outcome(job)

    def refuse_if_busy(self, conversation_id: str) -> None:
        job = self._running.get(conversation_id)
        if job is not None:
            raise ConversationBusyError(
                f"This conversation is busy ({job.kind}). Wait until it is done, or cancel it.", job=job.kind
            )

    async def settled(self, conversation_id: str, kind: str) -> bool:
        """Waits for the end of the conversation's job of this kind; whether one ran, and did not fail."""
        job = self._running.get(conversation_id)
        if job is None or job.kind != kind:
            return False
        await asyncio.wait([job.task])
        return not job.task.cancelled() and job.task.exception() is None

    def cancel(self, conversation_id: str) -> list[str]:
        """Stops the conversation's job, if one runs; the kinds of what was stopped."""
        job = self._running.get(conversation_id)
        return [job.kind] if job is not None and job.task.cancel() else []

    async def stop(self, conversation_id: str) -> None:
        """Cancels the conversation's job and waits until it has ended."""
        job = self._running.get(conversation_id)
        if job is not None:
            job.task.cancel()
            await asyncio.wait([job.task])

    async def close(self) -> None:
        """Stops every job and waits until each has ended."""
        tasks = [job.task for job in self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, conversation_id: str, work: Work, progress: SharedProgress) -> WireModel:
        try:
            return await work(progress)
        finally:
            self._ended(conversation_id, progress)

    def _ended(self, conversation_id: str, progress: SharedProgress) -> None:
        """Also for a job that was cancelled before it began, of which its own code knows nothing."""
        job = self._running.get(conversation_id)
        if job is not None and job.progress is progress:
            del self._running[conversation_id]
        progress.end("Stopped")

    async def _outcome(self, job: _Job) -> WireModel:
        """A job that was cancelled when it had written already is answered for with what it did."""
        job.waiting += 1
        try:
            return await asyncio.shield(job.task)
        except asyncio.CancelledError:
            if job.waiting == 1 and not job.task.done():
                job.task.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    return await job.task
            raise
        finally:
            job.waiting -= 1


async def uninterrupted(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of a write that, once begun, ends; a cancel that comes meanwhile is too late."""
    task = asyncio.create_task(work)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
    return task.result()
