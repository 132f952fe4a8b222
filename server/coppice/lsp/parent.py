"""Whether the client's process still runs."""

import asyncio
from typing import Final

POLL_SECONDS: Final = 2.0
"""A guess: an abandoned server does not stay long, and looking costs little."""


async def wait_until_gone(process_id: int) -> None:
    """Return when the process is gone, or a zombie, or its number has passed to another one."""
    import psutil  # noqa: PLC0415 - `initialize` is answered without it

    try:
        process = psutil.Process(process_id)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110 - there is nothing to wait for
            await asyncio.sleep(POLL_SECONDS)
    except (psutil.NoSuchProcess, OverflowError, ValueError):
        return
