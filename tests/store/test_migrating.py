"""A store is opened as what it is: new, of this version, older or newer."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from store.conftest import OpenStore
from store.store_kit import NOW, new_conversation, user

from coppice.errors import StorageFailedError
from coppice.store.engines.choosing import database
from coppice.store.engines.engine import Database
from coppice.store.engines.migrations import MIGRATIONS, Migration, migrate
from coppice.store.store import Store

NEWEST = MIGRATIONS[-1].number


@pytest.fixture
def filled(url: str) -> str:
    """The URL of a closed store with one entry."""
    store = Store.open(url, server_id="filler", index_idle_seconds=None)
    store.create(new_conversation("kept"))
    store.append("kept", [user("An oak by the gate.", "a")], modified_at=NOW)
    store.close()
    return url


def change_by_hand(url: str, *statements: str) -> None:
    opened = database(url, 1)
    with opened.writing() as connection:
        for statement in statements:
            connection.execute(text(statement))
    opened.close()


def test_a_store_opens_again_with_what_was_in_it(filled: str, open_store: OpenStore) -> None:
    del filled
    assert [entry.id for entry in open_store().all_entries("kept")] == ["a"]


def test_a_new_store_may_be_opened_by_many_at_once(open_store: OpenStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(lambda number: open_store(f"server {number}"), range(8)))
    for store in stores:
        store.create(new_conversation())
    assert len(stores[0].conversations(limit=20)[0]) == 8


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    for use in (
        store.changes,
        lambda: store.conversations(limit=1),
        lambda: store.create(new_conversation()),
    ):
        with pytest.raises(StorageFailedError, match="closed"):
            use()


def test_a_newer_store_is_refused(filled: str, open_store: OpenStore) -> None:
    change_by_hand(filled, "UPDATE coppice_schema SET version = 99")
    with pytest.raises(StorageFailedError, match="newer Coppice") as refused:
        open_store()
    assert refused.value.data["found"] == 99


def add_colour(_: Database, connection: Connection) -> None:
    connection.execute(text("ALTER TABLE conversation ADD COLUMN colour TEXT"))


def break_down(opened: Database, connection: Connection) -> None:
    add_colour(opened, connection)
    connection.execute(text("SELECT nothing FROM nowhere"))


def test_an_older_store_is_migrated(filled: str) -> None:
    opened = database(filled, 1)
    migrate(opened, [Migration(NEWEST + 1, add_colour)])
    with opened.reading() as connection:
        assert connection.execute(text("SELECT id, colour FROM conversation")).all() == [("kept", None)]
        assert connection.execute(text("SELECT version FROM coppice_schema")).scalar() == NEWEST + 1
    opened.close()


def test_a_file_is_copied_before_it_is_migrated(sqlite_url: str) -> None:
    store = Store.open(sqlite_url, server_id="filler")
    store.create(new_conversation("kept"))
    store.close()
    opened = database(sqlite_url, 1)
    migrate(opened, [Migration(NEWEST + 1, add_colour)])
    opened.close()
    backup = Path(f"{sqlite_url.removeprefix('sqlite:///')}.version-{NEWEST}.backup")
    assert sys.platform == "win32" or backup.stat().st_mode & 0o777 == 0o600
    restored = Store.open(f"sqlite:///{backup}", server_id="one")
    assert restored.conversation("kept").id == "kept"
    restored.close()


def test_a_migrated_store_is_not_migrated_again(filled: str) -> None:
    step = Migration(NEWEST + 1, add_colour)
    for _ in range(2):
        opened = database(filled, 1)
        migrate(opened, [step])
        opened.close()
    with pytest.raises(StorageFailedError, match="newer"):
        Store.open(filled, server_id="one")


def test_servers_that_migrate_at_once_migrate_once(filled: str) -> None:
    def migrate_it(_: int) -> None:
        opened = database(filled, 10)
        migrate(opened, [Migration(NEWEST + 1, add_colour)])
        opened.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrate_it, range(4)))


def test_a_migration_that_fails_leaves_the_store_as_it_was(filled: str, open_store: OpenStore) -> None:
    opened = database(filled, 1)
    steps = [Migration(NEWEST + 1, add_colour), Migration(NEWEST + 2, break_down)]
    with pytest.raises(StorageFailedError):
        migrate(opened, steps)
    opened.close()
    assert [entry.id for entry in open_store().all_entries("kept")] == ["a"]
