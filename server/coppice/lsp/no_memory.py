"""Ends a server in which a lack of memory reached nobody who answers for it.

A request that lacks memory is refused as `out-of-memory`. Where a callback, a thread or a finalizer lacks
it, an answer or a wake-up may be missing for ever: the process ends, and its client starts another one.
"""

import logging
import os
import sys
import threading
from typing import Final, NoReturn

from typing_extensions import override

from coppice.lsp.errors import lacks_memory

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
