"""The stores that a process of `worker_process` reads: open as long as one call takes."""

from typing import Final

from coppice.errors import StorageFailedError
from coppice.store.engines.choosing import is_missing, name_of
from coppice.store.store import Store

_OPEN: Final[dict[str, Store]] = {}


def reopened_store(url: str) -> Store:
    """The store at `url`, opened if it is not; a file that is gone is not made anew.

    Raises StorageFailedError.
    """
    store = _OPEN.get(url)
    if store is None:
        if is_missing(url):
            raise StorageFailedError(
                f"{name_of(url)}, a file of conversations, was deleted or moved while it was open. Put it "
                "back, or restart the server to work with what is there now."
            )
        store = _OPEN[url] = Store.open(url, server_id="worker", index_idle_seconds=None)
    return store


def close_stores() -> None:
    """Closes what was opened."""
    while _OPEN:
        _OPEN.popitem()[1].close()
