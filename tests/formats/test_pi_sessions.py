import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_samples import (
    HEADER,
    OBJECTS,
    TIME,
    Json,
    lines_of,
    message_record,
    raw_trees,
    read_lines,
    read_text,
    texts,
    trees,
)
from shared_data import shared_data

from coppice.formats.pi import write as write_session
from coppice.formats.reading import open_session
from coppice.formats.session import SessionHeader
from coppice.tree.entries import (
    ENTRY,
    CompactionEntry,
    CustomEntry,
    Entry,
    FileActivityEntry,
    MessageEntry,
    PinEntry,
)
from coppice.tree.messages import CustomRoleMessage, ToolResultMessage


def exported(header: SessionHeader, entries: list[Entry], leaf_id: str | None = None) -> list[Json]:
    return [json.loads(line) for line in write_session(header, entries, leaf_id=leaf_id)]


def version_1(*bodies: Json, session_id: str = "old") -> list[str]:
    header = {"type": "session", "id": session_id, "timestamp": TIME, "cwd": "/x", "provider": "anthropic"}
    return lines_of(header, *({"timestamp": TIME, **body} for body in bodies))


def spoken(text: str, role: str = "user") -> Json:
    return {"type": "message", "message": {"role": role, "content": [{"type": "text", "text": text}]}}


def compacted(index: object) -> Json:
    return {"type": "compaction", "summary": "s", "tokensBefore": 5, "firstKeptEntryIndex": index}


def test_entries_of_version_1_become_a_chain() -> None:
    reader, entries = read_lines(*version_1(spoken("one"), spoken("two"), spoken("three")))
    assert texts(entries) == ["one", "two", "three"]
    assert [entry.parent_id for entry in entries] == [None, entries[0].id, entries[1].id]
    assert len({entry.id for entry in entries}) == 3
    assert reader.leaf_id == entries[2].id
    assert reader.warnings == []


def test_a_version_1_file_gives_the_same_ids_each_time_and_another_file_others() -> None:
    lines = version_1(spoken("one"), spoken("two"))
    first, again = read_lines(*lines)[1], read_lines(*lines)[1]
    other = read_lines(*version_1(spoken("one"), spoken("two"), session_id="new"))[1]
    assert first == again
    assert not {entry.id for entry in first} & {entry.id for entry in other}


@pytest.mark.parametrize("index", [1, 2])
def test_the_first_kept_index_counts_the_header_as_0(index: int) -> None:
    reader, entries = read_lines(*version_1(spoken("one"), spoken("two"), compacted(index), spoken("three")))
    compaction = entries[2]
    assert isinstance(compaction, CompactionEntry)
    assert compaction.first_kept_entry_id == entries[index - 1].id
    assert "firstKeptEntryIndex" not in compaction.model_dump(by_alias=True)
    assert reader.warnings == []


@pytest.mark.parametrize("index", [0, -1, 3, 4, 99, "2", None])
def test_an_index_of_no_earlier_entry_keeps_nothing(index: object) -> None:
    reader, entries = read_lines(*version_1(spoken("one"), spoken("two"), compacted(index), spoken("three")))
    compaction = entries[2]
    assert isinstance(compaction, CompactionEntry)
    assert compaction.first_kept_entry_id is None
    assert [warning[:8] for warning in reader.warnings] == ["line 4: "]


def test_a_version_1_file_without_its_header_still_counts_it() -> None:
    _, entries = read_lines("{torn", *version_1(spoken("one"), spoken("two"), compacted(2))[1:])
    assert isinstance(entries[2], CompactionEntry)
    assert entries[2].first_kept_entry_id == entries[1].id


@pytest.mark.parametrize("version", [1, 2])
def test_a_hook_message_becomes_a_custom_one(version: int) -> None:
    hook = message_record("a", None)
    hook["message"] = {"role": "hookMessage", "customType": "x", "content": "hi", "display": True}
    if version == 1:
        del hook["id"], hook["parentId"]
    reader, entries = read_lines(*lines_of({**HEADER, "version": version}, hook))
    assert isinstance(entries[0], MessageEntry)
    assert isinstance(entries[0].message, CustomRoleMessage)
    assert reader.warnings == []


def test_ids_are_kept_where_the_header_lost_its_version() -> None:
    header = {key: value for key, value in HEADER.items() if key != "version"}
    reader, entries = read_lines(
        *lines_of(header, message_record("q1", None), message_record("q2", "q1"), message_record("q3", "q1"))
    )
    assert [(entry.id, entry.parent_id) for entry in entries] == [("q1", None), ("q2", "q1"), ("q3", "q1")]
    assert [warning[:8] for warning in reader.warnings] == ["line 1: "]


def test_version_2_keeps_its_ids() -> None:
    _, entries = read_lines(
        *lines_of({**HEADER, "version": 2}, message_record("q1", None), message_record("q2", "q1"))
    )
    assert [(entry.id, entry.parent_id) for entry in entries] == [("q1", None), ("q2", "q1")]


