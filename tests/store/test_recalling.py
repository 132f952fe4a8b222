"""What a ranking is made of: the newest entries for each word, bounded by scope and entries."""

import pytest
from store.store_kit import NOW, label, new_conversation, user

from coppice.errors import UnknownEntryError
from coppice.store.search.indexing import Scope
from coppice.store.search.recalling import Where
from coppice.store.store import Store
from coppice.store.words.pieces import KEYS_PER_ENTRY

WORDS = ["rowan", "oak", "rowan and oak", "don't 'quote' rowan", "登录页面"]


def ids(store: Store, keys: list[int]) -> list[str]:
    return [row.entry_id for row in store.recall_rows(keys)]


def entries_with(store: Store, where: Where, stem: str, most: int = 10) -> list[str]:
    store.make_searchable(where.scope)
    return ids(store, entry_keys(store, where, stem, most))


def entry_keys(store: Store, where: Where, stem: str, most: int = 10) -> list[int]:
    [postings] = store.recall_postings([stem], where, most)
    return [key // KEYS_PER_ENTRY for key in postings.keys]


def grown(store: Store, conversation: str) -> Where:
    entries = [user(text, f"e{number}") for number, text in enumerate(WORDS)]
    store.append(conversation, [*entries, label("e0", "mark", "first")], modified_at=NOW)
    return Where(Scope(conversation_id=conversation))


def test_the_newest_entries_with_any_of_the_words_come_first(store: Store, conversation: str) -> None:
    where = grown(store, conversation)
    assert entries_with(store, where, "rowan") == ["e3", "e2", "e0"]
    assert entries_with(store, where, "oak") == ["e2", "e1"]
    assert entries_with(store, where, "rowan", most=2) == ["e3", "e2"]
    assert entries_with(store, where, "登录") == ["e4"]
    assert entries_with(store, where, "larch") == []


def test_bounds_and_scope_hold(store: Store, conversation: str) -> None:
    where = grown(store, conversation)
    after, before = store.key_of(conversation, "e0"), store.key_of(conversation, "e3")
    assert entries_with(store, Where(where.scope, after, before), "rowan") == ["e2"]
    other = store.create(new_conversation()).id
    store.append(other, [user("another rowan", "far")], modified_at=NOW)
    assert entries_with(store, where, "rowan") == ["e3", "e2", "e0"]
    assert entries_with(store, Where(Scope()), "rowan")[0] == "far"
    with pytest.raises(UnknownEntryError):
        store.key_of(conversation, "far")


def test_what_says_nothing_is_not_among_the_newest(store: Store, conversation: str) -> None:
    where = grown(store, conversation)
    assert ids(store, store.recall_newest(where, 3)) == ["e4", "e3", "e2"]


def test_a_stem_is_the_rarer_the_fewer_pieces_hold_it_and_the_less_densely_they_lie(
    store: Store, conversation: str
) -> None:
    texts = ["rowan", *("oak" for _ in range(20)), *("birch" if n % 10 == 0 else "elm" for n in range(40))]
    store.append(conversation, [user(text, f"e{n}") for n, text in enumerate(texts)], modified_at=NOW)
    where = Where(Scope(conversation_id=conversation))
    store.make_searchable(where.scope)
    rowan, oak, elm, larch = store.recall_postings(["rowan", "oak", "elm", "larch"], where, 100)
    assert larch.rarity > rowan.rarity > oak.rarity > elm.rarity
    birch, elm = store.recall_postings(["birch", "elm"], where, 3)
    assert len(birch.keys) == len(elm.keys) == 3
    assert birch.rarity > elm.rarity


def test_entries_on_other_branches_are_distinguished(store: Store, conversation: str) -> None:
    where = grown(store, conversation)
    store.append(conversation, [user("a rowan on a branch", "branch")], parent_id="e1", modified_at=NOW)
    store.make_searchable(where.scope)
    keys = entry_keys(store, where, "rowan")
    assert ids(store, store.recall_on_path(keys)) == ["branch", "e0"]
    assert {row.entry_id: row.on_current_path for row in store.recall_rows(keys)} == {
        "branch": True,
        "e3": False,
        "e2": False,
        "e0": True,
    }
