"""Brings the stored transcripts of the workspace up to date before they are read."""

import asyncio
import threading
from concurrent.futures import Future, wait
from typing import Final

from coppice.errors import sentence_of
from coppice.service.conversations.following import Updated
from coppice.service.service import Service

_WAIT_SECONDS: Final = 5.0
"""Seconds that a call waits for an update. The first of 10,000 transcripts takes about a minute."""


class Transcripts:
    """Updates in a thread, one at a time. Thread-safe."""

    def __init__(self, service: Service, workspace: str) -> None:
        self._service = service
        self._workspace = workspace
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: Future[Updated] | None = None

    def update(self) -> str | None:
        """Store what is new; a sentence when that lasts longer than a call may wait, or fails."""
        with self._lock:
            running = self._running = self._running or self._started()
        wait([running], timeout=_WAIT_SECONDS)
        if not running.done():
            return "Transcripts of this project are still being read; ask again in a moment."
        with self._lock:
            if self._running is running:
                self._running = None
        error = running.exception()
        if error is None:
            return None
        reason = sentence_of(error, type(error).__name__)
        return f"What agents wrote since the last call could not be read: {reason}"

    def _started(self) -> Future[Updated]:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, daemon=True, name="coppice-transcripts").start()
        return asyncio.run_coroutine_threadsafe(self._service.following.update(self._workspace), self._loop)
