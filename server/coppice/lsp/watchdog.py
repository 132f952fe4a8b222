"""Ends a server that works no more, so that its client can start another one."""

import asyncio
import faulthandler
import os
import sys
import threading
import time
from typing import Final

STALLED: Final = 75
"""The exit code of a server that was ended: EX_TEMPFAIL of sysexits.h."""
LOOKS: Final = 60
"""Looks in a row that find nothing done. A minute: a page of any size is read and sent in less."""
SECONDS: Final = 1.0
"""Between two looks."""


class Watchdog:
    """A thread that looks whether the event loop runs.

    A loop can stop for ever: `threading.Thread.start` waits for a thread that had no memory to say that it
    runs (https://github.com/python/cpython/issues/140746). The watchdog counts looks and not time, since a
    process that was suspended has looked at nothing.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, *, looks: int = LOOKS, seconds: float = SECONDS
    ) -> None:
        self._loop = loop
        self._looks = looks
        self._seconds = seconds
        self._waits = False
        threading.Thread(target=self._watch, name="coppice-watchdog", daemon=True).start()

    def _watch(self) -> None:
        in_vain = 0
        while not self._loop.is_closed():
            time.sleep(self._seconds)
            in_vain = in_vain + 1 if self._waits else 0
            if in_vain >= self._looks:
                _end()
            if not self._waits:
                self._ask()

    def _ask(self) -> None:
        self._waits = True
        try:
            self._loop.call_soon_threadsafe(self._answered)
        except (MemoryError, RuntimeError):  # no memory to ask, or the loop was just closed
            self._waits = False

    def _answered(self) -> None:
        self._waits = False


def _end() -> None:
    try:
        sys.stderr.write("The server has stopped working, and ends. What was acknowledged is stored.\n")
        faulthandler.dump_traceback(all_threads=True)
    finally:
        os._exit(STALLED)
