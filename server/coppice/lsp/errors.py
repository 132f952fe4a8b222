"""Failures as JSON-RPC errors: what a client may know of them, and what stays in the log."""

import asyncio
import errno
import logging
import traceback
from typing import Any, Final

from lsprotocol.types import ErrorCodes, LSPErrorCodes, ResponseError
from pydantic import ValidationError

from coppice.errors import CoppiceError, OutOfMemoryError, StorageFailedError

MAX_ERRORS: Final = 50  # problems of one request that are listed: a screen full
MAX_TEXT: Final = 400  # characters of a name in a problem's path: some lines, since a client may send any key

_NO_DESCRIPTOR: Final = frozenset({errno.EMFILE, errno.ENFILE})
_OPEN_FILES: Final = (
    "The server has no file descriptor left. Try again in a moment, or raise the limit of open files "
    "(ulimit -n)."
)
_MEMORY: Final = (
    "The server has no memory left for this. Close other programs, read what is stored now, and try again."
)
_NO_THREAD: Final = frozenset({"can't start new thread", "can't allocate lock"})
"""CPython raises nothing more exact than a RuntimeError with one of these."""
_NO_SEGMENT: Final = "failed to map segment from shared object"  # of glibc, for a module in C

_log = logging.getLogger(__name__)


class WireError(Exception):
    """A message that is answered with a JSON-RPC error of the given code and nothing else."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class ParamsError(WireError):
    """Params that do not fit their model. Set apart from a `ValidationError` out of the server's own work."""

    def __init__(self, cause: ValidationError) -> None:
        super().__init__(ErrorCodes.InvalidParams, "The params do not fit.")
        self.cause = cause


def to_response_error(error: BaseException, method: str) -> ResponseError:
    """The error response for `error`, in which `method` ended. Unexpected errors are logged as well."""
    if isinstance(error, ParamsError):
        return _bad_params(method, error.cause)
    if isinstance(error, WireError):
        return ResponseError(code=error.code, message=str(error))
    if isinstance(error, CoppiceError):
        data = {**error.data, "code": error.code}
        return ResponseError(code=LSPErrorCodes.RequestFailed, message=str(error), data=data)
    if isinstance(error, asyncio.CancelledError):
        return ResponseError(code=LSPErrorCodes.RequestCancelled, message="The request was cancelled.")
    if isinstance(error, OSError) and error.errno in _NO_DESCRIPTOR:
        return to_response_error(StorageFailedError(_OPEN_FILES), method)
    if lacks_memory(error):
        return to_response_error(OutOfMemoryError(_MEMORY), method)
    log_unforeseen(error, method)
    return ResponseError(code=ErrorCodes.InternalError, message="internal error")


def lacks_memory(error: BaseException) -> bool:
    """Whether memory, or what takes memory, could not be had."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    if isinstance(error, ImportError):
        return str(error).endswith(_NO_SEGMENT)
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and str(error) in _NO_THREAD)


def log_unforeseen(error: BaseException, where: str) -> None:
    """Log where `error` came about, without its message: that may quote a conversation or a credential."""
    chain: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        frames = "".join(traceback.format_tb(seen.__traceback__))
        chain.append(f"{type(seen).__module__}.{type(seen).__qualname__}\n{frames}")
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    _log.error("%s failed: %s", where, "caused by ".join(chain))


def log_unusable(method: str) -> None:
    """Log that a notification's params made no sense."""
    _log.warning("%s was ignored: its params do not fit.", method)


def _bad_params(method: str, error: ValidationError) -> ResponseError:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    errors = [
        {"type": one["type"], "loc": [_short(part) for part in one["loc"]], "msg": _short(one["msg"])}
        for one in problems[:MAX_ERRORS]
    ]
    first = errors[0]
    at = ".".join(str(part) for part in first["loc"]) or "params"
    return ResponseError(
        code=ErrorCodes.InvalidParams, message=f"{method}: {at}: {first['msg']}", data={"errors": errors}
    )


def _short(part: Any) -> Any:
    return part[: MAX_TEXT - 1] + "…" if isinstance(part, str) and len(part) > MAX_TEXT else part
