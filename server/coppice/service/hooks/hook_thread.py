"""The thread in which an extension's hook runs, and how it is stopped."""

import asyncio
import contextlib
import ctypes
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from inspect import isawaitable
from typing import Any

from coppice.service.hooks.hook_context import HookContext, HookStoppedError


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
