"""What was read of a path is not read again, and is what the store would give."""

import random

import pytest
from store.store_kit import NOW, new_conversation, user

from coppice.errors import UnknownConversationError
from coppice.store.schema.records import PathEnd
from coppice.store.store import Store
from coppice.store.tree import recent_paths
from coppice.store.tree.recent_paths import RecentPaths
from coppice.tokens.size import Size


class Paths:
    """Paths of a conversation, each entry of which is its run and depth; counts what is loaded."""

    def __init__(self, characters: int = 1) -> None:
        self.recent = RecentPaths[tuple[int, int]]()
        self.loaded: list[tuple[int, int]] = []
        self._characters = characters

    def read(self, run: int, depth: int, low: int, high: int) -> list[tuple[int, int]]:
        def load(first: int, last: int) -> list[tuple[tuple[int, int], int]]:
            assert 0 <= first <= last <= depth
            self.loaded.append((first, last))
            return [((run, at), self._characters) for at in range(first, last + 1)]

        end = PathEnd("conversation", 1, "e", run, depth, "message", Size(), None)
        return self.recent.read(end, low, high, load)


def test_only_what_came_since_is_loaded() -> None:
    paths = Paths()
    paths.read(1, 9, 0, 9)
    assert paths.read(1, 9, 3, 7) == [(1, depth) for depth in range(3, 8)]
    assert paths.read(1, 11, 0, 11) == [(1, depth) for depth in range(12)]
    assert paths.loaded == [(0, 9), (10, 11)]


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
        expected = [(run, at) for at in range(max(0, low), min(high, depth) + 1)]
        assert paths.read(run, depth, low, high) == expected
        assert sum(part.characters for part in paths.recent._parts.values()) <= 60


def test_of_a_path_that_is_too_large_what_was_asked_for_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_paths, "MOST_CHARACTERS", 10)
    paths = Paths()
    paths.read(1, 8, 0, 8)
    paths.read(1, 12, 6, 12)
    paths.loaded.clear()
    paths.read(1, 13, 6, 13)
    assert paths.loaded == [(13, 13)]


def test_the_path_that_was_read_longest_ago_leaves_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_paths, "MOST_CHARACTERS", 10)
    paths = Paths()
    for run in (1, 2, 1, 3):
        paths.read(run, 3, 0, 3)
    paths.loaded.clear()
    for run in (1, 3):
        paths.read(run, 3, 0, 3)
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