def test_version_4_is_read_as_3() -> None:
    header = {**HEADER, "version": 4, "parentSession": "s-0"}
    reader, entries = read_lines(*lines_of(header, message_record("q1", None), message_record("q2", "q1")))
    assert [(entry.id, entry.parent_id) for entry in entries] == [("q1", None), ("q2", "q1")]
    assert (reader.warnings, reader.unknown.total()) == ([], 0)
    assert (reader.header.session_id, reader.header.extra) == ("s-1", {"parentSession": "s-0"})


@pytest.mark.parametrize("version", [5, "three"])
def test_a_version_we_do_not_know_is_read_as_3(version: object) -> None:
    reader, entries = read_lines(*lines_of({**HEADER, "version": version}, message_record("q1", None)))
    assert [entry.id for entry in entries] == ["q1"]
    assert [warning[:8] for warning in reader.warnings] == ["line 1: "]


def test_the_last_line_is_the_leaf_whatever_it_is() -> None:
    label = {"type": "label", "id": "l", "parentId": "b", "timestamp": TIME, "targetId": "a", "label": "x"}
    reader, entries = read_lines(
        *lines_of(HEADER, message_record("a", None), message_record("b", "a"), label)
    )
    assert reader.leaf_id == "l"
    assert entries[2].parent_id == "b"


def test_the_newest_session_info_names_the_session() -> None:
    names = [
        {"type": "session_info", "id": f"n{n}", "parentId": None, "timestamp": TIME, "name": name}
        for n, name in enumerate(["first", " second "])
    ]
    assert read_lines(*lines_of(HEADER, *names))[0].header.name == "second"
    cleared = {**names[1], "id": "n2", "name": ""}
    assert read_lines(*lines_of(HEADER, *names, cleared))[0].header.name is None


@given(raw_trees(), OBJECTS)
def test_version_3_goes_in_and_out_without_loss(tree: list[Json], extra: Json) -> None:
    lines = [{**extra, **HEADER}, *tree]
    reader, entries = read_lines(*lines_of(*lines))
    assert reader.warnings == []
    assert exported(reader.header, entries, reader.leaf_id) == lines


ODD: st.SearchStrategy[Json] = st.sampled_from(
    [
        {"type": "hologram", "rays": [1, None]},
        {"type": "message", "message": {"role": "oracle", "content": "?"}},
        {"type": "message", "message": {"role": "assistant", "content": [{"type": "song"}]}},
        {"type": "compaction"},
        {"type": "custom"},
        {"no": "type"},
    ]
)


@given(raw_trees(ODD))
def test_what_is_not_understood_goes_out_as_it_came_in(tree: list[Json]) -> None:
    lines: list[Json] = [HEADER, *tree]
    reader, entries = read_lines(*lines_of(*lines))
    assert len(reader.warnings) == len(tree)
    assert exported(reader.header, entries, reader.leaf_id) == lines


def test_what_was_nested_too_deep_goes_out_as_it_came_in() -> None:
    deep = lines_of(message_record("a", None))[0].replace(
        '"message": {', f'"odd": {"[" * 300}{"]" * 300}, "message": {{'
    )
    reader, entries = read_lines(*lines_of(HEADER), deep)
    assert list(write_session(reader.header, entries))[1] == f"{deep}\n"


IDS = [{"id": "x"}, {"id": "y"}]
LABELS = [{"id": "y", "label": "b"}, {"id": "x", "label": "a"}]
"""In the order in which the user answered."""


@pytest.mark.parametrize(
    ("tool", "details", "answer"),
    [
        ("question", {"question": "Which?", "answer": "a table", "wasCustom": True}, "a table"),
        ("question", {"question": "Which?", "answer": None}, None),
        ("questionnaire", {"questions": IDS, "answers": LABELS, "cancelled": False}, "a\nb"),
        ("questionnaire", {"questions": IDS, "answers": LABELS[1:], "cancelled": False}, "a\n(no answer)"),
        ("questionnaire", {"questions": IDS[:1], "answers": LABELS, "cancelled": False}, "a\nb"),
        ("questionnaire", {"answers": LABELS, "cancelled": False}, "b\na"),
        ("questionnaire", {"answers": [{"label": "a"}, {"label": "b"}]}, "a\nb"),
        ("questionnaire", {"questions": [{"id": ""}], "answers": [{"id": "", "label": "a"}]}, "a"),
        ("questionnaire", {"questions": IDS, "answers": LABELS, "cancelled": True}, None),
        ("oracle", {"question": "Which?", "answer": "a table"}, None),
        ("question", "a table", None),
    ],
)
def test_an_answer_to_a_question_is_the_user_s(tool: str, details: Any, answer: str | None) -> None:
    content = [{"type": "text", "text": "User wrote: a table"}]
    result = {"role": "toolResult", "toolCallId": "c", "toolName": tool, "content": content, "isError": False}
    record = {**message_record("a", None), "message": {**result, "details": details, "timestamp": 1}}
    reader, (entry,) = read_lines(*lines_of(HEADER, record))
    assert isinstance(entry, MessageEntry)
    assert isinstance(entry.message, ToolResultMessage)
    marked = details if answer is None else {**details, "answered": True, "answer": answer}
    assert entry.message.details == marked
    assert exported(reader.header, [entry])[1]["message"]["details"] == details


