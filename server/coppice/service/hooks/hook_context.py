"""What an extension's hook is given with its question: a signal to stop, entries to read, and more time."""

import threading
from collections.abc import Callable, Iterator

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
            yield entry

    def asks_model(self, model: str) -> None:
        """Announce that the hook asks a model now, which progress then names.

        From this call on the hook has `hooks.modelTimeoutSeconds` to answer.
        """
        self.check()
        self._on_model(model)

    def stop(self) -> None:
        """Have the hook stop. Called by the server."""
        self._stopped.set()
