"""Waiting for what other tasks, threads and processes do."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

PATIENCE: Final = 100.0
"""Seconds after which a test gives up. Long, because on a busy machine everything takes long."""


async def until(holds: Callable[[], bool | Awaitable[bool]], patience: float = PATIENCE) -> None:
    """Returns when it `holds`; raises `TimeoutError` when it does not within `patience` seconds."""
    end = time.monotonic() + patience
    while not (seen := holds()) or (not isinstance(seen, bool) and not await seen):
        _give_up_after(end)
        await asyncio.sleep(0.01)


def wait_until(holds: Callable[[], bool]) -> None:
    """As `until`, in a test that is no coroutine."""
    end = time.monotonic() + PATIENCE
    while not holds():
        _give_up_after(end)
        time.sleep(0.01)


def _give_up_after(end: float) -> None:
    if time.monotonic() > end:
        raise TimeoutError


def hurry() -> None:
    """From now on the timers of the running event loop run about a thousand times as fast.

    For limits that are to be reached, but not before what has to happen first, however busy the machine is.
    """
    loop = asyncio.get_running_loop()
    now, skipped = loop.time, 0

    def skip() -> None:
        nonlocal skipped
        skipped += 10
        loop.call_later(0.01, skip)

    loop.time = lambda: now() + skipped  # type: ignore[method-assign]
    skip()
