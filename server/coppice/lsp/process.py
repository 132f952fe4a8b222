"""The process around a connection: its logs, its event loop and its end.

A request that lacks memory is refused as `out-of-memory`. Where a callback, a thread or a finalizer lacks
it, an answer or a wake-up may be missing for ever: the process ends, and its client starts another one.
"""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Coroutine
from typing import Any, Final, NoReturn

from typing_extensions import override

from coppice.lsp.errors import lacks_memory, log_unforeseen
from coppice.lsp.watchdog import Watchdog
from coppice.operating_system import use_one_heap


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


NO_MEMORY: Final = 71
"""The exit code: EX_OSERR of sysexits.h."""
_MESSAGE: Final = b"The server had no memory left, and ends. What was acknowledged is stored.\n"
_LOGGERS: Final = ("asyncio", "concurrent.futures")
"""Of libraries that log an error in a callback, and then go on without it."""


def end_without_memory() -> NoReturn:
    """End the process with `NO_MEMORY`. Allocates as good as nothing."""
    try:
        os.write(2, _MESSAGE)
    finally:
        os._exit(NO_MEMORY)


def end_where_memory_lacks() -> None:
    """Have each lack of memory that nobody handles end the process, in whatever thread it is."""
    threading.excepthook = _in_thread
    sys.unraisablehook = _unraisable
    for name in _LOGGERS:
        logging.getLogger(name).addHandler(_EndingHandler())


def _in_thread(arguments: threading.ExceptHookArgs) -> None:
    _end_if_lacking(arguments.exc_value)
    threading.__excepthook__(arguments)


def _unraisable(arguments: "sys.UnraisableHookArgs") -> None:
    _end_if_lacking(arguments.exc_value)
    sys.__unraisablehook__(arguments)


class _EndingHandler(logging.Handler):
    @override
    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            _end_if_lacking(record.exc_info[1])


def _end_if_lacking(error: BaseException | None) -> None:
    if error is not None and lacks_memory(error):
        end_without_memory()
