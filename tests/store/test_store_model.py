"""Whatever is done to a store, it says what a plain in-memory tree says."""

import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from postgres_server import PostgresServer, fresh_schema
from store.reference_tree import ReferenceTree
from store.store_kit import (
    NOW,
    activity,
    assistant,
    compaction,
    fresh_id,
    label,
    named,
    new_conversation,
    pin,
    user,
)

from coppice.store.schema.records import LEAF, Appended, NewRecord, PathEnd
from coppice.store.store import Store

DRAWN = random.Random(os.environ.get("COPPICE_FAULT_SEED", "0")).sample(range(1, 2**31), 2)
"""Seeds of the slow run: others for each commit, which see more in time than the same ones each time."""
ATTACHED = ["file_activity", "label", "session_info"]
KINDS = st.lists(
    st.sampled_from(["user", "assistant", "error", "counted", "compaction", "label", "pin", "name", "file"]),
    min_size=1,
    max_size=5,
)


def check_paths(store: Store, conversation: str, tree: ReferenceTree, entry_ids: list[str]) -> None:
    for entry_id in entry_ids:
        path, end = tree.path(entry_id), ended(store, conversation, entry_id)
        assert (end.depth, end.total) == (len(path) - 1, tree.total(path))
        assert (end.usage_tokens, end.since_usage) == tree.usage(entry_id)
        assert [row.id for row in store.rows(end, 0, end.depth)] == path
        assert [entry.id for entry in store.entries(end, 0, end.depth)] == path
        cut, newest = tree.cut(entry_id), store.compaction(end)
        assert (newest and (newest.entry_id, newest.kept_depth, newest.before_kept)) == cut
        attached = [(depth, entry.id) for depth, entry in store.attached(end, -1, end.depth, ATTACHED)]
        assert attached == tree.attached(entry_id, set(ATTACHED))
        assert [entry.id for _, entry in store.pins(end)] == [one for one in path if one in tree.pinned]


def check_pairs(store: Store, conversation: str, tree: ReferenceTree, pairs: list[tuple[str, str]]) -> None:
    for one, other in pairs:
        end, other_end = ended(store, conversation, one), ended(store, conversation, other)
        met = store.common_ancestor(end, other_end)
        assert (met and met.id) == tree.meeting(one, other)
        path = tree.path(one)
        assert store.ancestor_depth(end, other) == (path.index(other) if other in path else None)


def check_tree(store: Store, conversation: str, tree: ReferenceTree, page: int) -> None:
    for folded in (False, True):
        rows, after = [], None
        while True:
            some, after = store.tree(
                conversation, mode="branches" if folded else "all", limit=page, after=after
            )
            rows += some
            if after is None:
                break
        assert rows == tree.tree(folded=folded)


def ended(store: Store, conversation: str, entry_id: str) -> PathEnd:
    end = store.end(conversation, entry_id)
    assert end is not None
    return end


