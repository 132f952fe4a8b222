"""The thread in which an extension's hook runs, what the hook is given, and how it is stopped."""

import asyncio
import contextlib
import ctypes
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from functools import partial
from inspect import isawaitable
from typing import Any

from coppice.tree.entries import Entry


class HookStoppedError(BaseException):
    """Raised in a hook that nobody waits for any more. No `Exception`, so that a hook does not catch it."""


class HookContext:
    """Passed to a hook that has a parameter `context`. Its methods may be called in any thread.

    When the work is cancelled, or the hook is late, `stopped` becomes true; then a hook that is an
    `async def` is cancelled, and in any other HookStoppedError is raised at the next line of Python.
    """

    def __init__(
        self, entries: Callable[[], Iterator[Entry]], on_model: Callable[[str], None] = lambda _model: None
    ) -> None:
        self._entries = entries
        self._on_model = on_model
        self._stopped = threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether the hook is late or its work was cancelled: it should return."""
        return self._stopped.is_set()

    def check(self) -> None:
        """Raise HookStoppedError when the hook is to stop."""
        if self.stopped:
            raise HookStoppedError

    def wait(self, seconds: float) -> None:
        """Sleep. Raises HookStoppedError as soon as the hook is to stop."""
        if self._stopped.wait(seconds):
            raise HookStoppedError

    def entries(self) -> Iterator[Entry]:
        """Every entry of the branch from its root on, read in pieces as the iteration goes on. Blocks."""
        for entry in self._entries():
            self.check()
            yield entry.model_copy(deep=True)  # other readers have the same in memory

    def asks_model(self, model: str) -> None:
        """Announce that the hook asks a model now, which progress then names.

        From this call on the hook has `hooks.modelTimeoutSeconds` to answer.
        """
        self.check()
        self._on_model(model)

    def stop(self) -> None:
        """Have the hook stop. Called by the server."""
        self._stopped.set()


class HookFailedError(Exception):
    """A hook that gave no answer. `str(error)` is the reason, without text of the hook's own."""


class HookThread:
    """One call of a hook, in a daemon thread, so that whatever it does holds up nobody else.

    `answer` is what the hook returns, or HookFailedError.
    """

    def __init__(self, name: str, call: Callable[[], Any], context: HookContext) -> None:
        self.answer: Future[Any] = Future()
        self.answer.set_running_or_notify_cancel()
        self._call = call
        self._context = context
        self._lock = threading.Lock()
        self._stop: Callable[[], object] | None = None
        self._thread = threading.Thread(target=self._run, name=f"coppice-hook-{name}", daemon=True)
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether a hook's code still runs in it."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Stop the hook: at its next `await`, or at the next line of Python that it runs.

        Code that waits outside of Python, for a socket for instance, goes on until that returns.
        """
        self._context.stop()
        with self._lock, contextlib.suppress(RuntimeError):  # its loop has closed: it has ended
            if self._stop is not None:
                self._stop()

    def _run(self) -> None:
        with contextlib.suppress(HookStoppedError):
            try:
                value = self._called()
            except BaseException as error:  # noqa: BLE001 - whatever an extension does, the server goes on
                self.answer.set_exception(HookFailedError(f"it raised {type(error).__name__}"))
            else:
                self.answer.set_result(value)

    def _called(self) -> Any:
        with self._lock:
            self._context.check()
            self._stop = partial(_raise_in, threading.get_ident())
        try:
            value = self._call()
            return asyncio.run(self._awaited(value)) if isawaitable(value) else value
        finally:
            with self._lock:
                self._stop = None

    async def _awaited(self, value: Awaitable[Any]) -> Any:
        task, loop = asyncio.ensure_future(value), asyncio.get_running_loop()
        with self._lock:
            self._stop = partial(loop.call_soon_threadsafe, task.cancel)
        if self._context.stopped:
            task.cancel()
        return await task


def _raise_in(thread_id: int) -> None:
    """Raise HookStoppedError in a thread, before the next instruction of Python that it runs."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread_id), ctypes.py_object(HookStoppedError))
