"""Which stored workspace holds a conversation."""

import threading
import time
from collections.abc import Iterable
from typing import Final

from coppice.errors import StorageFailedError
from coppice.store.engines.choosing import name_of
from coppice.store.tree.conversation_ids import Stamp, conversation_ids, stamp_of

LOCKED_SECONDS: Final = 1.0
"""How long a search waits for locks, on all stores together.

SQLite locks a store for milliseconds while it is closed.
"""


class ConversationIndex:
    """The ids in every stored workspace, read again only where the file changed since. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stores: dict[str, tuple[Stamp, frozenset[str]]] = {}

    def find(self, conversation_id: str, urls: Iterable[str]) -> tuple[str | None, list[str]]:
        """The URL of the store that holds a conversation; else a sentence for each that cannot be read.

        Stores that are locked are waited for only if no other one holds it.
        """
        with self._lock:
            home, failures = self._search(conversation_id, urls, busy_seconds=0.0)
            if home is None and failures:
                home, failures = self._search(conversation_id, failures, busy_seconds=LOCKED_SECONDS)
        return home, list(failures.values())

    def _search(
        self, conversation_id: str, urls: Iterable[str], *, busy_seconds: float
    ) -> tuple[str | None, dict[str, str]]:
        until = time.monotonic() + busy_seconds
        failures: dict[str, str] = {}
        for url in urls:
            try:
                ids = self._ids(url, max(0.0, until - time.monotonic()))
            except StorageFailedError as error:
                failures[url] = f"{name_of(url)}: {error}"
                continue
            if conversation_id in ids:
                return url, {}
        return None, failures

    def _ids(self, url: str, busy_seconds: float) -> frozenset[str]:
        # Taken before the file is read: what changes meanwhile is read the next time.
        stamp = stamp_of(url)
        cached = self._stores.get(url)
        if cached is None or cached[0] != stamp:
            cached = self._stores[url] = (stamp, conversation_ids(url, busy_seconds=busy_seconds))
        return cached[1]
