"""A database file that is taken away or changed while a server has it open."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from attacks.store_attacks import filled_store, opened, url_of
from store.store_kit import NOW, user

from coppice.errors import StorageFailedError
from coppice.store.engines.disk_reserve import RESERVE_NAME
from coppice.store.store import Store


def delete(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def replace(path: Path) -> None:
    shutil.copy(path, path.with_name("backup"))
    path.with_name("backup").replace(path)


def replace_by_a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.with_name("other").write_bytes(b"other")
    path.symlink_to("other")


def empty(path: Path) -> None:
    os.truncate(path, 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store" / "trees.sqlite3"
    filled_store(path)
    return path


@pytest.mark.parametrize("change", [delete, move, replace, replace_by_a_link, empty])
def test_a_write_to_a_file_that_is_not_there_any_more_is_refused(
    path: Path, change: Callable[[Path], None]
) -> None:
    with opened(path) as store:
        store.append("c0", [user(entry_id="before")], modified_at=NOW)
        change(path)
        for number in range(20):
            with pytest.raises(StorageFailedError, match="while it was open"):
                store.append("c0", [user(entry_id=f"lost-{number}")], modified_at=NOW)
        with pytest.raises(StorageFailedError, match="while it was open"):
            store.delete("c1")
        assert path.exists() is (change not in {delete, move})


def test_a_change_during_the_transaction_is_refused_too(path: Path) -> None:
    with (
        opened(path) as store,
        pytest.raises(StorageFailedError, match="replaced") as refused,
        store._database.writing(),
    ):
        replace(path)
    assert refused.value.data["uncertain"] is True


def test_a_file_that_comes_back_is_written_to_again(path: Path) -> None:
    with opened(path) as store:
        move(path)
        with pytest.raises(StorageFailedError, match="deleted or moved"):
            store.append("c0", [user()], modified_at=NOW)
        path.with_name("elsewhere").rename(path)
        store.append("c0", [user(entry_id="after")], modified_at=NOW)
    with opened(path) as store:
        assert store.entry("c0", "after").id == "after"


def test_reads_and_the_watch_make_no_file_where_one_was_deleted(path: Path) -> None:
    with opened(path) as store:
        store.rest()
        delete(path)
        for read in (store.changes, lambda: store.conversation("c0")):
            with pytest.raises(StorageFailedError):
                read()
        assert not path.exists()


def test_a_file_that_became_empty_is_not_begun_anew(path: Path) -> None:
    empty(path)
    with pytest.raises(StorageFailedError, match="empty"):
        Store.open(url_of(path), server_id="one")
    assert path.stat().st_size == 0


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.sqlite3")
    with pytest.raises(StorageFailedError, match="regular file"):
        Store.open(url_of(tmp_path / "fifo.sqlite3"), server_id="one")


def test_a_new_file_is_never_seen_half_made(tmp_path: Path) -> None:
    seen: list[int] = []
    path = tmp_path / "trees.sqlite3"
    original = os.link

    def watched(source: str | Path, target: str | Path, **more: bool) -> None:
        assert not path.exists()
        original(source, target, **more)
        seen.append(path.stat().st_size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "link", watched)
        Store.open(url_of(path), server_id="one").close()
    assert seen[0] > 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert {file.name for file in tmp_path.iterdir()} == {"trees.sqlite3", RESERVE_NAME}
