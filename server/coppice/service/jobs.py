"""Long work that a person can watch and stop: one job a conversation at a time."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
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

    def partial(self, value: WireModel) -> None:
        for watcher in self.watchers:
            watcher.partial(value)

    def end(self, message: str) -> None:
        for watcher in self.watchers:
            watcher.end(message)
        self.watchers.clear()


class Step(SharedProgress):
    """A step's progress within the whole job's, which ends later."""

    def __init__(self, whole: SharedProgress) -> None:
        super().__init__(whole.title)
        self._whole = whole

    def report(self, stage: str, percentage: int) -> None:
        self._whole.report(stage, percentage)

    def partial(self, value: WireModel) -> None:
        self._whole.partial(value)

    def end(self, message: str) -> None:
        self._whole.report(message, 0)


Work = Callable[[SharedProgress], Awaitable[WireModel]]


@dataclass
class _Job:
    """`free` is set when the conversation is the job's."""

    kind: str
    task: asyncio.Task[WireModel]
    progress: SharedProgress
    free: asyncio.Event
    waiting: int = 0


class Jobs:
    """The running jobs, by conversation, and at most one more for each that comes next."""

    def __init__(self) -> None:
        self._running: dict[str, _Job] = {}
        self._next: dict[str, _Job] = {}

    async def run(
        self,
        conversation_id: str,
        kind: str,
        *,
        title: str,
        progress: Progress,
        work: Work,
        joinable: bool,
        behind: Collection[str] = (),
    ) -> WireModel:
        """The result of `work`, or of the job of the same kind that is already running.

        A job that runs and is of a kind in `behind` is waited for; nothing else gets between the two.
        Raises ConversationBusyError when a job runs that can be neither joined nor waited for. A caller that
        is cancelled stops the job if nobody else waits for it.
        """
        running = self._running.get(conversation_id)
        if running is None:
            job = self._running[conversation_id] = self._made(conversation_id, kind, title, work)
            job.free.set()
        elif joinable and running.kind == kind:
            job = running
        elif running.kind in behind and conversation_id not in self._next:
            job = self._next[conversation_id] = self._made(conversation_id, kind, title, work)
        else:
            raise _busy(self._next.get(conversation_id, running).kind)
        job.progress.join(progress)
        return await self._outcome(job)

    def refuse_if_busy(self, conversation_id: str) -> None:
        job = self._running.get(conversation_id)
        if job is not None:
            raise _busy(job.kind)

    async def settled(self, conversation_id: str, kind: str) -> bool:
        """Waits for the end of the conversation's job of this kind; whether one ran, and did not fail."""
        job = self._running.get(conversation_id)
        if job is None or job.kind != kind:
            return False
        await asyncio.wait([job.task])
        return not job.task.cancelled() and job.task.exception() is None

    def cancel(self, conversation_id: str) -> list[str]:
        """Stops the conversation's job and the one that comes next; the kinds of what was stopped."""
        return [job.kind for job in self._of(conversation_id) if job.task.cancel()]

    async def stop(self, conversation_id: str) -> None:
        """Cancels the conversation's jobs and waits until they have ended."""
        tasks = [job.task for job in self._of(conversation_id)]
        await _stopped(tasks)

    async def stop_running(self, conversation_id: str, kind: str) -> None:
        """Cancels the job that runs, where it is of this kind, and waits until it has ended."""
        job = self._running.get(conversation_id)
        if job is not None and job.kind == kind:
            await _stopped([job.task])

    async def close(self) -> None:
        """Stops every job and waits until each has ended."""
        await _stopped([job.task for jobs in (self._next, self._running) for job in jobs.values()])

    def _of(self, conversation_id: str) -> list[_Job]:
        found = (jobs.get(conversation_id) for jobs in (self._running, self._next))
        return [job for job in found if job is not None]

    def _made(self, conversation_id: str, kind: str, title: str, work: Work) -> _Job:
        progress, free = SharedProgress(title), asyncio.Event()
        task = asyncio.create_task(self._work(conversation_id, work, progress, free))
        task.add_done_callback(lambda _: self._ended(conversation_id, progress))
        return _Job(kind, task, progress, free)

    async def _work(
        self, conversation_id: str, work: Work, progress: SharedProgress, free: asyncio.Event
    ) -> WireModel:
        try:
            await free.wait()
            return await work(progress)
        finally:
            self._ended(conversation_id, progress)

    def _ended(self, conversation_id: str, progress: SharedProgress) -> None:
        """Also for a job that was cancelled before it began, of which its own code knows nothing."""
        for jobs in (self._next, self._running):
            job = jobs.get(conversation_id)
            if job is not None and job.progress is progress:
                del jobs[conversation_id]
        if conversation_id in self._next and conversation_id not in self._running:
            job = self._running[conversation_id] = self._next.pop(conversation_id)
            job.free.set()
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


def _busy(kind: str) -> ConversationBusyError:
    return ConversationBusyError(
        f"This conversation is busy ({kind}). Wait until it is done, or cancel it.", job=kind
    )


async def _stopped(tasks: Sequence[asyncio.Task[WireModel]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


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


def stop_if_cancelled() -> None:
    """Raises CancelledError where a cancel came too late for a write, but not for what comes after it."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
