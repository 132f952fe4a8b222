"""Stores that are closed when the test is over."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from postgres_server import fresh_schema, postgres
from store.store_kit import new_conversation

from coppice.store.store import Store

__all__ = ["postgres"]

OpenStore = Callable[..., Store]


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store' / 'trees.sqlite3'}"


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest) -> Iterator[str]:
    with fresh_schema(request.getfixturevalue("postgres")) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """Where the test's store is, once on each engine."""
    store_url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return store_url


@pytest.fixture
def open_store(url: str) -> Iterator[OpenStore]:
    """Opens the test's store, as another server each time it is called with another name.

    Nothing is indexed but by a search, so that no test meets a writer that it does not know.
    """
    opened: list[Store] = []

    def open_one(
        server_id: str = "one", *, busy_seconds: float = 10.0, index_idle_seconds: float | None = None
    ) -> Store:
        store = Store.open(
            url, server_id=server_id, busy_seconds=busy_seconds, index_idle_seconds=index_idle_seconds
        )
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
