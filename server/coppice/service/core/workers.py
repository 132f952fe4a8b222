"""Threads for work that blocks. Reads, writes and long jobs have their own, so that none waits for another.

A process has one set of them, as it has one event loop. Work in a thread asks now and then whether
whoever waits for it still does.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Final, ParamSpec, TypeVar

from typing_extensions import override

READ_THREADS: Final = 8
"""A read takes milliseconds, and the interpreter runs one thread at a time: more would only wait for it."""
WRITE_THREADS: Final = 4
"""For each store. SQLite writes one after the other, PostgreSQL may wait for one conversation."""
LONG_THREADS: Final = 16
"""More than anybody starts at once, so that a compaction does not queue for an import."""

P = ParamSpec("P")
T = TypeVar("T")


class StoppedError(Exception):
    """Raised in the thread at the first check after a cancel. It never reaches a caller."""


class Stopping:
    """Set once, from any thread, when nobody waits any more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = False
        self._callbacks: list[Callable[[], None]] = []

    def stop(self) -> None:
        """Has every later check raise, and calls what is to be called then."""
        with self._lock:  # so that none is called after its block
            self._stopped = True
            for callback in self._callbacks:
                callback()

    def check(self) -> None:
        """Raise StoppedError after `stop`."""
        if self._stopped:
            raise StoppedError

    @contextmanager
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """Within the block, and only there, `stop` calls `callback`, in its thread, which must not block.

        Raises StoppedError after `stop`.
        """
        with self._lock:
            self.check()
            self._callbacks.append(callback)
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)


STOPPING: Final[ContextVar[Stopping]] = ContextVar("stopping")
"""That of the work that the thread does."""


def check_stopped() -> None:
    """Raise StoppedError where nobody waits for the work of this thread any more."""
    if (stopping := STOPPING.get(None)) is not None:
        stopping.check()


class Threads(ThreadPoolExecutor):
    """Threads of which another one takes the work when there is no memory to start one more for it."""

    @override
    def _adjust_thread_count(self) -> None:
        # The work is in the queue already: to raise would say of work that is done later that it is not.
        try:
            super()._adjust_thread_count()
        except (RuntimeError, MemoryError):
            if not self._threads:
                raise


_READERS: Final = Threads(READ_THREADS, "coppice-read")
LONG_JOBS: Final = Threads(LONG_THREADS, "coppice-long")
_WRITERS: Final[dict[str, Threads]] = {}
_WRITERS_LOCK: Final = threading.Lock()


async def run_read(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs what reads a store or a file for a moment. It must not write and not wait for a lock.

    A cancel ends the waiting at once; work that has begun goes on unseen.
    """
    return await _started(_READERS, partial(work, *args, **kwargs))


async def run_write(store: str, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs what writes to the store at the URL `store`; only writes to the same store wait for it."""
    # Threads that were found and are released before they have the work would refuse it.
    with _WRITERS_LOCK:
        writers = _WRITERS.get(store)
        if writers is None:
            writers = _WRITERS[store] = Threads(WRITE_THREADS, "coppice-write")
        written = _started(writers, partial(work, *args, **kwargs))
    return await written


async def run_long(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs what may take seconds: an import, a search that indexes first, the preparation of a summary.

    A cancel ends the waiting at once; work that has begun ends at its next `check_stopped`, if it has any.
    """
    stopping = Stopping()
    context = contextvars.copy_context()
    context.run(STOPPING.set, stopping)
    try:
        return await context.run(_started, LONG_JOBS, partial(work, *args, **kwargs))
    except asyncio.CancelledError:
        stopping.stop()
        raise


def release_writers(store: str) -> None:
    """Lets the threads of a store that was closed end, when they have done the work that they were given."""
    with _WRITERS_LOCK:
        writers = _WRITERS.pop(store, None)
    if writers is not None:
        writers.shutdown(wait=False)


def _started(threads: Threads, work: Callable[[], T]) -> asyncio.Future[T]:
    """Raises MemoryError where the work can be given to nobody; it is not done then."""
    context, is_withdrawn = contextvars.copy_context(), False

    def run() -> T:
        if is_withdrawn:
            raise MemoryError
        return context.run(work)

    try:
        return asyncio.get_running_loop().run_in_executor(threads, run)
    except (RuntimeError, MemoryError):
        is_withdrawn = True
        raise MemoryError from None
