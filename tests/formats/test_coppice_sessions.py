import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_samples import OBJECTS, TIME, WORDS, lines_of, message_record, read_lines, read_text, trees

from coppice.errors import ImportFailedError
from coppice.formats.coppice import write as write_session
from coppice.formats.reading import open_session
from coppice.formats.session import SessionHeader
from coppice.tree.entries import Entry

HEADER = {"type": "coppice", "version": 1, "id": "k", "name": "Named", "createdAt": TIME}


@given(trees(), OBJECTS, st.none() | WORDS, st.data())
def test_a_conversation_goes_out_and_in_without_loss(
    entries: list[Entry], extra: dict[str, object], name: str | None, data: st.DataObject
) -> None:
    leaf = data.draw(st.none() | st.sampled_from([entry.id for entry in entries])) if entries else None
    header = SessionHeader("coppice", "k", name=name, cwd="/home/me/app", created_at=TIME, extra=extra)
    reader, again = read_text("".join(write_session(header, entries, leaf_id=leaf)))
    assert again == entries
    assert [entry.model_dump(mode="json") for entry in again] == [
        entry.model_dump(mode="json") for entry in entries
    ]
    assert reader.header == header
    assert reader.leaf_id == leaf
    assert reader.warnings == []


def test_the_stored_leaf_is_the_leaf() -> None:
    reader, _ = read_lines(
        *lines_of({**HEADER, "leafId": "a"}, message_record("a", None), message_record("b", "a"))
    )
    assert reader.leaf_id == "a"


def test_without_a_stored_leaf_metadata_are_no_leaf() -> None:
    pin = {"type": "pin", "id": "p", "parentId": "a", "timestamp": TIME, "targetId": "a", "pinned": True}
    reader, entries = read_lines(*lines_of(HEADER, message_record("a", None), pin))
    assert reader.leaf_id == "a"
    assert len(entries) == 2


def test_a_leaf_that_was_lost_gives_way_to_the_last_entry() -> None:
    reader, _ = read_lines(*lines_of({**HEADER, "leafId": "gone"}, message_record("a", None)))
    assert reader.leaf_id == "a"
    assert reader.warnings == ["line 1: the leaf 'gone' is not in the file; the last entry is the leaf"]


@pytest.mark.parametrize("version", [2, "1", None])
def test_a_newer_version_is_refused(version: object) -> None:
    with pytest.raises(ImportFailedError, match="Update Coppice"):
        open_session(json.dumps({**HEADER, "version": version}))


def test_properties_of_the_header_that_we_do_not_know_are_kept() -> None:
    reader, _ = read_lines(*lines_of({**HEADER, "colour": "green", "extra": {"shape": "round"}}))
    assert reader.header.extra == {"colour": "green", "shape": "round"}
