"""Which stored workspace holds a conversation."""

import threading
from collections.abc import Iterable

from coppice.errors import StorageFailedError
from coppice.store.conversation_ids import Stamp, conversation_ids, stamp_of
from coppice.store.engines import name_of


class ConversationIndex:
    """The ids in every stored workspace, read again only where the file changed since. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stores: dict[str, tuple[Stamp, frozenset[str]]] = {}

    def find(self, conversation_id: str, urls: Iterable[str]) -> tuple[str | None, list[str]]:
        """The URL of the store that holds a conversation, and a sentence for each that cannot be read."""
        failures: list[str] = []
        with self._lock:
            for url in urls:
                try:
                    ids = self._ids(url)
                except StorageFailedError as error:
                    failures.append(f"{name_of(url)}: {error}")
                    continue
                if conversation_id in ids:
                    return url, failures
        return None, failures

    def _ids(self, url: str) -> frozenset[str]:
        # Taken before the file is read: what changes meanwhile is read the next time.
        stamp = stamp_of(url)
        known = self._stores.get(url)
        if known is None or known[0] != stamp:
            known = self._stores[url] = (stamp, conversation_ids(url))
        return known[1]
