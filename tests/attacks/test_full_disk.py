"""On a full disk, a real one of a few megabytes, deleting a conversation makes room."""

import shutil
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from attacks.store_attacks import filled_store, opened, url_of
from store.store_kit import NOW, new_conversation, user
from waiting import PATIENCE

from coppice.errors import StorageFailedError
from coppice.store.engines.disk_reserve import DiskReserve
from coppice.store.repair.copying import repair
from coppice.store.store import Store
from coppice.store.tree import purging


def fill(store: Store, disk: Path) -> None:
    """Stores entries in `large` until nothing fits, then takes every byte that is left."""
    store.create(new_conversation("large"))
    with pytest.raises(StorageFailedError, match="Free some space"):
        append_forever(store)
    take_what_is_left(disk / "other")
    with pytest.raises(StorageFailedError, match="Free some space"):
        append_forever(store)


def append_forever(store: Store) -> None:
    while True:
        store.append("large", [user("x" * 3_000) for _ in range(50)], modified_at=NOW)


def take_what_is_left(path: Path) -> None:
    with path.open("wb", buffering=0) as file, suppress(OSError):
        file.write(b"x" * (shutil.disk_usage(path.parent).free + 4096))
    assert shutil.disk_usage(path.parent).free == 0


def test_deleting_a_conversation_on_a_full_disk_makes_room(small_disk: Path) -> None:
    path = small_disk / "store" / "trees.sqlite3"
    filled_store(path)
    with opened(path) as store:
        fill(store, small_disk)
        store.delete("large")
        store.append("c0", [user(entry_id="goes on")], modified_at=NOW)
        store._purger.wait()
        assert shutil.disk_usage(small_disk).free > 16 * 2**20
        assert DiskReserve(path.parent).is_kept()
        assert {each.id for each in store.conversations(limit=9)[0]} == {"c0", "c1", "c2"}
        assert "goes on" in {entry.id for entry in store.all_entries("c0")}
        assert store.damages() == []


def test_an_append_after_a_deletion_on_a_full_disk_waits_for_the_space(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small_disk / "store" / "trees.sqlite3"
    filled_store(path)
    may_purge = threading.Event()
    step = purging.Purger._purge_rows

    def step_late(purger: purging.Purger) -> bool:
        assert may_purge.wait(PATIENCE)
        return step(purger)

    monkeypatch.setattr(purging.Purger, "_purge_rows", step_late)
    with opened(path) as store:
        fill(store, small_disk)
        store.delete("large")
        take_what_is_left(small_disk / "more")
        await_space = store._database.await_space
        refused = []

        def purge_once_refused() -> None:
            refused.append(shutil.disk_usage(small_disk).free)
            may_purge.set()
            await_space()

        store._database.await_space = purge_once_refused
        store.append("c0", [user("x" * 1_000_000, entry_id="goes on")], modified_at=NOW)
        assert refused == [0]
        assert "goes on" in {entry.id for entry in store.all_entries("c0")}
        assert store.damages() == []


def test_a_store_is_opened_on_a_full_disk_to_delete_from_it(small_disk: Path) -> None:
    path = small_disk / "store" / "trees.sqlite3"
    filled_store(path)
    with opened(path) as store:
        fill(store, small_disk)
    take_what_is_left(small_disk / "more")
    with opened(path) as store:
        store.delete("large")
        store._purger.wait()
        assert shutil.disk_usage(small_disk).free > 8 * 2**20


def test_a_store_that_was_closed_well_is_opened_on_a_full_disk_to_delete_from_it(small_disk: Path) -> None:
    path = small_disk / "store" / "trees.sqlite3"
    filled_store(path)
    assert DiskReserve(path.parent).is_kept()
    take_what_is_left(small_disk / "other")
    with opened(path) as store:
        store.delete("c1")
        assert {each.id for each in store.conversations(limit=9)[0]} == {"c0", "c2"}
        assert store.damages() == []


def test_a_repair_for_which_the_disk_has_no_room_says_so(small_disk: Path) -> None:
    path = small_disk / "trees.sqlite3"
    filled_store(path)
    content = path.read_bytes()
    take_what_is_left(small_disk / "other")
    with pytest.raises(StorageFailedError, match="is full"):
        repair(url_of(path))
    assert path.read_bytes() == content
