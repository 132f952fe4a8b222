"""Damage on the disk concerns the conversation that it is in, and is called damage."""

import contextlib
import sqlite3
from pathlib import Path

import pytest
from attacks.store_attacks import filled_store, opened, rot, rot_page
from store.store_kit import NOW, user

from coppice.errors import StoreDamagedError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store" / "trees.sqlite3"
    filled_store(path)
    return path


def test_one_rotten_byte_concerns_one_conversation(path: Path) -> None:
    rot(path, b'"content":"Plant tree 7 of c1')
    with opened(path) as store:
        with pytest.raises(StoreDamagedError, match="doctor --repair") as damaged:
            list(store.all_entries("c1"))
        assert damaged.value.code == "storage-failed"
        assert damaged.value.data == {"damaged": True, "entryId": "c1-7"}
        assert "server" not in str(damaged.value)
        assert len(list(store.all_entries("c0"))) == 40
        assert [record.id for record in store.conversations(limit=10)[0]] == ["c2", "c1", "c0"]
        assert len(store.search("plant", limit=200)) == 120
        store.append("c1", [user("Goes on.", "after")], modified_at=NOW)
        store.append("c2", [user("Goes on.", "after")], modified_at=NOW)
        assert store.damages() == ["conversation c1: the entry c1-7 cannot be read"]


def test_a_rotten_preview_and_a_rotten_first_message_are_shown_as_far_as_they_can_be(path: Path) -> None:
    content = path.read_bytes()
    preview = b"Plant tree 0 of c2"
    assert content.count(preview) > 1
    path.write_bytes(content.replace(preview, preview[:-1] + b"\xff"))
    with opened(path) as store:
        assert {record.id for record in store.conversations(limit=10)[0]} == {"c0", "c1", "c2"}
        nodes, _ = store.tree("c2", mode="all", limit=100)
        assert len(nodes) == 40
        assert "\N{REPLACEMENT CHARACTER}" in nodes[0].preview


@pytest.mark.parametrize("byte", [b"\xff", b'"', b"\\", b"\0"], ids=["no UTF-8", "quote", "escape", "NUL"])
def test_any_rotten_byte_of_a_body_is_damage_and_no_internal_error(path: Path, byte: bytes) -> None:
    rot(path, b'"content":"Plant tree 7 of c1', byte)
    with opened(path) as store:
        with pytest.raises(StoreDamagedError):
            store.entry("c1", "c1-7")
        assert store.entry("c1", "c1-8").id == "c1-8"
        assert len(store.search("tree", limit=200)) == 120


def test_the_log_of_an_emptied_file_never_meets_what_is_put_in_its_place(path: Path) -> None:
    backup = path.read_bytes()
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE conversation SET name = 'newer'")
        other.commit()
        log = path.with_name(f"{path.name}-wal").read_bytes()
    path.write_bytes(b"")
    path.with_name(f"{path.name}-wal").write_bytes(log)
    with pytest.raises(StoreDamagedError, match=r"Its log is kept as .*-wal\."), opened(path):
        pass
    path.write_bytes(backup)
    with opened(path) as store:
        assert "newer" not in {each.name for each in store.conversations(limit=10)[0]}
        assert store.damages() == []
    [kept] = path.parent.glob("*.damaged-*-wal")
    assert kept.read_bytes() == log


def test_a_rotten_page_leaves_the_other_conversations(path: Path) -> None:
    rot_page(path, b'"content":"Plant tree 20 of c1')
    with opened(path) as store:
        with pytest.raises(StoreDamagedError, match="damaged"):
            list(store.all_entries("c1"))
        assert len(list(store.all_entries("c0"))) == 40
        assert len(list(store.all_entries("c2"))) == 40
        hits = store.search("plant", limit=200)
        assert {row.conversation_id for row in hits} == {"c0", "c1", "c2"}
        assert store.damages()


def test_a_search_ends_where_an_index_names_a_conversation_again_and_again(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(path) as store:
        store.append("c1", [user("Plant one more.", "after")], modified_at=NOW)
    behind = path.read_bytes()
    with opened(path) as store:
        assert len(store.search("plant", limit=200)) == 121
    with contextlib.closing(sqlite3.connect(path)) as raw:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'conversation_behind_index'"
        [page] = raw.execute(query).fetchone()
    stale, content = slice((page - 1) * 4096, page * 4096), bytearray(path.read_bytes())
    assert content[stale] != behind[stale]
    content[stale] = behind[stale]
    path.write_bytes(content)
    with opened(path) as store:
        assert len(store.search("plant", limit=200)) == 121
        for name in ("c0", "c2"):
            store.append(name, [user("Plant a rose.", "rose")], modified_at=NOW)
        assert {row.conversation_id for row in store.search("rose", limit=200)} == {"c0", "c2"}
        assert "named as not indexed" in caplog.text
