"""`coppice doctor --repair`: everything that can be read is saved, the rest is named, the old file stays."""

import contextlib
import re
import sqlite3
import time
import tracemalloc
from pathlib import Path

import pytest
from attacks.store_attacks import filled_store, opened, rot, rot_page, url_of
from conftest_service import Client, MakeClient, make_client
from store.store_kit import NOW, assistant, compaction, label, user

from coppice.errors import StorageFailedError, StoreDamagedError
from coppice.service.conversations.repairing import repair_workspace
from coppice.service.core.workspaces import damages
from coppice.store.engines import sqlite_file
from coppice.store.engines.disk_reserve import RESERVE_NAME
from coppice.store.repair import copying as repair_module
from coppice.store.repair.copying import repair
from coppice.store.repair.salvage import Salvage
from coppice.store.schema.errors import DAMAGED

__all__ = ["make_client"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of three conversations, the second with a branch, a compaction and a label."""
    path = tmp_path / "store" / "trees.sqlite3"
    filled_store(path)
    with opened(path) as store:
        branch = [assistant("A branch.", "b-1"), compaction("c1-3", "b-2"), user("Go on.", "b-3")]
        store.append("c1", branch, parent_id="c1-10", modified_at=NOW)
        store.append("c1", [label("c1-5", "the fifth")], modified_at=NOW)
    return path


def entries_of(path: Path) -> dict[str, list[tuple[str, str | None]]]:
    with opened(path) as store:
        records, _ = store.conversations(limit=100)
        return {
            record.id: [(entry.id, entry.parent_id) for entry in store.all_entries(record.id)]
            for record in records
        }


def test_a_sound_store_is_the_same_after_a_repair(path: Path) -> None:
    before = entries_of(path)
    with opened(path) as store:
        listed, labels = store.conversations(limit=10)[0], store.tree("c1", mode="all", limit=100)
    done = repair(url_of(path))
    assert done.losses == []
    assert (done.conversations, done.entries) == (3, sum(map(len, before.values())))
    assert entries_of(path) == before
    with opened(path) as store:
        again = store.conversations(limit=10)[0]
        assert [(each.id, each.leaf_id, each.name, each.created_at) for each in again] == [
            (each.id, each.leaf_id, each.name, each.created_at) for each in listed
        ]
        assert store.tree("c1", mode="all", limit=100) == labels
        assert len(store.search("plant", limit=200)) == 120
        assert store.damages() == []


def test_a_repair_keeps_little_of_the_store_in_memory(path: Path) -> None:
    with opened(path) as store:
        for number in range(60):
            store.append("c2", [user("x" * 1_000_000, f"long-{number}")], modified_at=NOW)
    before = entries_of(path)
    tracemalloc.start()
    try:
        repair(url_of(path))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 25_000_000, most
    assert entries_of(path) == before


def test_saving_beside_many_lost_entries_takes_linear_time(tmp_path: Path) -> None:
    paths = {}
    for count in (4_000, 16_000):
        paths[count] = tmp_path / f"{count}.sqlite3"
        filled_store(paths[count], 1, count)
        with contextlib.closing(sqlite3.connect(paths[count])) as raw, raw:
            raw.execute("UPDATE entry SET body = 'rotten' WHERE depth % 2 = 1")

    def cost(count: int) -> float:
        began = time.process_time()
        sizes = [sum(map(len, saved.batches())) for saved in Salvage(paths[count]).conversations()]
        assert sizes == [count // 2]
        return time.process_time() - began

    # What else runs on the machine makes one measurement long, and not each of five.
    costs = [(cost(4_000), cost(16_000))]
    while costs[-1][1] >= 9 * costs[-1][0] and len(costs) < 5:
        costs.append((cost(4_000), cost(16_000)))
    assert costs[-1][1] < 9 * costs[-1][0], costs


def test_the_copies_of_a_repair_that_was_killed_are_removed(path: Path) -> None:
    killed = path.with_name(f".repair-{path.name}-x1")
    other = path.with_name(".repair-other.sqlite3-x1")
    for folder in (killed, other):
        folder.mkdir()
        (folder / "copy.sqlite3").write_text("entries")
    repair(url_of(path))
    assert [each.name for each in path.parent.glob(".repair-*")] == [other.name]


def test_a_rotten_byte_costs_a_character_and_is_named(path: Path) -> None:
    before = entries_of(path)
    rot(path, b'"content":"Plant tree 7 of c1')
    damaged = path.read_bytes()
    done = repair(url_of(path))
    assert done.losses == [
        "conversation c1: bytes of the entry c1-7, which are now \N{REPLACEMENT CHARACTER}"
    ]
    assert entries_of(path) == before
    assert done.put_aside is not None
    assert done.put_aside.read_bytes() == damaged
    with opened(path) as store:
        assert "Plant tree 7 of c\N{REPLACEMENT CHARACTER}" in store.entry("c1", "c1-7").model_dump_json()
        assert store.damages() == []


def test_an_entry_that_is_lost_is_named_and_its_children_hang_at_the_one_above(path: Path) -> None:
    rot(path, b'"content":"Plant tree 7 of c1', b'"')
    done = repair(url_of(path))
    assert done.losses == ["conversation c1: the entry c1-7"]
    assert ("c1-8", "c1-6") in entries_of(path)["c1"]


def test_a_rotten_page_costs_the_entries_on_it(path: Path) -> None:
    before = entries_of(path)
    rot_page(path, b'"content":"Plant tree 20 of c1')
    done = repair(url_of(path))
    after = entries_of(path)
    assert {"c0": after["c0"], "c2": after["c2"]} == {"c0": before["c0"], "c2": before["c2"]}
    saved = {entry_id for entry_id, _ in after["c1"]}
    lost = {entry_id for entry_id, _ in before["c1"]} - saved
    assert "c1-20" in lost
    assert 0 < len(lost) < 15
    assert done.losses == [f"conversation c1: the entry {name}" for name in sorted(lost, key=name_order)]


def test_a_page_with_the_content_of_another_costs_its_own_entries(tmp_path: Path) -> None:
    path = tmp_path / "trees.sqlite3"
    filled_store(path, 3, 400)
    sound = path.read_bytes()
    pages = [sound[at : at + 4096] for at in range(0, len(sound), 4096)]
    leaves = [n for n, page in enumerate(pages) if page[0] == 13 and b'"content":"Plant tree' in page]
    for place in leaves[1:-1:20]:
        path.write_bytes(b"".join([*pages[:place], pages[leaves[-1]], *pages[place + 1 :]]))
        readable = _readable_by_key(path, 1_200)
        assert 1_180 < len(readable) < 1_200
        repair(url_of(path))
        assert readable <= {entry_id for entries in entries_of(path).values() for entry_id, _ in entries}


def _readable_by_key(path: Path, keys: int) -> set[str]:
    with contextlib.closing(sqlite3.connect(path)) as raw:
        query = "SELECT id FROM entry WHERE rowid = ?"
        return {entry_id for key in range(1, keys + 1) for (entry_id,) in raw.execute(query, (key,))}


@pytest.mark.parametrize("key", [8, 31, 47])
def test_a_rotten_key_costs_no_row_that_a_range_still_gives(tmp_path: Path, key: int) -> None:
    path = tmp_path / "trees.sqlite3"
    filled_store(path, 60, 2)
    content = bytearray(path.read_bytes())
    row = b"[\x80-\xff].%c[\x15-\x20]\0.{15,30}c%dfile:" % (key, key - 1)  # the key, a header, the id
    [cell] = re.finditer(row, content, re.DOTALL)
    content[cell.start() + 2] ^= 64
    path.write_bytes(content)
    with contextlib.closing(sqlite3.connect(path)) as raw:
        scanned = dict(raw.execute("SELECT key, id FROM conversation WHERE key BETWEEN 1 AND 200"))
    assert len(scanned) >= 59
    assert scanned[key ^ 64] == f"c{key - 1}"
    repair(url_of(path))
    with opened(path) as store:
        assert set(scanned.values()) <= {record.id for record in store.conversations(limit=100)[0]}


def name_order(name: str) -> int:
    return int(name.rpartition("-")[2])


@pytest.mark.parametrize("rotten", [b"\xa5", b"\0"], ids=["nonsense", "zeros"])
def test_a_ruined_page_of_the_schema_loses_no_conversation(path: Path, rotten: bytes) -> None:
    before = entries_of(path)
    sound = path.read_bytes()
    pages = _schema_pages(path)
    assert len(pages) > 1
    for page in pages:
        start = (page - 1) * 4096
        path.write_bytes(sound[:start] + rotten * 4096 + sound[start + 4096 :])
        done = repair(url_of(path))
        assert done.losses == []
        assert entries_of(path) == before


def _schema_pages(path: Path) -> list[int]:
    """The pages that hold the beginnings of the statements of the schema, and the first page."""
    content = path.read_bytes()
    with sqlite3.connect(path) as raw:
        statements = raw.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    raw.close()
    return sorted({1, *(content.index(sql[:200].encode()) // 4096 + 1 for (sql,) in statements)})


def test_a_file_of_nonsense_gives_an_empty_store_that_says_so(path: Path) -> None:
    path.write_bytes(b"nonsense" * 4096)
    done = repair(url_of(path))
    assert done.losses == ["everything: no conversation can be read"]
    assert entries_of(path) == {}
    assert done.put_aside is not None
    assert done.put_aside.read_bytes().startswith(b"nonsense")


def test_a_store_in_use_is_not_repaired(path: Path) -> None:
    with opened(path) as store:
        with pytest.raises(StorageFailedError, match="Close every editor"):
            repair(url_of(path))
        store.append("c0", [user(entry_id="goes on")], modified_at=NOW)
    assert ("goes on", "c0-39") in entries_of(path)["c0"]
    assert {file.name for file in path.parent.iterdir()} == {path.name, RESERVE_NAME}


def test_a_store_is_repaired_where_the_file_system_has_no_hard_links(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_new: Path, _target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    before = entries_of(path)
    monkeypatch.setattr(Path, "hardlink_to", refuse)
    repair(url_of(path))
    assert entries_of(path) == before


def test_a_store_that_another_program_makes_meanwhile_stays_and_so_does_the_repaired_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = entries_of(path)
    move = sqlite_file.move_into_place

    def move_late(new: Path, target: Path) -> None:
        with opened(target):
            pass
        move(new, target)

    monkeypatch.setattr(repair_module, "move_into_place", move_late)
    with pytest.raises(StorageFailedError, match=r"another program made trees\.sqlite3 meanwhile") as failed:
        repair(url_of(path))
    assert entries_of(path) == {}
    [repaired] = path.parent.glob("*.repaired-*")
    [damaged] = path.parent.glob("*.damaged-*[0-9]")
    assert repaired.name in str(failed.value)
    assert damaged.name in str(failed.value)
    assert entries_of(repaired) == entries_of(damaged) == before


def test_a_repaired_store_that_cannot_be_put_in_place_is_kept_next_to_the_damaged_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = entries_of(path)
    damaged = path.read_bytes()

    def refuse(_new: Path, _target: Path) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(repair_module, "move_into_place", refuse)
    with pytest.raises(StorageFailedError, match="where it was") as failed:
        repair(url_of(path))
    assert path.read_bytes() == damaged
    [repaired] = path.parent.glob("*.repaired-*")
    assert repaired.name in str(failed.value)
    assert entries_of(repaired) == before


def test_a_schema_that_is_no_text_is_damage_and_is_repaired(path: Path) -> None:
    before = entries_of(path)
    content = path.read_bytes()
    name = b"tableconversation"
    assert content.count(name) == 1
    path.write_bytes(content.replace(name, b"table\xff\xfe" + name[7:]))
    with pytest.raises(StoreDamagedError), opened(path):
        pass
    assert repair(url_of(path)).losses == []
    assert entries_of(path) == before


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE coppice_schema SET version = 'x'",
        "UPDATE coppice_schema SET version = -1",
        "DELETE FROM coppice_schema",
    ],
)
def test_a_version_that_is_none_is_damage_and_is_repaired(path: Path, change: str) -> None:
    before = entries_of(path)
    with sqlite3.connect(path) as raw:
        raw.execute(change)
    raw.close()
    assert damages(url_of(path)) == [DAMAGED]
    assert repair(url_of(path)).losses == []
    assert entries_of(path) == before
    assert not list(path.parent.glob("*.backup"))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entry SET conversation_key = 'x', run = x'ff', depth = 'y' WHERE id = 'c1-7'",
        "UPDATE entry SET body = x'ff', size_estimate = 'x' WHERE id = 'c1-7'",
        "UPDATE entry SET parent_key = key + 5, size_estimate = 1 << 62 WHERE id = 'c1-7'",
        "UPDATE entry SET parent_key = 'x', run = 'x' WHERE id = 'c1-7'",
        "UPDATE entry SET key = 1 << 50 WHERE id = 'c2-39'",
        "UPDATE entry SET key = 9223372036854775807 WHERE id = 'c2-39'",
        "UPDATE run SET fork_depth = 'x', parent_run = key",
        "UPDATE conversation SET id = 5, name = x'ff', source = 7 WHERE id = 'c1'",
    ],
)
def test_values_that_no_store_holds_stop_no_repair(path: Path, change: str) -> None:
    entries = sum(map(len, entries_of(path).values()))
    with sqlite3.connect(path) as raw:
        raw.execute(change)
    raw.close()
    done = repair(url_of(path))
    after = entries_of(path)
    assert len(after["c0"]) == len(after["c2"]) == 40
    assert done.entries == sum(map(len, after.values())) >= entries - 1


def test_an_entry_with_the_id_of_another_gets_a_new_one(path: Path) -> None:
    before = entries_of(path)
    rows = re.compile(rb"c1-8(?=.{1,12}message)", re.DOTALL)
    content, count = rows.subn(b"c1-7", path.read_bytes())
    assert count == 1
    path.write_bytes(content)
    done = repair(url_of(path))
    assert any("the id of an entry" in loss for loss in done.losses), done.losses
    assert len(entries_of(path)["c1"]) == len(before["c1"])


def test_what_is_left_of_a_log_never_meets_the_new_file(path: Path) -> None:
    with sqlite3.connect(path) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
    path.write_bytes(b"nonsense" * 4096)
    path.with_name(f"{path.name}-wal").write_bytes(b"an old log")
    repair(url_of(path))
    assert not path.with_name(f"{path.name}-wal").exists()
    assert entries_of(path) == {}


async def test_a_server_that_meets_a_ruined_file_goes_on_in_another_and_repair_joins_them(
    make_client: MakeClient, tmp_path: Path
) -> None:
    first: Client = await make_client()
    old = await first.conversation("Plant an oak.", "Planted.")
    await first.service.close()
    [path] = (tmp_path / "data").glob("*.sqlite3")
    content = bytearray(path.read_bytes())
    content[:4096] = b"\xa5" * 4096
    path.write_bytes(content)

    second: Client = await make_client()
    new = await second.conversation("Plant a beech.", "Planted.")
    listed = (await second.ask("conversation/list"))["conversations"]
    assert [each["id"] for each in listed] == [new]
    assert ["doctor --repair" in problem for problem in second.service.stores.problems] == [True]
    with pytest.raises(StorageFailedError, match="doctor --repair"):
        await second.ask("entries", conversationId=old, limit=10)
    await second.service.close()

    done = repair_workspace(url_of(path))
    assert (done.conversations, done.losses) == (2, [])
    third: Client = await make_client()
    listed = (await third.ask("conversation/list"))["conversations"]
    assert {each["id"] for each in listed} == {old, new}
    assert len((await third.ask("entries", conversationId=old, limit=10))["entries"]) == 2
