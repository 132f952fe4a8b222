"""Functions that compute on the text of a conversation, called in processes of their own.

A regular expression holds the interpreter, whatever thread it runs in: one that takes minutes would keep
every request waiting, and could not be stopped. A process can be ended.
"""

import atexit
import logging
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

from coppice.errors import WorkTooLongError
from coppice.service.core.worker_main import SIZE_BYTES
from coppice.service.core.workers import STOPPING, Stopping
from coppice.tokens.counting import CHARS_PER_TOKEN

MOST_PROCESSES: Final = 2
"""That compute at a time. Each has some 80 MB; in two a short piece of work passes a long one."""
IDLE_SECONDS: Final = 60.0
"""How long a process waits for more work. It takes half a second to start."""
SMALL_TOKENS: Final = 4_000
"""Work on fewer tokens is done where it is asked for: most tests, and the first minutes of a conversation.

A pattern that takes quadratic time takes 0.15 s for so much text.
"""

_LEAST_SECONDS: Final = 60.0
"""As long as clients that are made with MCP's own SDK wait for an answer."""
_TOKENS_PER_SECOND: Final = 5_000
"""A process is given that long, and a second more for so many tokens: some two hundred times what a whole
compaction takes (docs/benchmarks.md)."""
_WAIT_SECONDS: Final = 0.1
"""Between two looks whether a caller that waits for a process is still wanted."""

_log: Final = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


def call_in_process(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of a function of a module, in another process where its arguments are long. Blocks.

    The function and its arguments, its result and what it raises are pickled. The process is ended when the
    work of the calling thread is stopped.

    Raises:
        WorkTooLongError: it took longer than such arguments should, or its process was ended.
        StoppedError: nobody waits for the result any more.
    """
    call = pickle.dumps((function, args, kwargs))
    return _called(call, len(call) // CHARS_PER_TOKEN, partial(function, *args, **kwargs))


def call_on_tokens(tokens: int, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """As `call_in_process`, for arguments that only name what is worked on, so many tokens."""
    call = pickle.dumps((function, args, kwargs))
    return _called(call, tokens, partial(function, *args, **kwargs))


def _called(call: bytes, tokens: int, here: Callable[[], T]) -> T:
    if tokens < SMALL_TOKENS:
        return here()
    stopping = STOPPING.get(None) or Stopping()
    seconds = _LEAST_SECONDS + tokens / _TOKENS_PER_SECOND
    with _borrowed(stopping) as process:
        if process is None:
            return here()
        with stopping.calling(process.end):
            try:
                result: T = process.call(call, seconds)
            except WorkTooLongError:
                stopping.check()
                raise
            return result


def _environment() -> dict[str, str]:
    """Ours, without the places of modules that are relative to the current folder: an empty one is that."""
    places = filter(os.path.isabs, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    return os.environ | {"PYTHONPATH": os.pathsep.join(places)}


class _Process:
    """A process that carries out one call after the other."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            # Without the current folder, which may be a checkout, and without variables that we ignore.
            [
                *(sys.executable, "-P", *(["-E"] if sys.flags.ignore_environment else [])),
                *("-m", "coppice.service.core.worker_main", str(os.getpid())),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
        )
        self._is_ended = False

    @property
    def ended(self) -> bool:
        """Whether it takes no more calls. The system reports its end some time after what ended it."""
        return self._is_ended or self._process.poll() is not None

    def end(self) -> None:
        self._is_ended = True
        self._process.kill()

    def close(self) -> None:
        """Ends it, and gives its pipes back."""
        self.end()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert stream is not None  # noqa: S101 - they are pipes
                stream.close()

    def call(self, call: bytes, seconds: float) -> Any:
        sender, receiver = self._process.stdin, self._process.stdout
        assert sender is not None  # noqa: S101
        assert receiver is not None  # noqa: S101
        timer = threading.Timer(seconds, self.end)
        timer.daemon = True
        timer.start()
        try:
            sender.write(len(call).to_bytes(SIZE_BYTES) + call)
            sender.flush()
            failure, result = pickle.load(receiver)  # noqa: S301 - a process of our own wrote it
        except (OSError, EOFError, pickle.UnpicklingError):
            self._is_ended = True
            raise WorkTooLongError(
                f"To compute this took longer than {seconds:,.0f} seconds, or more memory than there is; it "
                "was stopped and nothing was changed. Please report it, with the text if you can.",
                seconds=round(seconds),
            ) from None
        finally:
            timer.cancel()
            timer.join()  # it ends no later call
        if failure is not None:
            raise failure
        return result


class _Pool:
    """The processes that wait for work; at most one is kept for long."""

    def __init__(self) -> None:
        self.free = threading.Semaphore(MOST_PROCESSES)
        self._idle: list[_Process] = []
        self._lock = threading.Lock()
        self._expiry: threading.Timer | None = None
        # On Linux a process ends with the thread that started it; this one stays.
        self._starter = ThreadPoolExecutor(1, "coppice-worker-start")

    def take(self) -> _Process:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if not process.ended:
                    return process
                process.close()
        return self._starter.submit(_Process).result()

    def put(self, process: _Process) -> None:
        with self._lock:
            self._idle.append(process)
            if self._expiry is not None:
                self._expiry.cancel()
            self._expiry = threading.Timer(IDLE_SECONDS, self.end_idle)
            self._expiry.daemon = True
            self._expiry.start()

    def end_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.close()


_POOL: Final = _Pool()
atexit.register(_POOL.end_idle)


@contextmanager
def _borrowed(stopping: Stopping) -> Iterator[_Process | None]:
    """None where no process can be started: no descriptor is free, for instance."""
    while not _POOL.free.acquire(timeout=_WAIT_SECONDS):
        stopping.check()
    try:
        stopping.check()  # what is cancelled may be the next whose turn it is
        try:
            process = _POOL.take()
        except OSError as error:
            _log.warning("No process can be started, the server computes itself: %s.", error.strerror)
            yield None
            return
        try:
            yield process
        finally:
            if process.ended:
                process.close()
            else:
                _POOL.put(process)
    finally:
        _POOL.free.release()
