"""Opening a store in a file: what is made, what is refused, what is left alone."""

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from store.conftest import OpenStore
from store.store_kit import NOW, new_conversation, user
from systems import needs_modes

from coppice.errors import StorageFailedError
from coppice.store.engines.disk_reserve import RESERVE_NAME
from coppice.store.store import Store

NOBODY = 65534


def path_in(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def url(sqlite_url: str) -> str:
    return sqlite_url


@pytest.fixture
def filled(url: str) -> Path:
    """The file of a closed store with one entry."""
    store = Store.open(url, server_id="filler")
    store.create(new_conversation("kept"))
    store.append("kept", [user(entry_id="a")], modified_at=NOW)
    store.close()
    return path_in(url)


@needs_modes
def test_only_the_owner_may_read_the_files(url: str, open_store: OpenStore) -> None:
    before = os.umask(0)
    try:
        open_store().create(new_conversation())
    finally:
        os.umask(before)
    folder = path_in(url).parent
    assert mode(folder) == 0o700
    assert {path.name: mode(path) for path in folder.iterdir()} == {
        "trees.sqlite3": 0o600,
        "trees.sqlite3-wal": 0o600,
        "trees.sqlite3-shm": 0o600,
        RESERVE_NAME: 0o600,
    }


@needs_modes
def test_a_file_that_others_could_read_is_closed_to_them(filled: Path, open_store: OpenStore) -> None:
    filled.chmod(0o644)
    open_store()
    assert mode(filled) == 0o600


def test_commits_are_synced_and_the_journal_is_a_write_ahead_log(store: Store) -> None:
    with store._database.reading() as connection:  # the settings of the store's own connections
        pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        values = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas]
    assert values == ["wal", 2, 1, 10_000]


def test_a_path_with_odd_characters_is_a_path(tmp_path: Path) -> None:
    odd = tmp_path / "a b" / "50% #1 木.sqlite3"
    store = Store.open(f"sqlite:///{odd}", server_id="one")
    store.create(new_conversation())
    store.close()
    assert odd.is_file()


@pytest.mark.parametrize(
    "content",
    [
        b"This is a text, long enough to be none of SQLite's." * 40,
        b"\0" * 4096,
        b"SQLite format 3\0" + b"\xff" * 8000,
    ],
    ids=["text", "zeros", "broken"],
)
def test_a_file_that_is_no_database_is_refused_untouched(
    url: str, open_store: OpenStore, content: bytes
) -> None:
    path_in(url).parent.mkdir()
    path_in(url).write_bytes(content)
    with pytest.raises(StorageFailedError) as refused:
        open_store()
    assert path_in(url).read_bytes() == content
    assert {path.name for path in path_in(url).parent.iterdir()} == {"trees.sqlite3", RESERVE_NAME}
    assert str(path_in(url).parent) not in str(refused.value)


def test_the_database_of_another_program_is_refused_untouched(url: str, open_store: OpenStore) -> None:
    path_in(url).parent.mkdir()
    other = sqlite3.connect(path_in(url))
    other.execute("CREATE TABLE recipe (name TEXT)")
    other.close()
    before = path_in(url).read_bytes()
    with pytest.raises(StorageFailedError, match="another program"):
        open_store()
    assert path_in(url).read_bytes() == before


def test_a_damaged_store_is_refused_with_a_sentence(filled: Path, open_store: OpenStore) -> None:
    damaged = bytearray(filled.read_bytes())
    damaged[100:4096] = b"\xa5" * 3996
    filled.write_bytes(damaged)
    with pytest.raises(StorageFailedError, match="damaged"):
        open_store()
    assert filled.read_bytes() == damaged


def test_damage_inside_a_store_is_reported_and_found_by_the_check(
    filled: Path, open_store: OpenStore
) -> None:
    raw = sqlite3.connect(filled)
    [size] = raw.execute("PRAGMA page_size").fetchone()
    [page] = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entry'").fetchone()
    raw.close()
    damaged = bytearray(filled.read_bytes())
    damaged[(page - 1) * size : page * size] = b"\xa5" * size
    filled.write_bytes(damaged)
    store = open_store()
    assert store.damages() != []
    with pytest.raises(StorageFailedError, match="damaged"):
        store.entry("kept", "a")


def test_a_newer_store_is_refused_untouched(filled: Path, open_store: OpenStore) -> None:
    raw = sqlite3.connect(filled)
    raw.execute("UPDATE coppice_schema SET version = 99")
    raw.commit()
    raw.close()
    before = filled.read_bytes()
    with pytest.raises(StorageFailedError, match="newer Coppice") as refused:
        open_store()
    assert refused.value.data["found"] == 99
    assert filled.read_bytes() == before


@pytest.mark.parametrize("url", ["mysql://host/db", "nonsense", "sqlite://", "postgresql://host/db", ""])
def test_a_storage_url_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(StorageFailedError, match="storage URL"):
        Store.open(url, server_id="one")


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(StorageFailedError, match="folder") as refused:
        Store.open(f"sqlite:///{tmp_path / 'file' / 'trees.sqlite3'}", server_id="one")
    assert str(tmp_path) not in str(refused.value)
    assert (tmp_path / "file").read_text() == "kept"


@pytest.fixture
def no_root() -> Iterator[None]:
    """To root every folder is writable: for a while the test is run by nobody."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    yield
    if is_root:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def read_only(open_folder: Path) -> Path:
    """A store that its owner alone can write, and everybody can read."""
    path = open_folder / "trees.sqlite3"
    store = Store.open(f"sqlite:///{path}", server_id="owner")
    store.create(new_conversation("kept"))
    store.close()
    path.chmod(0o444)
    open_folder.chmod(0o555)
    return path


@needs_modes
def test_a_read_only_folder_is_refused_with_a_sentence(open_folder: Path, no_root: None) -> None:
    if os.geteuid() == open_folder.stat().st_uid:
        open_folder.chmod(0o555)
    with pytest.raises(StorageFailedError, match="folder of the conversation store"):
        Store.open(f"sqlite:///{open_folder / 'new' / 'trees.sqlite3'}", server_id="one")
    with pytest.raises(StorageFailedError, match="folder of the conversation store"):
        Store.open(f"sqlite:///{open_folder / 'trees.sqlite3'}", server_id="one")
    assert list(open_folder.iterdir()) == []


@needs_modes
def test_a_read_only_store_is_refused_untouched(read_only: Path, no_root: None) -> None:
    before = read_only.read_bytes()
    with pytest.raises(StorageFailedError):
        Store.open(f"sqlite:///{read_only}", server_id="one")
    assert read_only.read_bytes() == before


def test_a_full_disk_is_reported_and_nothing_is_half_stored(store: Store, conversation: str) -> None:
    store.append(conversation, [user(entry_id="a")], modified_at=NOW)
    with store._database.writing() as connection:  # SQLite says the same for a full disk and a full file
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageFailedError, match="full"):
        store.append(conversation, [user(), user("x" * 100_000)], modified_at=NOW)
    assert [entry.id for entry in store.all_entries(conversation)] == ["a"]
