"""The process around a connection: its logs, its event loop and its end."""

import asyncio
import ctypes
import logging
import os
import sys
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final, NoReturn

from coppice.lsp.errors import lacks_memory, log_unforeseen
from coppice.lsp.no_memory import end_where_memory_lacks, end_without_memory
from coppice.lsp.watchdog import Watchdog

_M_ARENA_MAX: Final = -8  # of the GNU C library's <malloc.h>


def prepare_logs() -> None:
    """Send logs to standard error. pygls logs nothing: it would quote messages."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="coppice: %(levelname)s: %(message)s"
    )
    logging.getLogger("pygls").setLevel(logging.CRITICAL)


def use_one_heap() -> None:
    """Have the C library keep one heap for all threads, where it is the GNU one.

    Otherwise threads that allocate at once get heaps of their own, eight a processor, and what is freed in
    one is of no use to the others. To be called before there are threads.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # musl has none
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def run_and_exit(serving: Coroutine[Any, Any, int]) -> NoReturn:
    """Run `serving` and end the process with its exit code.

    Threads that still run, one that reads a huge file for instance, are not waited for: everything that was
    acknowledged is on disk.
    """
    use_one_heap()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.set_exception_handler(_log_exception)
    end_where_memory_lacks()
    Watchdog(loop)
    code = 1
    try:
        code = loop.run_until_complete(serving)
    except KeyboardInterrupt:
        pass
    except BaseException as error:  # noqa: BLE001 - to raise would wait for threads that may never end
        if lacks_memory(error):
            end_without_memory()
        log_unforeseen(error, "the server")
    sys.stderr.flush()
    os._exit(code)


def _log_exception(_: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    """Log without the exception's message, which may quote a conversation; end where memory lacks."""
    error = context.get("exception")
    if isinstance(error, BaseException) and lacks_memory(error):
        end_without_memory()
    logging.getLogger("coppice.lsp").error("%s (%s)", context.get("message"), type(error).__name__)
