"""Stores that are closed when the test is over."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from store.store_kit import new_conversation

from coppice.store.store import Store

OpenStore = Callable[..., Store]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store' / 'trees.sqlite3'}"


@pytest.fixture
def open_store(url: str) -> Iterator[OpenStore]:
    """Opens the test's store, as another server each time it is called with another name."""
    opened: list[Store] = []

    def open_one(server_id: str = "one", *, busy_seconds: float = 10.0) -> Store:
        store = Store.open(url, server_id=server_id, busy_seconds=busy_seconds)
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    return open_store()


@pytest.fixture
def conversation(store: Store) -> str:
    """The id of an empty conversation."""
    return store.create(new_conversation()).id
