"""Ends a server that works no more, so that its client can start another one."""

import asyncio
import faulthandler
import os
import sys
import threading
import time
from contextlib import suppress
from typing import Final, NoReturn

from coppice.operating_system import set_processor_timer, write_stacks_on_timer

STALLED: Final = 75
"""The exit code of a server that was ended: EX_TEMPFAIL of sysexits.h."""
LOOKS: Final = 60
"""Looks in a row that find nothing done. A minute: a page of any size is read and sent in less."""
SECONDS: Final = 1.0
"""Between two looks."""


class Watchdog:
    """A thread that looks whether the event loop runs, and whether threads that were started do.

    Both can stop for ever: `threading.Thread.start` waits for a thread that had no memory to say that it
    runs (https://github.com/python/cpython/issues/140746), in the loop or in the thread of a request. The
    watchdog counts looks and not time, since a process that was suspended has looked at nothing.

    Nothing of Python runs, this thread neither, while code in C computes and does not release the
    interpreter's lock, which a hook may load. For that case each look sets a timer of the processor time that
    all looks in vain would take. Where it expires, SIGPROF writes the stacks and ends the process. Windows
    has no such timer.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, *, looks: int = LOOKS, seconds: float = SECONDS
    ) -> None:
        self._loop = loop
        self._looks = looks
        self._seconds = seconds
        self._answered = False
        write_stacks_on_timer()
        threading.Thread(target=self._watch, name="coppice-watchdog", daemon=True).start()

    def _watch(self) -> None:
        try:
            self._look()
        except BaseException:  # noqa: BLE001 - nobody else would notice
            _end()

    def _look(self) -> None:
        in_vain, asked = 0, False
        starting: dict[threading.Thread, int] = {}
        while not self._loop.is_closed():
            set_processor_timer(self._looks * self._seconds)
            time.sleep(self._seconds)
            if asked and self._answered:
                in_vain, asked = 0, False
            else:
                in_vain += 1
            with suppress(MemoryError):
                starting = {thread: starting.get(thread, 0) + 1 for thread in _starting()}
            if in_vain >= self._looks or self._looks in starting.values():
                _end()
            if not asked:
                asked = self._ask()
        set_processor_timer(0)

    def _ask(self) -> bool:
        """Whether the loop could be asked to run `_answer`."""
        self._answered = False
        with suppress(MemoryError, RuntimeError):  # no memory to ask, or the loop was just closed
            self._loop.call_soon_threadsafe(self._answer)
            return True
        return False

    def _answer(self) -> None:
        self._answered = True


def _starting() -> list[threading.Thread]:
    """The threads that were started and do not run yet."""
    return [thread for thread in threading.enumerate() if not thread.is_alive()]


def _end() -> NoReturn:
    try:
        sys.stderr.write("The server has stopped working, and ends. What was acknowledged is stored.\n")
        faulthandler.dump_traceback(all_threads=True)
    finally:
        os._exit(STALLED)
