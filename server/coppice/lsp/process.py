"""The process around a connection: its logs, its event loop and its end."""

import asyncio
import logging
import os
import sys
from collections.abc import Coroutine
from typing import Any, NoReturn


def prepare_logs() -> None:
    """Send logs to standard error. pygls logs nothing: it would quote messages."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="coppice: %(levelname)s: %(message)s"
    )
    logging.getLogger("pygls").setLevel(logging.CRITICAL)


def run_and_exit(serving: Coroutine[Any, Any, int]) -> NoReturn:
    """Run `serving` and end the process with its exit code.

    Threads that still run, one that reads a huge file for instance, are not waited for: everything that was
    acknowledged is on disk.
    """
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.set_exception_handler(_log_exception)
    try:
        code = loop.run_until_complete(serving)
    except KeyboardInterrupt:
        code = 1
    sys.stderr.flush()
    os._exit(code)


def _log_exception(_: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    """Log without the exception's message: that may quote a conversation."""
    error = context.get("exception")
    logging.getLogger("coppice.lsp").error("%s (%s)", context.get("message"), type(error).__name__)
