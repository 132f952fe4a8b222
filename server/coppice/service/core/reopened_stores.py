"""The stores that a process of `worker_process` reads: open as long as one call takes."""

from typing import Final

from coppice.store.store import Store

_OPEN: Final[dict[str, Store]] = {}


def reopened_store(url: str) -> Store:
    """The store at `url`, opened if it is not. Raises StorageFailedError."""
    store = _OPEN.get(url)
    if store is None:
        store = _OPEN[url] = Store.open(url, server_id="worker", index_idle_seconds=None)
    return store


def close_stores() -> None:
    """Closes what was opened."""
    while _OPEN:
        _OPEN.popitem()[1].close()
