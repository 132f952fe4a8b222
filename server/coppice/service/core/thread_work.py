"""Long work in a thread that reports its progress and stops soon after a cancel."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from coppice.service.core.progress import NoProgress, Progress
from coppice.service.core.workers import LONG_JOBS, STOPPING, Stopping

Result = TypeVar("Result")

STOP_SECONDS: Final = 0.8
"""How long a cancelled request waits for its thread: it is answered within a second."""


class ThreadWork:
    """What work in a thread knows of its request. Its methods may be called in any thread."""

    def __init__(self, progress: Progress) -> None:
        self._loop = asyncio.get_running_loop()
        self._progress = progress
        self._lock = threading.Lock()
        self._finishing = False
        self.stopping = Stopping()

    def check(self) -> None:
        """Raise StoppedError when the request was cancelled. Cheap enough for every line of a file."""
        self.stopping.check()

    def report(self, stage: str, percentage: int) -> None:
        """Report progress, and check."""
        self.check()
        self._loop.call_soon_threadsafe(self._progress.report, stage, percentage)

    def indexing(self, part: int = 0, parts: int = 1) -> Callable[[int, int], None]:
        """Reports how much of a store is indexed, which is one of `parts`; nothing where all is at once."""

        def report(done: int, total: int) -> None:
            self.check()
            if done < total:
                self.report("Indexing", 100 * (part * total + done) // (parts * total))

        return report

    def finish(self) -> None:
        """Check, and have every cancel from now on come too late. To be called before a commit."""
        with self._lock:
            self.check()
            self._finishing = True

    def stop(self) -> bool:
        """Have the next check raise; False when it is too late."""
        with self._lock:
            if self._finishing:
                return False
            self.stopping.stop()
            return True


async def run_in_thread(
    work: Callable[[ThreadWork], Result], progress: Progress | None = None, *, title: str
) -> Result:
    """The result of `work`, run in a thread.

    When the caller is cancelled, the work stops at its next check, and work that has finished gives its
    result all the same. A thread that does not come to a check in time is left to itself; it changes nothing
    any more, since it checks before it commits.
    """
    progress = progress or NoProgress()
    progress.begin(title)
    thread = ThreadWork(progress)
    context = contextvars.copy_context()
    context.run(STOPPING.set, thread.stopping)
    running = asyncio.get_running_loop().run_in_executor(LONG_JOBS, context.run, work, thread)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running], timeout=STOP_SECONDS if thread.stop() else None)
        if not running.done():
            # Taken note of, so that asyncio does not report how abandoned work ended.
            running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        elif not running.cancelled() and running.exception() is None:
            return running.result()
        progress.end("Stopped")
        raise
    except BaseException:
        progress.end("Failed")
        raise
