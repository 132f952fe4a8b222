"""The work of an operation does not grow with the conversation: counted, not timed.

SQLite reports every ten steps of its virtual machine. A scan of the conversation, or a walk along its
path, would show as a count that follows the length.
"""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import event
from store.store_kit import NOW, WORKSPACE, activity, compaction, label, new_conversation, pin, user

from coppice.store.schema.records import NewRecord, PathEnd
from coppice.store.store import Store

SHORT, LONG = 600, 12_000


@dataclass
class Grown:
    """A conversation of some length in a store that counts its steps, in tens."""

    store: Store
    length: int
    steps: int = 0

    def __post_init__(self) -> None:
        engine = self.store._database._engine  # where SQLite's own connections are had
        event.listen(engine, "connect", self._watch)
        engine.dispose()

    def _watch(self, connection: sqlite3.Connection, _record: object) -> None:
        connection.set_progress_handler(self._step, 10)

    def _step(self) -> int:
        self.steps += 1
        return 0

    def work(self, operation: Callable[["Grown"], object]) -> int:
        operation(self)
        before = self.steps
        operation(self)
        return self.steps - before

    @property
    def end(self) -> PathEnd:
        path_end = self.store.end("c", f"n{self.length - 1}")
        assert path_end is not None
        return path_end


def grow(folder: Path, length: int, *, branchy: bool) -> Grown:
    """A compaction each 300 entries, metadata at the path each 40 and, if `branchy`, a fork each 50."""
    records: list[NewRecord] = []
    for number in range(length):
        to_end = length - number
        back = 6 if branchy and to_end % 50 == 25 and number > 6 else 1
        parent = f"n{number - back}" if number else None
        if to_end % 300 == 100:
            records.append(compaction(f"n{max(number - 40, 0)}", f"n{number}", parent=parent))
        else:
            text = "Plant an oak." if number % 100 == 7 else "Plant a tree."
            records.append(user(text, f"n{number}", parent=parent))
        if to_end % 40 == 0:
            records.append(activity("a.py", f"f{number}", parent=f"n{number}"))
        if number in (3, 4):
            records.append(label(f"n{number}", "here", f"l{number}", parent=f"n{number}"))
            records.append(pin(f"n{number}", entry_id=f"p{number}", parent=f"n{number}"))
    url = f"sqlite:///{folder / f'{length}-{branchy}.sqlite3'}"
    store = Store.open(url, server_id="one", index_idle_seconds=None)
    with store.importing(new_conversation("c")) as writer:
        writer.add(records)
        writer.leaf(f"n{length - 1}")
    return Grown(store, length)


@pytest.fixture(scope="module", params=[False, True], ids=["linear", "branchy"])
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Grown, Grown]]:
    folder = tmp_path_factory.mktemp("grown")
    short, long = (grow(folder, length, branchy=request.param) for length in (SHORT, LONG))
    yield short, long
    short.store.close()
    long.store.close()


def newest_rows(grown: Grown) -> object:
    return grown.store.rows(grown.end, grown.end.depth - 100, grown.end.depth)


def oldest_entries(grown: Grown) -> object:
    return grown.store.entries(grown.end, 0, 50)


def file_activity(grown: Grown) -> object:
    return grown.store.attached(grown.end, grown.end.depth - 100, grown.end.depth, ["file_activity"])


def first_metadata(grown: Grown) -> object:
    return grown.store.attached(grown.end, -1, 50, ["file_activity", "label"])


def far_ancestor(grown: Grown) -> object:
    return grown.store.ancestor_depth(grown.end, "n1"), grown.store.ancestor_depth(grown.end, "n19")


def meeting_point(grown: Grown) -> object:
    far = grown.store.end("c", "n24")
    assert far is not None
    return grown.store.common_ancestor(grown.end, far)


def first_nodes(grown: Grown) -> object:
    return grown.store.tree("c", mode="branches", limit=4)


def last_nodes(grown: Grown) -> object:
    after = f"n{grown.length - 100}"
    return grown.store.tree("c", mode="branches", limit=4, after=after)


def first_of_all(grown: Grown) -> object:
    return grown.store.tree("c", mode="all", limit=20)


def view(grown: Grown) -> object:
    return grown.store.compaction(grown.end), grown.store.pins(grown.end)


def append(grown: Grown) -> object:
    return grown.store.append("c", [user(), activity("x.py"), user()], modified_at=NOW)


def branch(grown: Grown) -> object:
    return grown.store.append("c", [user(), compaction("n30")], parent_id="n31", modified_at=NOW)


def navigate(grown: Grown) -> object:
    grown.store.set_leaf("c", "n10", modified_at=NOW)
    return grown.store.set_leaf("c", f"n{grown.length - 1}", modified_at=NOW)


def search_for_frequent_word(grown: Grown) -> object:
    return grown.store.search("plant", limit=10)


def search_for_rare_word(grown: Grown) -> object:
    return grown.store.search("plant oak", conversation_id="c", workspace_uri=WORKSPACE, limit=5)


def listing(grown: Grown) -> object:
    return grown.store.conversations(limit=5), grown.store.conversation("c")


@pytest.mark.parametrize(
    "operation",
    [
        newest_rows,
        oldest_entries,
        file_activity,
        first_metadata,
        far_ancestor,
        meeting_point,
        first_nodes,
        last_nodes,
        first_of_all,
        view,
        append,
        branch,
        navigate,
        search_for_frequent_word,
        search_for_rare_word,
        listing,
    ],
    ids=lambda operation: operation.__name__,
)
def test_twenty_times_the_entries_are_not_twice_the_work(
    pair: tuple[Grown, Grown], operation: Callable[[Grown], object]
) -> None:
    short, long = (grown.work(operation) for grown in pair)
    # Climbing runs takes O(log runs) steps of some fifty instructions each.
    assert long <= 1.5 * short + 100
