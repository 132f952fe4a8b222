"""Long work that a person can watch and stop: one job a conversation at a time."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from coppice.errors import ConversationBusyError
from coppice.service.core.progress import JobProgress, Progress, StepProgress

Result = TypeVar("Result")


@dataclass
class _Job:
    """`free` is set when the conversation is the job's."""

    kind: str
    task: asyncio.Task[Any]
    progress: JobProgress
    free: asyncio.Event
    waiting: int = 0


class Jobs:
    """The running jobs, by conversation, and at most one more for each that comes next.

    Next to them a conversation may have one task that changes nothing, so that nobody has to wait for it; it
    is stopped with the jobs.
    """

    def __init__(self) -> None:
        self._running: dict[str, _Job] = {}
        self._next: dict[str, _Job] = {}
        self._background: dict[str, tuple[str, asyncio.Task[Any]]] = {}
        self._coming: dict[asyncio.Task[Any], tuple[str, str]] = {}

    @contextlib.contextmanager
    def coming(self, conversation_id: str, kind: str) -> Iterator[None]:
        """Has `cancel` stop the current task, a request, as long as it has not become a job of this kind."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - requests run in tasks
        self._coming[task] = (conversation_id, kind)
        try:
            yield
        finally:
            self._coming.pop(task, None)

    async def run(
        self,
        conversation_id: str,
        kind: str,
        *,
        title: str,
        progress: Progress | JobProgress,
        work: Callable[[JobProgress], Awaitable[Result]],
        joinable: bool,
        wait_for: Collection[str] = (),
    ) -> Result:
        """The result of `work`, or of the job of the same kind that is already running.

        With the progress of the conversation's own job, the work is a step of that job. A job that runs and
        is of a kind in `wait_for` is waited for; nothing else gets between the two.
        Raises ConversationBusyError when a job runs that can be neither joined nor waited for. A caller that
        is cancelled stops the job if nobody else waits for it.
        """
        if isinstance(progress, JobProgress):
            step = StepProgress(progress, title)
            try:
                return await work(step)
            finally:
                step.close()
        stop_if_cancelled()
        if (caller := asyncio.current_task()) is not None:
            self._coming.pop(caller, None)
        running = self._running.get(conversation_id)
        if running is None:
            job = self._running[conversation_id] = self._made(conversation_id, kind, title, work)
            job.free.set()
        elif joinable and running.kind == kind:
            job = running
        elif running.kind in wait_for and conversation_id not in self._next:
            job = self._next[conversation_id] = self._made(conversation_id, kind, title, work)
        else:
            raise _busy(self._next.get(conversation_id, running).kind)
        job.progress.join(progress)
        return cast("Result", await self._outcome(job))

    def run_background(
        self, conversation_id: str, kind: str, work: Coroutine[Any, Any, Result]
    ) -> "asyncio.Task[Result]":
        """Starts `work` next to the conversation's jobs. It must store nothing."""
        task = asyncio.create_task(work)
        self._background[conversation_id] = (kind, task)
        task.add_done_callback(partial(self._ended_background, conversation_id))
        return task

    def refuse_if_busy(self, conversation_id: str) -> None:
        """Raise ConversationBusyError while a job runs in the conversation."""
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
        """Stops the conversation's job, the one that comes next, and requests that are to become one.

        Returns the kinds of what was stopped.
        """
        tasks = [(job.kind, job.task) for job in self._of(conversation_id)]
        tasks += [(kind, task) for task, (of, kind) in self._coming.items() if of == conversation_id]
        tasks += [self._background[conversation_id]] if conversation_id in self._background else []
        return [kind for kind, task in tasks if task.cancel()]

    async def stop(self, conversation_id: str) -> None:
        """Cancels the conversation's jobs and waits until they have ended."""
        background = [self._background[conversation_id][1]] if conversation_id in self._background else []
        await _stopped([*background, *(job.task for job in self._of(conversation_id))])

    async def stop_running(self, conversation_id: str, kind: str) -> None:
        """Cancels the job that runs, where it is of this kind, and waits until it has ended."""
        job = self._running.get(conversation_id)
        if job is not None and job.kind == kind:
            await _stopped([job.task])

    async def close(self) -> None:
        """Stops every job and waits until each has ended."""
        background = [task for _, task in self._background.values()]
        jobs = [job.task for jobs in (self._next, self._running) for job in jobs.values()]
        await _stopped([*background, *jobs])

    def _ended_background(self, conversation_id: str, task: asyncio.Task[Any]) -> None:
        """A failure concerns whoever asks for the result; nobody may."""
        if not task.cancelled():
            task.exception()
        if self._background.get(conversation_id, (None, None))[1] is task:
            del self._background[conversation_id]

    def _of(self, conversation_id: str) -> list[_Job]:
        running_and_next = (jobs.get(conversation_id) for jobs in (self._running, self._next))
        return [job for job in running_and_next if job is not None]

    def _made(
        self, conversation_id: str, kind: str, title: str, work: Callable[[JobProgress], Awaitable[Any]]
    ) -> _Job:
        progress, free = JobProgress(title), asyncio.Event()

        async def run() -> Any:
            await free.wait()
            try:
                return await work(progress)
            finally:
                self._ended(conversation_id, job)

        job = _Job(kind, asyncio.create_task(run()), progress, free)
        # For a job that was cancelled before it began.
        job.task.add_done_callback(lambda _: self._ended(conversation_id, job))
        return job

    def _ended(self, conversation_id: str, job: _Job) -> None:
        for jobs in (self._next, self._running):
            if jobs.get(conversation_id) is job:
                del jobs[conversation_id]
        if conversation_id in self._next and conversation_id not in self._running:
            following = self._running[conversation_id] = self._next.pop(conversation_id)
            following.free.set()
        job.progress.end("Stopped")

    async def _outcome(self, job: _Job) -> Any:
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


async def _stopped(tasks: Sequence[asyncio.Task[Any]]) -> None:
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
