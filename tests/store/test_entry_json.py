"""Whatever text an entry holds comes back, or in place of what no database holds a U+FFFD."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store.store_kit import NOW, label, new_conversation, record, user

from coppice.errors import UnknownConversationError, UnknownEntryError
from coppice.store.schema.entry_json import body_of, entry_from, showable, storable
from coppice.store.store import Store
from coppice.tree.entries import ENTRY

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("ab_-é", max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_an_entry_comes_back_as_it_went(data: Any, extra: Any) -> None:
    entry = record("custom", "a", customType="n", data=data, unknownProperty=extra).entry
    back = entry_from("a", "p", NOW, "custom", body_of(entry))
    sent = entry.model_dump(mode="json", by_alias=True) | {"parentId": "p"}
    assert back.model_dump(mode="json", by_alias=True) == sent


@given(st.text())
def test_storable_text_can_be_encoded_and_other_text_stays(text: str) -> None:
    stored = storable(text)
    stored.encode("utf-8")
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert stored == text


@pytest.mark.parametrize(
    ("text", "stored"),
    [("\ud800", "\ufffd"), ("a\udc00b", "a\ufffdb"), ("\ud83c\udf33", "🌳"), ("\0", "\0"), ("木", "木")],
)
def test_a_lone_surrogate_becomes_a_replacement_character(text: str, stored: str) -> None:
    assert storable(text) == stored


def test_a_column_that_is_shown_holds_no_nul() -> None:
    assert showable("a\0b") == "a\ufffdb"


def test_lone_surrogates_deep_in_an_entry_do_not_stop_it(store: Store, conversation: str) -> None:
    entry = record("custom", "a", customType="n", data={"k\ud800": ["\udfff", 10**40, 1e300]})
    store.append(conversation, [entry], modified_at=NOW)
    [back] = store.all_entries(conversation)
    assert back.model_dump()["data"] == {"k\ufffd": ["\ufffd", 10**40, 1e300]}


def test_ids_are_any_text(store: Store, conversation: str) -> None:
    ids = ["'; DROP TABLE entry; --", "木" * 200, "\0", " ", "%_", "🌳", "a\nb", "A", "a"]
    store.append(conversation, [user(entry_id=one) for one in ids], modified_at=NOW)
    end = store.end(conversation)
    assert end is not None
    assert [entry.id for entry in store.entries(end, 0, 99)] == ids
    assert [store.ancestor_depth(end, one) for one in ids] == list(range(len(ids)))


def test_an_id_that_is_no_text_is_unknown(store: Store, conversation: str) -> None:
    store.append(conversation, [user(entry_id="a")], modified_at=NOW)
    end = store.end(conversation)
    assert end is not None
    assert store.ancestor_depth(end, "\ud800") is None
    with pytest.raises(UnknownEntryError):
        store.entry(conversation, "\ud800")
    with pytest.raises(UnknownEntryError):
        store.append(conversation, [user()], parent_id="\ud800", modified_at=NOW)
    with pytest.raises(UnknownEntryError):
        store.tree(conversation, mode="all", limit=5, after="\ud800")
    for ask in (store.conversation, store.delete, store.end):
        with pytest.raises(UnknownConversationError):
            ask("\ud800")


def test_names_labels_and_sources_with_odd_text_are_kept(store: Store) -> None:
    odd = "\ud800\0木"
    made = store.create(
        new_conversation("odd", workspace_uri="file:///\ud800", name=odd, source={"path": "\udc00"})
    )
    assert (made.name, made.source) == ("\ufffd\ufffd木", {"path": "\ufffd"})
    assert store.conversations(workspace_uri="file:///\ud800", limit=5)[0] == [made]
    store.append("odd", [user(entry_id="a"), label("a", "\0")], modified_at=NOW)
    assert [row.label for row in store.tree("odd", mode="branches", limit=5)[0]] == ["\ufffd"]


def test_a_large_entry_comes_back(store: Store, conversation: str) -> None:
    text = "木🌳a" * 1_000_000
    store.append(conversation, [user(text, "a")], modified_at=NOW)
    assert store.entry(conversation, "a") == ENTRY.validate_python(
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "timestamp": NOW,
            "message": {"role": "user", "content": text},
        }
    )
