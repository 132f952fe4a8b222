"""Which server runs a turn: kept in the store, and in its change log."""

import pytest
from store.conftest import OpenStore
from store.store_kit import new_conversation, news

from coppice.errors import UnknownConversationError
from coppice.store.schema.records import StoredChange, StoredTurn
from coppice.store.store import Store


def changed() -> list[StoredChange]:
    return [StoredChange("talk", None, ["turn"])]


@pytest.fixture
def other(store: Store, open_store: OpenStore) -> Store:
    """Another server's store, with the conversation in it."""
    store.create(new_conversation("talk"))
    return open_store("another")


def test_one_server_at_a_time_runs_a_turn(store: Store, other: Store) -> None:
    for seen in (7, 8):
        assert store.turns.begin("talk", "first", seen)
        assert news(other) == changed()
    assert other.turns.of("talk") == StoredTurn("first", 8, stop=False)
    assert not other.turns.begin("talk", "second", 9)
    assert not other.turns.end("talk", "second")
    assert other.changes() == []
    assert store.turns.end("talk", "first")
    assert news(other) == changed()
    assert other.turns.of("talk") is None
    assert other.turns.begin("talk", "second", 9)


def test_a_turn_that_is_lost_makes_way_for_one_server(store: Store, other: Store) -> None:
    store.turns.begin("talk", "lost", 1)
    lost = other.turns.of("talk")
    assert other.turns.begin("talk", "second", 9, instead_of=lost)
    assert not store.turns.begin("talk", "third", 9, instead_of=lost)
    assert not store.turns.end("talk", "lost")


def test_a_server_keeps_its_turn_and_can_be_asked_to_stop_it(store: Store, other: Store) -> None:
    store.turns.begin("talk", "first", 7)
    assert news(other) == changed()
    store.turns.keep("talk", "first", 17)
    assert other.changes() == []
    running = other.turns.of("talk")
    assert running is not None
    assert running.seen == 17
    assert other.turns.ask_to_stop("talk", running)
    assert news(store) == changed()
    assert store.turns.of("talk") == StoredTurn("first", 17, stop=True)
    store.turns.end("talk", "first")
    assert not other.turns.ask_to_stop("talk", running)


def test_an_unknown_conversation_has_no_turn(store: Store) -> None:
    with pytest.raises(UnknownConversationError):
        store.turns.of("none")
    assert not store.turns.begin("none", "first", 7)
