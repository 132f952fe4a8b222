"""What was read of a path is not read again, and is what the store would give."""

import random
from dataclasses import dataclass

import pytest
from store.store_kit import NOW, new_conversation, user

from coppice.errors import UnknownConversationError
from coppice.store.schema.records import PathEnd
from coppice.store.store import Store
from coppice.store.tree import recent_paths
from coppice.store.tree.recent_paths import RecentPaths
from coppice.tokens.size import Size


@dataclass(frozen=True)
class Placed:
    """An entry that is its place."""

    id: str


class Paths:
    """Paths of a conversation, each entry of which is its run and depth; notes what is loaded."""

    def __init__(self) -> None:
        self.recent = RecentPaths[Placed]()
        self.loaded: list[tuple[int, int]] = []
        self.history = "first"

    def read(self, run: int, depth: int, low: int, high: int) -> list[str]:
        def load(first: int, last: int) -> list[tuple[Placed, int]]:
            assert 0 <= first <= last <= depth
            self.loaded.append((first, last))
            return [(Placed(self.at(run, at)), 1) for at in range(first, last + 1)]

        end = PathEnd("conversation", 1, self.at(run, depth), run, depth, "message", Size(), None)
        return [entry.id for entry in self.recent.read(end, low, high, load)]

    def at(self, run: int, depth: int) -> str:
        return f"{run}:{depth} of the {self.history} history"


def test_only_what_came_since_is_loaded() -> None:
    paths = Paths()
    paths.read(1, 9, 0, 9)
    assert paths.read(1, 9, 3, 7) == [paths.at(1, depth) for depth in range(3, 8)]
    assert paths.read(1, 11, 0, 11) == [paths.at(1, depth) for depth in range(12)]
    assert paths.loaded == [(0, 9), (9, 11)]


def test_what_is_before_it_is_loaded_once() -> None:
    paths = Paths()
    paths.read(1, 9, 6, 9)
    assert paths.read(1, 9, 2, 9) == paths.read(1, 9, 2, 9)
    assert paths.loaded == [(6, 9), (2, 5)]


def test_pieces_from_the_root_do_not_replace_what_a_model_sees() -> None:
    paths = Paths()
    paths.read(1, 99, 80, 99)
    for start in range(0, 60, 20):
        paths.read(1, 99, start, start + 19)
    paths.loaded.clear()
    paths.read(1, 99, 80, 99)
    assert paths.loaded == []


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_read_is_what_would_be_loaded(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_paths, "MOST_CHARACTERS", 60)
    chance, paths = random.Random(seed), Paths()
    for _ in range(300):
        run, depth = chance.randrange(3), chance.randrange(40)
        low, high = chance.randrange(-3, 40), chance.randrange(-3, 45)
        expected = [paths.at(run, at) for at in range(max(0, low), min(high, depth) + 1)]
        assert paths.read(run, depth, low, high) == expected
        assert sum(part.characters for part in paths.recent._parts.values()) <= 60


def test_of_a_path_that_is_too_large_what_was_asked_for_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_paths, "MOST_CHARACTERS", 10)
    paths = Paths()
    paths.read(1, 8, 0, 8)
    paths.read(1, 12, 6, 12)
    paths.loaded.clear()
    paths.read(1, 13, 6, 13)
    assert paths.loaded == [(12, 13)]


def test_the_path_that_was_read_longest_ago_leaves_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_paths, "MOST_CHARACTERS", 10)
    paths = Paths()
    for run in (1, 2, 1, 3):
        paths.read(run, 3, 0, 3)
    paths.loaded.clear()
    for run in (1, 3):
        paths.read(run, 3, 0, 3)
    assert paths.loaded == []


@pytest.mark.parametrize("depth", [5, 9, 12])
def test_of_a_store_that_was_put_back_nothing_that_is_gone_is_read(depth: int) -> None:
    paths = Paths()
    paths.read(1, 9, 4, 9)
    paths.history = "second"
    expected = [paths.at(1, at) for at in range(depth + 1)]
    assert paths.read(1, depth, 0, depth) == expected
    assert paths.read(1, depth, 4, depth) == expected[4:]


def test_what_is_read_of_a_transaction_that_fails_is_not_read_again(store: Store) -> None:
    conversation, first, second = new_conversation(), user("not stored"), user("stored")
    with pytest.raises(ZeroDivisionError), store.together():  # noqa: PT012 - both belong together
        with store.importing(conversation) as writer:
            writer.add([first])
            store.entries(writer.end(first.entry.id), 0, 0)
        raise ZeroDivisionError
    with store.importing(conversation) as writer:
        writer.add([second])
    end = store.end(conversation.id)
    assert end is not None
    assert store.entries(end, 0, 0) == [second.entry]


def test_what_the_path_has_left_behind_is_replaced() -> None:
    paths = Paths()
    paths.read(1, 9, 4, 9)
    paths.read(1, 30, 20, 30)
    paths.loaded.clear()
    paths.read(1, 30, 20, 30)
    assert paths.loaded == []


def test_a_deleted_conversation_is_not_read_from_memory(store: Store) -> None:
    conversation = new_conversation()
    store.create(conversation)
    end = store.append(conversation.id, [user(), user()], modified_at=NOW).end
    assert end is not None
    assert len(store.entries(end, 0, 1)) == len(store.rows(end, 0, 1)) == 2
    store.delete(conversation.id)
    store.erase()
    for read in (store.entries, store.rows):
        with pytest.raises(UnknownConversationError):
            read(end, 0, 1)