class StoreMachine(RuleBasedStateMachine):
    """Appends, branches, navigations and restarts on one conversation.

    `place` gives the URL of an empty store and takes it away afterwards.
    """

    def __init__(self, place: AbstractContextManager[str]) -> None:
        super().__init__()
        self.place = place
        self.url = place.__enter__()
        self.tree = ReferenceTree()
        self.last_call: tuple[list[NewRecord], Any] | None = None
        self.store = self.open()
        self.conversation = self.store.create(new_conversation()).id

    def open(self) -> Store:
        return Store.open(self.url, server_id="machine", index_idle_seconds=None)

    def teardown(self) -> None:
        everything = list(self.tree.records)
        check_paths(self.store, self.conversation, self.tree, everything)
        check_pairs(
            self.store, self.conversation, self.tree, [(a, b) for a in everything for b in everything[::3]]
        )
        assert [entry.id for entry in self.store.all_entries(self.conversation)] == everything
        self.store.close()
        self.place.__exit__(None, None, None)

    def some_entry(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(list(self.tree.records)))

    def check_end(self, done: Appended) -> None:
        end = self.store.end(self.conversation)
        assert (done.end, done.compaction) == (end, end and self.store.compaction(end))

    def make(self, data: st.DataObject, kinds: list[str]) -> list[NewRecord]:
        made: list[NewRecord] = []
        for kind in kinds:
            ids = [*self.tree.records, *(new.entry.id for new in made)]
            target = data.draw(st.sampled_from(ids)) if ids else None
            if kind == "user":
                made.append(user(fresh_id("say ")))
            elif kind in ("assistant", "error", "counted"):
                counted = None if kind == "assistant" else 1000 + len(ids)
                made.append(
                    assistant(context_tokens=counted, stop_reason="error" if kind == "error" else "stop")
                )
            elif kind == "compaction":
                made.append(compaction(target))
            elif kind == "name":
                made.append(named(fresh_id("name ")))
            elif kind == "file" or target is None:
                made.append(activity("a.py"))
            elif kind == "label":
                made.append(label(target, data.draw(st.sampled_from(["here", "there", None]))))
            else:
                made.append(pin(target, pinned=data.draw(st.booleans())))
        return made

    @rule(data=st.data(), kinds=KINDS)
    def append_at_the_leaf(self, data: st.DataObject, kinds: list[str]) -> None:
        records = self.make(data, kinds)
        expected = self.tree.leaf if data.draw(st.booleans()) else LEAF
        self.last_call = (records, {"expected_leaf_id": expected})
        done = self.store.append(self.conversation, records, modified_at=NOW, expected_leaf_id=expected)
        self.tree.append(records, self.tree.leaf)
        assert done.stored == done.entry_ids == [new.entry.id for new in records]
        assert done.leaf_id == self.tree.leaf
        self.check_end(done)

    @precondition(lambda self: self.tree.records)
    @rule(data=st.data(), kinds=KINDS)
    def append_elsewhere(self, data: st.DataObject, kinds: list[str]) -> None:
        records = self.make(data, kinds)
        parent = data.draw(st.sampled_from([None, *self.tree.records]))
        self.last_call = (records, {"parent_id": parent})
        done = self.store.append(self.conversation, records, parent_id=parent, modified_at=NOW)
        self.tree.append(records, parent)
        self.check_end(done)

    @precondition(lambda self: self.last_call)
    @rule()
    def repeat_the_last_call(self) -> None:
        assert self.last_call is not None
        records, how = self.last_call
        done = self.store.append(self.conversation, records, modified_at=NOW, **how)
        assert (done.stored, done.leaf_id, done.leaf_moved) == ([], self.tree.leaf, False)
        self.check_end(done)

    @precondition(lambda self: self.tree.records)
    @rule(data=st.data())
    def move_the_leaf(self, data: st.DataObject) -> None:
        leaf = data.draw(st.sampled_from([None, *self.tree.records]))
        moved = self.store.set_leaf(self.conversation, leaf, modified_at=NOW)
        assert moved == (leaf != self.tree.leaf)
        self.tree.leaf = leaf

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.store = self.open()

    @invariant()
    def the_record_agrees(self) -> None:
        stored = self.store.conversation(self.conversation)
        assert (stored.leaf_id, stored.entry_count) == (self.tree.leaf, len(self.tree.records))

    @invariant()
    def the_listing_agrees(self) -> None:
        check_tree(self.store, self.conversation, self.tree, 7)


@contextmanager
def fresh_file() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/trees.sqlite3"


def machine(server: PostgresServer | None) -> StoreMachine:
    return StoreMachine(fresh_file() if server is None else fresh_schema(server))


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "histories"), [("sqlite", 40), ("postgresql", 6)])
def test_after_any_history_the_store_says_what_the_plain_tree_says(
    request: pytest.FixtureRequest, engine: str, histories: int
) -> None:
    server = None if engine == "sqlite" else request.getfixturevalue("postgres")
    run_state_machine_as_test(
        partial(machine, server),  # type: ignore[arg-type]  # any maker will do, says its documentation
        settings=settings(max_examples=histories, stateful_step_count=25),
    )


def any_record(chance: random.Random, ids: list[str], parent: str | None) -> NewRecord:
    target = chance.choice(ids or ["none"])
    match chance.randrange(5):
        case 0:
            return user(fresh_id("say "), parent=parent)
        case 1:
            return assistant(parent=parent, context_tokens=chance.randrange(1, 5000))
        case 2:
            return activity("b.py", parent=parent)
        case 3:
            return label(target, "mark", parent=parent)
        case _:
            return compaction(target, parent=parent)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in DRAWN)])
def test_an_imported_tree_of_many_runs_is_found_along_every_path(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    tree, records = ReferenceTree(), []
    for number in range(900):
        ids = list(tree.records)
        parent = None
        if ids and number % 300:
            # Mostly the newest entries, so that runs hang below runs hundreds deep.
            parent = ids[max(len(ids) - 1 - int(chance.expovariate(0.7)), 0)]
        new = any_record(chance, ids, parent)
        records.append(new)
        tree.put(new, parent)
    tree.leaf = chance.choice(list(tree.records))
    with store.importing(new_conversation("imported")) as writer:
        while records:
            size = chance.randrange(1, 90)
            writer.add(records[:size])
            del records[:size]
        writer.leaf(tree.leaf)
    everything = list(tree.records)
    check_paths(store, "imported", tree, chance.sample(everything, 60))
    pairs = [(chance.choice(everything), chance.choice(everything)) for _ in range(300)]
    check_pairs(store, "imported", tree, pairs)
    check_tree(store, "imported", tree, 100)
    assert [entry.id for entry in store.all_entries("imported")] == everything
    assert [entry.parent_id for entry in store.all_entries("imported")] == list(tree.parents.values())
