"""Several processes on one store, some of which die."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from store.conftest import OpenStore
from store.store_kit import NOW, new_conversation, news, user

from coppice.errors import StorageFailedError
from coppice.store.schema.records import LEAF
from coppice.store.store import Store
from coppice.store.tree.append import open_conversation

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent.parent
KILLS = {"sqlite": 200, "postgresql+psycopg": 40}


def start(url: str, conversation: str, who: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "store.appending_child", url, conversation, who, str(count)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        text=True,
    )


def acknowledged(process: subprocess.Popen[str], *, timeout: float) -> list[str]:
    output, _ = process.communicate(timeout=timeout)
    assert process.returncode == 0
    return output.split()


def path_of(store: Store, conversation: str) -> list[str]:
    end = store.end(conversation, LEAF)
    return [] if end is None else [row.id for row in store.rows(end, 0, end.depth)]


def test_two_processes_lose_and_double_no_append_and_see_each_other(url: str, open_store: OpenStore) -> None:
    watcher = open_store("watcher")
    conversation = watcher.create(new_conversation()).id
    processes = [start(url, conversation, who, 40) for who in ("left", "right")]
    stored = [entry_id for process in processes for entry_id in acknowledged(process, timeout=60)]
    path = path_of(watcher, conversation)
    assert sorted(path) == sorted(stored)
    assert len(set(stored)) == 160
    # Both wrote to the same leaf, and no pair was torn apart.
    assert all(after == before[:-1] + "b" for before, after in zip(path[::2], path[1::2], strict=True))
    [change] = news(watcher)
    assert (change.conversation_id, change.leaf_id, set(change.kinds)) == (
        conversation,
        path[-1],
        {"entries", "leaf"},
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_every_acknowledged_entry_survives_kills(url: str, open_store: OpenStore) -> None:
    kills = KILLS[url.partition(":")[0]]
    store = open_store()
    conversation = store.create(new_conversation()).id
    store.close()
    expected = acknowledged(start(url, conversation, "kill", kills), timeout=110)
    # Every second child was left alone until it had stored something.
    assert len({entry_id.split("-")[0] for entry_id in expected}) >= kills // 2
    store = open_store()
    assert store.damages() == []
    everything = [entry.id for entry in store.all_entries(conversation)]
    assert len(everything) == len(set(everything)) == store.conversation(conversation).entry_count
    # A call that was killed before its acknowledgement may be there, but then it is there as a whole.
    assert [entry_id for entry_id in everything if entry_id in set(expected)] == expected
    assert len([one for one in everything if one.endswith("-a")]) == len(
        [one for one in everything if one.endswith("-b")]
    )
    assert path_of(store, conversation) == [one for one in everything if not one.endswith("-f")]
    store.append(conversation, [user()], modified_at=NOW)


def test_a_change_is_seen_once_and_not_by_the_one_who_made_it(open_store: OpenStore) -> None:
    one, other = open_store("one"), open_store("other")
    assert other.changes() == []
    conversation = one.create(new_conversation()).id
    one.append(conversation, [user(entry_id="a"), user(entry_id="b")], modified_at=NOW)
    one.set_leaf(conversation, "a", modified_at=NOW)
    [change] = news(other)
    assert (change.conversation_id, change.leaf_id) == (conversation, "a")
    assert sorted(change.kinds) == ["created", "entries", "leaf"]
    assert (other.changes(), one.changes()) == ([], [])
    one.delete(conversation)
    [change] = news(other)
    assert (change.leaf_id, change.kinds) == (None, ["deleted"])


def test_what_was_changed_before_a_store_was_opened_is_no_news(open_store: OpenStore) -> None:
    one = open_store("one")
    one.create(new_conversation())
    other = open_store("other")
    assert other.changes() == []
    one.create(new_conversation("later"))
    assert [change.conversation_id for change in news(other)] == ["later"]


def test_a_writer_that_waits_too_long_for_another_process_is_reported(open_store: OpenStore) -> None:
    patient, hasty = open_store("patient"), open_store("hasty", busy_seconds=0.05)
    conversation = patient.create(new_conversation()).id
    with patient._database.writing() as connection:  # holds the lock as another process would
        open_conversation(patient._database, connection, conversation)
        with pytest.raises(StorageFailedError, match="locked"):
            hasty.append(conversation, [user()], modified_at=NOW)
    assert hasty.append(conversation, [user()], modified_at=NOW).leaf_moved
