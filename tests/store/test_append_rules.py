"""What an append does to the tree, and what it refuses."""

import pytest
from store.conftest import OpenStore
from store.store_kit import (
    NOW,
    activity,
    assistant,
    compaction,
    ids,
    label,
    named,
    new_conversation,
    pin,
    record,
    user,
)

from coppice.errors import IdConflictError, StaleLeafError, UnknownConversationError, UnknownEntryError
from coppice.store.schema.records import LEAF, NewRecord
from coppice.store.store import Store
from coppice.tokens.size import Size


def path_of(store: Store, conversation: str, leaf: str | None = None) -> list[str]:
    end = store.end(conversation, LEAF if leaf is None else leaf)
    return [] if end is None else [row.id for row in store.rows(end, 0, end.depth)]


def put(store: Store, conversation: str, *records: NewRecord) -> None:
    store.append(conversation, records, modified_at=NOW)


def everything(store: Store, conversation: str) -> list[str]:
    return [entry.id for entry in store.all_entries(conversation)]


def test_the_entries_of_a_call_chain_from_the_leaf(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"), assistant(entry_id="b"))
    done = store.append(conversation, [user(entry_id="c"), assistant(entry_id="d")], modified_at=NOW)
    assert (done.entry_ids, done.stored, done.leaf_id, done.leaf_moved) == (["c", "d"], ["c", "d"], "d", True)
    assert path_of(store, conversation) == ["a", "b", "c", "d"]
    assert store.entry(conversation, "c").parent_id == "b"


def test_a_parent_elsewhere_makes_a_branch(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"), assistant(entry_id="b"), user(entry_id="c"))
    store.append(conversation, [user(entry_id="d")], parent_id="a", modified_at=NOW)
    assert path_of(store, conversation) == ["a", "d"]
    assert path_of(store, conversation, "c") == ["a", "b", "c"]
    nodes, _ = store.tree(conversation, mode="all", limit=9)
    assert [(node.id, node.child_count) for node in nodes] == [("a", 2), ("b", 1), ("c", 0), ("d", 0)]


def test_a_parent_of_none_makes_a_second_root(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"))
    store.append(conversation, [user(entry_id="b")], parent_id=None, modified_at=NOW)
    one, other = store.end(conversation, "a"), store.end(conversation, "b")
    assert one is not None
    assert other is not None
    assert (other.depth, store.common_ancestor(one, other)) == (0, None)


@pytest.mark.parametrize(
    "metadata",
    [
        label("a", "start"),
        pin("a"),
        named("A name"),
        activity("a.py"),
    ],
    ids=lambda new: new.entry.type,
)
def test_metadata_moves_no_leaf_and_is_no_parent(
    store: Store, conversation: str, metadata: NewRecord
) -> None:
    put(store, conversation, user(entry_id="a"))
    done = store.append(conversation, [metadata], modified_at=NOW)
    assert (done.leaf_id, done.leaf_moved) == ("a", False)
    put(store, conversation, user(entry_id="b"), activity("x.py", "f"), user(entry_id="c"))
    assert path_of(store, conversation) == ["a", "b", "c"]
    assert store.entry(conversation, metadata.entry.id).parent_id == "a"
    assert store.entry(conversation, "f").parent_id == "b"


def test_an_extension_s_own_record_is_on_the_path(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"))
    note = record("custom", customType="note", data={"any": None})
    done = store.append(conversation, [note, user(entry_id="b")], modified_at=NOW)
    assert (done.leaf_id, done.leaf_moved) == ("b", True)
    assert path_of(store, conversation) == ["a", note.entry.id, "b"]


def test_metadata_before_the_first_message_has_no_parent(store: Store, conversation: str) -> None:
    done = store.append(conversation, [named("Early", "n"), user(entry_id="a")], modified_at=NOW)
    assert (done.leaf_id, path_of(store, conversation)) == ("a", ["a"])
    assert store.entry(conversation, "n").parent_id is None


def test_a_whole_call_sent_again_changes_nothing(store: Store, conversation: str) -> None:
    call = [user(entry_id="a"), label("a", "start", "l"), assistant(entry_id="b")]
    put(store, conversation, *call)
    put(store, conversation, user(entry_id="c"))
    again = store.append(conversation, call, modified_at="2030-01-01T00:00:00Z")
    assert (again.entry_ids, again.stored, again.leaf_id, again.leaf_moved) == (ids(call), [], "c", False)
    assert path_of(store, conversation) == ["a", "b", "c"]
    assert store.conversation(conversation).modified_at == NOW


def test_a_retry_succeeds_although_the_expected_leaf_is_gone(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"))
    call = [user(entry_id="b")]
    store.append(conversation, call, expected_leaf_id="a", modified_at=NOW)
    again = store.append(conversation, call, expected_leaf_id="a", modified_at=NOW)
    assert (again.stored, again.leaf_id) == ([], "b")


def test_a_retry_on_a_branch_that_was_left_does_not_go_back(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"))
    call = [user(entry_id="b"), assistant(entry_id="c")]
    store.append(conversation, call, parent_id="a", modified_at=NOW)
    store.append(conversation, [user(entry_id="d")], parent_id="a", modified_at=NOW)
    assert store.append(conversation, call, parent_id="a", modified_at=NOW).leaf_id == "d"


def test_a_partial_retry_goes_on_at_the_leaf_and_makes_no_fork(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"), assistant(entry_id="b"))
    put(store, conversation, user(entry_id="c"))
    again = [user(entry_id="a"), assistant(entry_id="b"), user(entry_id="d")]
    assert store.append(conversation, again, modified_at=NOW).stored == ["d"]
    assert path_of(store, conversation) == ["a", "b", "c", "d"]


def test_a_partial_retry_of_a_branch_goes_on_there(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"), assistant(entry_id="b"))
    store.append(conversation, [user(entry_id="x")], parent_id="a", modified_at=NOW)
    store.append(conversation, [user(entry_id="x"), user(entry_id="y")], parent_id="a", modified_at=NOW)
    assert path_of(store, conversation) == ["a", "x", "y"]


def test_an_id_twice_in_one_call_is_stored_once(store: Store, conversation: str) -> None:
    call = [user(entry_id="a"), assistant(entry_id="b"), user(entry_id="a"), user(entry_id="c")]
    done = store.append(conversation, call, modified_at=NOW)
    assert (done.entry_ids, done.stored) == (["a", "b", "a", "c"], ["a", "b", "c"])
    assert path_of(store, conversation) == ["a", "b", "c"]


def test_the_order_of_properties_and_the_time_make_no_difference_to_a_retry(
    store: Store, conversation: str
) -> None:
    put(store, conversation, record("custom", "a", customType="n", data={"x": 1, "y": [True]}))
    again = record(
        "custom", "a", data={"y": [True], "x": 1}, customType="n", timestamp="2001-01-01T00:00:00Z"
    )
    assert store.append(conversation, [again], modified_at=NOW).stored == []


@pytest.mark.parametrize(
    "other",
    [
        user("Something else.", "a"),
        assistant("Plant a tree.", "a"),
        record("custom", "a", customType="n", data=1),
        user("Plant a tree.", "a", extra="kept"),
    ],
    ids=["text", "role", "type", "property"],
)
def test_an_id_with_other_content_is_refused_and_nothing_stored(
    store: Store, conversation: str, other: NewRecord
) -> None:
    put(store, conversation, user("Plant a tree.", "a"))
    with pytest.raises(IdConflictError) as refused:
        put(store, conversation, user(entry_id="b"), other)
    assert refused.value.data == {"entryId": "a"}
    assert everything(store, conversation) == ["a"]


def test_true_and_one_are_other_content(store: Store, conversation: str) -> None:
    put(store, conversation, record("custom", "a", customType="n", data=True))
    with pytest.raises(IdConflictError):
        put(store, conversation, record("custom", "a", customType="n", data=1))


def test_an_id_twice_in_one_call_with_other_content_is_refused(store: Store, conversation: str) -> None:
    with pytest.raises(IdConflictError):
        put(store, conversation, user("One.", "a"), user("Two.", "a"))
    assert everything(store, conversation) == []


def test_a_stale_leaf_is_refused_with_the_leaf(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"), user(entry_id="b"))
    for expected in ("a", None, "never"):
        with pytest.raises(StaleLeafError) as refused:
            store.append(conversation, [user()], expected_leaf_id=expected, modified_at=NOW)
        assert refused.value.data == {"leafId": "b"}
    assert everything(store, conversation) == ["a", "b"]


def test_no_leaf_can_be_expected(store: Store, conversation: str) -> None:
    store.append(conversation, [user(entry_id="a")], expected_leaf_id=None, modified_at=NOW)
    assert path_of(store, conversation) == ["a"]


def test_an_unknown_parent_or_target_is_refused_and_nothing_stored(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"))
    with pytest.raises(UnknownEntryError):
        store.append(conversation, [user()], parent_id="nowhere", modified_at=NOW)
    for mark in (label("nowhere", "x"), pin("nowhere"), label("l", "itself", "l")):
        with pytest.raises(UnknownEntryError):
            put(store, conversation, user(), mark)
    assert everything(store, conversation) == ["a"]
    assert store.conversation(conversation).entry_count == 1


def test_an_unknown_conversation_is_refused(store: Store) -> None:
    with pytest.raises(UnknownConversationError):
        put(store, "nowhere", user())
    with pytest.raises(UnknownConversationError):
        store.end("nowhere", None)
    with pytest.raises(UnknownConversationError):
        list(store.all_entries("nowhere"))


def test_an_entry_of_another_conversation_is_unknown(store: Store, conversation: str) -> None:
    other = store.create(new_conversation()).id
    put(store, other, user(entry_id="theirs"))
    put(store, conversation, user(entry_id="ours"))
    end = store.end(conversation)
    assert end is not None
    assert store.ancestor_depth(end, "theirs") is None
    with pytest.raises(UnknownEntryError):
        store.end(conversation, "theirs")
    with pytest.raises(UnknownEntryError):
        store.set_leaf(conversation, "theirs", modified_at=NOW)


def test_one_id_may_be_in_two_conversations(store: Store, conversation: str) -> None:
    other = store.create(new_conversation()).id
    put(store, conversation, user("Here.", "a"))
    put(store, other, user("There.", "a"))
    assert store.entry(conversation, "a") != store.entry(other, "a")


def test_a_label_in_a_call_may_name_an_entry_of_the_call(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"), label("a", "start"))
    assert [(row.id, row.label) for row in store.tree(conversation, mode="branches", limit=9)[0]] == [
        ("a", "start")
    ]


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_label_without_text_takes_the_name_away(
    store: Store, conversation: str, nothing: str | None
) -> None:
    put(store, conversation, user(entry_id="a"), user(entry_id="b"), label("a", "start"), label("a", nothing))
    assert [row.id for row in store.tree(conversation, mode="branches", limit=9)[0]] == ["b"]


def test_a_pin_is_set_and_taken_away(store: Store, conversation: str) -> None:
    put(
        store,
        conversation,
        user(entry_id="a"),
        user(entry_id="b"),
        pin("a"),
        pin("b"),
        pin("a", pinned=False),
    )
    end = store.end(conversation)
    assert end is not None
    assert [(depth, entry.id) for depth, entry in store.pins(end)] == [(1, "b")]


def test_the_newest_name_and_the_first_user_message_are_in_the_list(store: Store, conversation: str) -> None:
    put(store, conversation, assistant("Hello."), user("Plant\n an oak."), user("And a beech."))
    put(store, conversation, named("Trees"), named("Oaks"))
    listed = store.conversation(conversation)
    assert (listed.name, listed.first_message, listed.entry_count) == ("Oaks", "Plant an oak.", 5)
    put(store, conversation, named(None))
    assert store.conversation(conversation).name is None


def test_navigation_is_stored_and_survives_a_restart(open_store: OpenStore) -> None:
    store = open_store()
    conversation = store.create(new_conversation()).id
    put(store, conversation, user(entry_id="a"), user(entry_id="b"))
    assert store.set_leaf(conversation, "a", modified_at=NOW) is True
    assert store.set_leaf(conversation, "a", modified_at=NOW) is False
    store.close()
    store = open_store()
    assert path_of(store, conversation) == ["a"]
    put(store, conversation, user(entry_id="c"))
    assert path_of(store, conversation) == ["a", "c"]


def test_navigation_above_the_root_makes_the_next_entry_a_root(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"))
    store.set_leaf(conversation, None, modified_at=NOW)
    assert (store.end(conversation), store.conversation(conversation).leaf_id) == (None, None)
    put(store, conversation, user(entry_id="b"))
    assert path_of(store, conversation) == ["b"]


def test_a_stale_navigation_is_refused(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"), user(entry_id="b"))
    with pytest.raises(StaleLeafError):
        store.set_leaf(conversation, "a", expected_leaf_id="a", modified_at=NOW)
    assert path_of(store, conversation) == ["a", "b"]


def test_a_message_under_metadata_puts_it_on_the_path(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"), activity("x.py", "f"), user(entry_id="b"))
    store.append(conversation, [user(entry_id="c")], parent_id="f", modified_at=NOW)
    assert path_of(store, conversation) == ["a", "f", "c"]
    end, left = store.end(conversation), store.end(conversation, "b")
    assert end is not None
    assert left is not None
    assert store.attached(end, -1, end.depth, ["file_activity"]) == []
    assert [entry.id for _, entry in store.attached(left, -1, left.depth, ["file_activity"])] == ["f"]


def test_usage_counts_from_the_newest_valid_answer_since_the_compaction(
    store: Store, conversation: str
) -> None:
    seen = []
    for new in (
        user(tokens=1),
        assistant(context_tokens=500, tokens=2),
        user(tokens=4),
        assistant(context_tokens=900, stop_reason="aborted", tokens=8),
        assistant(context_tokens=0, tokens=16),
        compaction(None, tokens=32),
        user(tokens=64),
        assistant(context_tokens=10**30, tokens=128),
    ):
        put(store, conversation, new)
        end = store.end(conversation)
        assert end is not None
        seen.append((end.usage_tokens, end.since_usage.tokenizer))
    most = 2**53 - 1
    assert seen == [(None, 0), (500, 0), (500, 4), (500, 12), (500, 28), (None, 0), (None, 0), (most, 0)]


def test_a_first_kept_entry_of_the_same_call_is_found(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"), user(entry_id="b"), compaction("b"), user())
    end = store.end(conversation)
    assert end is not None
    cut = store.compaction(end)
    assert cut is not None
    assert (cut.kept_depth, cut.before_kept) == (1, Size(10, 11))


@pytest.mark.parametrize("first_kept", [None, "elsewhere", "x"])
def test_a_first_kept_entry_off_the_path_keeps_nothing(
    store: Store, conversation: str, first_kept: str | None
) -> None:
    put(store, conversation, user(entry_id="a", tokens=10), user(entry_id="x"))
    store.append(conversation, [compaction(first_kept, "k", tokens=3)], parent_id="a", modified_at=NOW)
    end = store.end(conversation)
    assert end is not None
    cut = store.compaction(end)
    assert cut is not None
    assert (cut.kept_depth, cut.before_kept, cut.first_kept_entry_id) == (2, Size(10, 11), None)


def test_an_append_of_nothing_changes_nothing(store: Store, conversation: str) -> None:
    put(store, conversation, user(entry_id="a"))
    done = store.append(conversation, [], modified_at="2030-01-01T00:00:00Z")
    assert (done.entry_ids, done.leaf_id) == ([], "a")
    assert store.conversation(conversation).modified_at == NOW


def test_only_what_is_asked_for_comes_back(store: Store, conversation: str) -> None:
    put(store, conversation, *[user(entry_id=name) for name in "abcde"])
    end = store.end(conversation, "d")
    assert end is not None
    assert [row.id for row in store.rows(end, 1, 2)] == ["b", "c"]
    assert [row.id for row in store.rows(end, -5, 99)] == ["a", "b", "c", "d"]
    assert store.rows(end, 4, 9) == []
    assert store.rows(end, 2, 1) == []
    assert [entry.id for entry in store.entries(end, 3, 3)] == ["d"]
