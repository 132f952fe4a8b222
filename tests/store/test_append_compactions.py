"""What an append does to a compaction and its pins, and what it returns of them."""

from dataclasses import replace

from store.store_kit import NOW, compaction, pin, user

from coppice.store.schema.records import LEAF, CompactionRecord, EntryRef, NewRecord
from coppice.store.store import Store
from coppice.tokens.size import Size


def test_an_append_returns_the_newest_compaction_as_it_leaves_it(store: Store, conversation: str) -> None:
    def appended(*records: NewRecord, parent_id: EntryRef = LEAF) -> CompactionRecord | None:
        done = store.append(conversation, records, parent_id=parent_id, modified_at=NOW)
        assert done.end is not None
        assert done.compaction == store.compaction(done.end)
        return done.compaction

    assert appended(user(entry_id="a"), user(entry_id="b")) is None
    cut = appended(compaction("b", "k"))
    assert cut is not None
    assert (cut.entry_id, cut.has_pins) == ("k", False)
    assert appended(pin("a")) == replace(cut, has_pins=True)
    assert appended(user(entry_id="d")) == replace(cut, has_pins=True)
    assert appended(user(entry_id="e"), parent_id="a") is None
    assert appended(user(entry_id="f"), pin("a", pinned=False), parent_id="d") == cut


def test_a_compaction_knows_its_first_kept_entry_and_ledger(store: Store, conversation: str) -> None:
    store.append(conversation, [*[user(entry_id=name, tokens=10) for name in "abcd"]], modified_at=NOW)
    store.append(
        conversation,
        [compaction("c", "k", tokens=3, ledger={"読んだ": ["a.py"]}), user(tokens=10)],
        modified_at=NOW,
    )
    end = store.end(conversation)
    assert end is not None
    cut = store.compaction(end)
    assert cut is not None
    assert (cut.entry_id, cut.depth, cut.kept_depth, cut.first_kept_entry_id) == ("k", 4, 2, "c")
    assert (cut.before_kept, cut.total, cut.size) == (Size(20, 22), Size(40, 44), Size(3, 4))
    assert store.stored_ledger(end) == {"読んだ": ["a.py"]}
    assert (end.total - cut.before_kept).tokenizer == 30