@pytest.mark.parametrize("mark", ["answered", "denied"])
def test_no_tool_marks_its_result_as_the_users_words(mark: str) -> None:
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "ask", "content": [], "isError": True}
    details = {mark: True, "answer": "Push to main."}
    record = {**message_record("a", None), "message": {**result, "details": details, "timestamp": 1}}
    reader, (entry,) = read_lines(*lines_of(HEADER, record))
    assert isinstance(entry, MessageEntry)
    assert isinstance(entry.message, ToolResultMessage)
    assert entry.message.details == {f"pi.{mark}": True, "answer": "Push to main."}
    assert exported(reader.header, [entry])[1]["message"]["details"] == details


@pytest.mark.parametrize("data", ["not json", "[1]", '{"a":\n1}', None, 5])
def test_data_that_only_pretends_to_be_an_original_stays_data(data: Any) -> None:
    entry = CustomEntry(id="a", parent_id=None, timestamp=TIME, custom_type="coppice.unknown", data=data)
    assert exported(SessionHeader("pi", "s"), [entry])[1] == entry.model_dump(mode="json", by_alias=True)


@given(trees(), st.data())
def test_our_own_entries_survive_a_stay_in_pi_s_format(entries: list[Entry], data: st.DataObject) -> None:
    leaf = data.draw(st.sampled_from([entry.id for entry in entries])) if entries else None
    text = "".join(write_session(SessionHeader("coppice", "s", created_at=TIME), entries, leaf_id=leaf))
    reader, again = read_text(text)
    assert {entry.id: entry for entry in again} == {entry.id: entry for entry in entries}
    assert reader.leaf_id == leaf
    assert reader.warnings == []


def test_pins_and_file_activity_are_custom_entries_to_pi() -> None:
    pin = PinEntry(id="p", parent_id="a", timestamp=TIME, target_id="a", pinned=True)
    activity = ENTRY.validate_python(
        {
            "type": "file_activity",
            "id": "f",
            "parentId": "a",
            "timestamp": TIME,
            "changes": [{"path": "x", "kind": "read", "source": "tool"}],
        }
    )
    assert isinstance(activity, FileActivityEntry)
    lines = exported(SessionHeader("coppice", "s"), [pin, activity])[1:]
    assert [line["customType"] for line in lines] == ["coppice.pin", "coppice.file_activity"]
    assert lines[0]["data"] == {"targetId": "a", "pinned": True}


def test_the_leaf_s_line_is_the_last() -> None:
    entries = [
        ENTRY.validate_python(message_record(name, parent))
        for name, parent in [("a", None), ("b", "a"), ("c", "b")]
    ]
    assert [line["id"] for line in exported(SessionHeader("pi", "s"), entries, "b")] == ["s", "a", "c", "b"]


def test_a_name_no_entry_says_is_added_before_the_leaf() -> None:
    entries = [ENTRY.validate_python(message_record("a", None))]
    lines = exported(SessionHeader("coppice", "s", name="Named"), entries, "a")
    assert [line["type"] for line in lines] == ["session", "session_info", "message"]
    reader, _ = read_lines(*lines_of(*lines))
    assert (reader.header.name, reader.leaf_id) == ("Named", "a")


@pytest.fixture
def real_file() -> Path:
    return shared_data() / "pi-session.jsonl"


def test_a_real_session_is_read_whole(real_file: Path) -> None:
    reader = open_session(real_file)
    entries = list(reader)
    assert reader.warnings == []
    assert reader.leaf_id == entries[-1].id
    assert [entry.parent_id for entry in entries] == [None, *(entry.id for entry in entries[:-1])]
    messages = [entry.message for entry in entries if isinstance(entry, MessageEntry)]
    compactions = [entry for entry in entries if isinstance(entry, CompactionEntry)]
    assert (len(entries), len(messages), len(compactions)) == (1002, 990, 2)
    assert sum(isinstance(message, ToolResultMessage) for message in messages) == 448
    first_kept_ids = [compaction.first_kept_entry_id for compaction in compactions]
    assert first_kept_ids == [entries[293 - 1].id, entries[551 - 1].id]


def test_a_real_session_is_the_same_after_an_export(real_file: Path) -> None:
    reader = open_session(real_file)
    before = [json.loads(line) for line in real_file.read_text(encoding="utf-8").splitlines()]
    after = exported(reader.header, list(reader), reader.leaf_id)
    assert after[0] == {**before[0], "version": 3}
    for old, new in zip(before[1:], after[1:], strict=True):
        for added in ("id", "parentId", "firstKeptEntryId"):
            new.pop(added, None)
        old.pop("firstKeptEntryIndex", None)
        assert new == old
