"""Work in a thread of its own, for which nobody waits."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress


class BackgroundWork(ABC):
    """Done by one thread at a time, which ends when nothing is left. Thread-safe."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._is_wanted = False
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.on_end: Callable[[], None] = lambda: None
        """Called in the thread when nothing is left to do."""

    @abstractmethod
    def work(self) -> None:
        """Do what there is to do, until `stop` is called at the latest."""

    def wake(self) -> None:
        """Have the work done; if it is being done, once more after that."""
        with self._lock:
            self._is_wanted = True
            if self._stopped.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            # Where there is no memory for a thread, the next call starts one.
            with suppress(RuntimeError, MemoryError):
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        """Returns when nothing is left to do, or after `seconds`."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while (thread := self._thread) is not None and thread.is_alive():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return
            thread.join(left)

    def stop(self) -> None:
        """Stops after the transaction that is under way."""
        with self._lock:
            self._stopped.set()
        self.wait()

    def _run(self) -> None:
        while self._begins():
            self.work()
        self.on_end()

    def _begins(self) -> bool:
        with self._lock:
            begins = self._is_wanted and not self._stopped.is_set()
            self._is_wanted = False
            if not begins:
                self._thread = None
            return begins
