"""The shape of a path, compared with a tree of which every entry is known."""

import random

import pytest
from store.store_kit import NOW, assistant, compaction, label, new_conversation, pin, user

from coppice.errors import UnknownEntryError
from coppice.protocol.outline import OutlineResult
from coppice.store.schema.records import LEAF, NewRecord
from coppice.store.store import Store


def put(store: Store, conversation: str, parent: str | None, *records: NewRecord) -> None:
    store.append(conversation, list(records), parent_id=parent, modified_at=NOW)


def outline(store: Store, conversation: str, leaf: str | None = None) -> OutlineResult:
    end = store.end(conversation, LEAF if leaf is None else leaf)
    assert end is not None
    return store.outline(end)


@pytest.fixture
def talk(store: Store) -> str:
    """q1 a1 with two ways on (q2 a2, q3 a3 with a compaction and a second answer), and another beginning."""
    conversation = store.create(new_conversation()).id
    put(store, conversation, None, user("q1", "q1"), assistant("a1", "a1"))
    put(store, conversation, "a1", user("q2", "q2"), assistant("a2", "a2"))
    put(store, conversation, "a1", user("q3", "q3"), assistant("a3", "a3"), compaction("q3", "c"))
    put(store, conversation, "c", assistant("a4", "a4"))
    put(store, conversation, "c", assistant("a5", "a5"))
    put(store, conversation, None, user("q1 again", "r1"), assistant("b1", "b1"))
    put(store, conversation, "a5", user("q6", "q6"))
    return conversation


def test_branch_points_name_the_alternatives_and_the_one_on_the_path(store: Store, talk: str) -> None:
    def forks(leaf: str) -> list[tuple[str, list[str]]]:
        return [(fork.entry_id, fork.alternatives) for fork in outline(store, talk, leaf).forks]

    roots = ["q1", "r1"]
    assert forks("q6") == [("q1", roots), ("q3", ["q2", "q3"]), ("a5", ["a4", "a5"])]
    assert forks("a4") == [("q1", roots), ("q3", ["q2", "q3"]), ("a4", ["a4", "a5"])]
    assert forks("a2") == [("q1", roots), ("q2", ["q2", "q3"])]
    assert forks("b1") == [("r1", roots)]
    # At its own branch point a path has not taken any of the branches yet.
    assert forks("a1") == [("q1", roots)]


def test_compactions_and_marks_of_other_branches_are_left_out(store: Store, talk: str) -> None:
    put(store, talk, "q6", label("q3", "here"), pin("a5"), pin("q3"), label("a2", "there"))
    described = outline(store, talk)
    assert [(each.entry_id, each.depth, each.first_kept_entry_id) for each in described.compactions] == [
        ("c", 4, "q3")
    ]
    assert [(mark.entry_id, mark.label, mark.pinned) for mark in described.marks] == [
        ("q3", "here", True),
        ("a5", None, True),
    ]
    elsewhere = outline(store, talk, "a2")
    assert elsewhere.compactions == []
    assert [(mark.entry_id, mark.label) for mark in elsewhere.marks] == [("a2", "there")]


def test_labels_and_pins_make_no_alternatives(store: Store, talk: str) -> None:
    before = outline(store, talk).forks
    for target in ("q1", "a1", "q3", "a5"):
        put(store, talk, target, label(target, "x"), pin(target))
    assert outline(store, talk, "q6").forks == before


def test_the_end_of_a_branch_is_the_leaf_that_was_stored_last(store: Store, talk: str) -> None:
    put(store, talk, "q6", label("q6", "no entry of the path"))
    ends = {
        entry: store.branch_end(talk, entry)
        for entry in ("q1", "a1", "q2", "q3", "c", "a4", "a5", "q6", "r1")
    }
    assert ends == {
        "q1": "q6",
        "a1": "q6",
        "q2": "a2",
        "q3": "q6",
        "c": "q6",
        "a4": "a4",
        "a5": "q6",
        "q6": "q6",
        "r1": "b1",
    }
    put(store, talk, "a2", user("and then?", "q7"))
    assert (store.branch_end(talk, "a1"), store.branch_end(talk, "q3")) == ("q7", "q6")
    with pytest.raises(UnknownEntryError):
        store.branch_end(talk, "nowhere")


def test_any_tree_is_described_as_it_is(store: Store) -> None:
    """Entries put at random places, against a plain dictionary of parents."""
    chance = random.Random(7)
    conversation = store.create(new_conversation()).id
    parents: dict[str, str | None] = {}
    for number in range(300):
        ids = list(parents)
        parent = chance.choice([ids[-1], ids[-1], ids[-1], chance.choice(ids), None]) if ids else None
        name = f"e{number}"
        put(store, conversation, parent, user(name, name))
        parents[name] = parent

    def path(leaf: str) -> list[str]:
        above = parents[leaf]
        return [*(path(above) if above is not None else []), leaf]

    children: dict[str | None, list[str]] = {}
    for entry, parent in parents.items():
        children.setdefault(parent, []).append(entry)
    for leaf in chance.sample(list(parents), 60):
        expected = [
            (entry, siblings) for entry in path(leaf) if len(siblings := children[parents[entry]]) > 1
        ]
        assert [
            (fork.entry_id, fork.alternatives) for fork in outline(store, conversation, leaf).forks
        ] == expected
        assert store.branch_end(conversation, leaf) == [entry for entry in parents if leaf in path(entry)][-1]


def test_a_path_of_metadata_has_an_outline(store: Store, talk: str) -> None:
    put(store, talk, "a1", label("a1", "here", entry_id="l1"))
    put(store, talk, None, label("q1", "start", entry_id="l2"))
    of_branch, of_root = outline(store, talk, "l1").forks, outline(store, talk, "l2").forks
    assert [(fork.entry_id, fork.alternatives) for fork in of_branch] == [
        ("q1", ["q1", "r1"]),
        ("l1", ["q2", "q3", "l1"]),
    ]
    assert [(fork.entry_id, fork.alternatives) for fork in of_root] == [("l2", ["q1", "r1", "l2"])]
