"""Whether whoever waits for work in a thread still does."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final


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
        with self._lock:
            self._stopped = True
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    def check(self) -> None:
        """Raise StoppedError after `stop`."""
        if self._stopped:
            raise StoppedError

    @contextmanager
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """Within the block `stop` calls `callback`, in its thread. Raises StoppedError after `stop`."""
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
