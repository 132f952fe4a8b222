"""The order in which processes write to one SQLite database.

SQLite has no queue: who waits for the lock of the writer asks for it again and again, and whoever asks at the
right moment has it. A lock of the operating system on a file has a queue, needs no processor while it waits,
and ends with its process. Here it says who may ask SQLite next. It is only an order: SQLite's own lock
protects the data. So who gets no turn asks all the same, on Windows or a file system without such locks for
instance, or because the process whose turn it is was suspended.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from coppice.operating_system import lock_in_turn, open_lock_file

QUEUE: Final = "-queue"
"""The suffix of the empty file next to the database whose lock is the turn."""

_LOOK_SECONDS: Final = 0.25
"""Between two looks whether to go on waiting: a look takes 0.02 ms, and limits are of seconds."""


class WriterQueue:
    """The turns of one process. Only one thread may wait or write at a time."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(database.name + QUEUE)
        self._left: _Waiting | None = None

    @contextmanager
    def turn(self, seconds_left: Callable[[], float]) -> Iterator[bool]:
        """Begins when it is this process's turn, which ends with the block, or, with false, without one.

        `seconds_left` is how long to go on waiting; it is called again and again.
        """
        descriptor = self._turn(seconds_left)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _turn(self, seconds_left: Callable[[], float]) -> int | None:
        """A descriptor whose lock is the turn, None where there is none to be had."""
        waiting, self._left = self._left, None
        if waiting is None or not waiting.resume():
            try:
                descriptor = open_lock_file(self._path)
            except OSError:
                return None
            try:
                if lock_in_turn(descriptor, wait=False):
                    return descriptor
                waiting = _Waiting(descriptor)
                waiting.start()
            except (OSError, RuntimeError, MemoryError):  # of a thread that has no memory to start
                os.close(descriptor)
                return None
        while not waiting.ended.is_set() and (left := seconds_left()) > 0:
            waiting.ended.wait(min(left, _LOOK_SECONDS))
        if waiting.leave():
            self._left = waiting
            return None
        return waiting.descriptor


class _Waiting(threading.Thread):
    """Waits for a turn, which cannot be interrupted: a turn that nobody wants any more ends at once."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(name="coppice-turn", daemon=True)
        self.descriptor: int | None = descriptor
        """Closed, and None, where it did not become the turn of somebody who waits."""
        self.ended = threading.Event()
        self._is_wanted = True
        self._lock = threading.Lock()

    def run(self) -> None:
        descriptor = self.descriptor
        if descriptor is None:
            return
        try:
            has_turn = lock_in_turn(descriptor, wait=True)
        except OSError:
            has_turn = False
        with self._lock:
            if not (has_turn and self._is_wanted):
                self.descriptor = None
                os.close(descriptor)
            self.ended.set()

    def leave(self) -> bool:
        """Nobody waits here any more; false where the waiting has ended."""
        with self._lock:
            self._is_wanted = False
            return not self.ended.is_set()

    def resume(self) -> bool:
        """Takes the place of whoever left; false where it is gone."""
        with self._lock:
            self._is_wanted = True
            return not self.ended.is_set()
