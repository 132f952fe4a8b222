"""Whether the client's process still runs."""

import asyncio
from typing import Final

import psutil

POLL_SECONDS: Final = 2.0


async def wait_until_gone(process_id: int) -> None:
    """Return when the process is gone, or a zombie, or its number has passed to another one."""
    try:
        process = psutil.Process(process_id)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110 - only a poll tells
            await asyncio.sleep(POLL_SECONDS)
    except (psutil.NoSuchProcess, OverflowError, ValueError):
        return
