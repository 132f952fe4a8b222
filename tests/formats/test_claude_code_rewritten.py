"""Compactions of Claude Code's that a mod answered: a summary without a mark, and copies of what stays."""

from pathlib import Path

import pytest
from session_samples import (
    Json,
    call_block,
    lines_of,
    prompt,
    read_lines,
    reply,
    result,
    result_block,
    text_block,
)

from coppice.formats.reading import open_growing
from coppice.tree.entries import CompactionEntry, Entry, MessageEntry


def at(seconds: int, record: Json) -> Json:
    return {**record, "timestamp": f"2026-11-25T10:00:{seconds:02d}.000Z"}


def boundary(seconds: int, uuid: str, parent: str) -> Json:
    record = {"type": "system", "subtype": "compact_boundary", "uuid": uuid, "parentUuid": None}
    return at(seconds, {**record, "logicalParentUuid": parent, "sessionId": "c-1", "isSidechain": False})


def call(seconds: int, uuid: str, parent: str, message_id: str, call_id: str) -> Json:
    return at(seconds, reply(uuid, parent, message_id, call_block(call_id)))


def answer(seconds: int, uuid: str, parent: str, call_id: str) -> Json:
    return at(seconds, result(uuid, parent, result_block(call_id)))


SESSION = [
    at(1, prompt("u1", None, "go")),
    call(2, "a1", "u1", "m1", "c1"),
    answer(3, "r1", "a1", "c1"),
    call(4, "a2", "r1", "m2", "c2"),
    answer(5, "r2", "a2", "c2"),
    boundary(9, "b1", "r2"),
    at(8, prompt("s1", "b1", "the summary")),
    call(4, "a2-copy", "s1", "m2", "c2"),
    answer(5, "r2-copy", "a2", "c2"),  # names the original call
    call(11, "a3", "r2-copy", "m3", "c3"),
    answer(12, "r3", "a3", "c3"),
    boundary(19, "b2", "r3"),
    at(18, prompt("s2", "b2", "the second summary")),
    call(4, "a2-copy-2", "s2", "m2", "c2"),  # stays a second time
    answer(5, "r2-copy-2", "a2", "c2"),
    call(11, "a3-copy", "r2-copy-2", "m3", "c3"),
    answer(12, "r3-copy", "a3", "c3"),
    at(21, reply("a4", "r3-copy", "m4", text_block("done"), stop_reason="end_turn")),
]
LINKS = {
    "u1": None, "a1": "u1", "r1": "a1", "a2": "r1", "r2": "a2", "b1": "r2",
    "a3": "b1", "r3": "a3", "b2": "r3", "a4": "b2",
}  # fmt: skip


def first_kept_ids(entries: list[Entry]) -> dict[str, str | None]:
    return {each.id: each.first_kept_entry_id for each in entries if isinstance(each, CompactionEntry)}


def test_the_summary_is_one_and_what_stays_is_there_once() -> None:
    reader, entries = read_lines(*lines_of(*SESSION))
    assert {entry.id: entry.parent_id for entry in entries} == LINKS
    assert first_kept_ids(entries) == {"b1": "a2", "b2": "a2"}
    assert [entry.summary for entry in entries if isinstance(entry, CompactionEntry)] == [
        "the summary",
        "the second summary",
    ]
    assert reader.leaf_id == "a4"
    assert reader.warnings == []


@pytest.mark.parametrize("seconds", [8, 7], ids=["of the summary", "of its own"])
def test_a_result_that_has_another_time_than_its_original_is_its_copy(seconds: int) -> None:
    records = [
        {**at(seconds, record), "parentUuid": "a2-copy"} if record["uuid"] == "r2-copy" else record
        for record in SESSION
    ]
    reader, entries = read_lines(*lines_of(*records))
    assert {entry.id: entry.parent_id for entry in entries} == LINKS
    assert first_kept_ids(entries) == {"b1": "a2", "b2": "a2"}
    assert reader.warnings == []


def test_a_summary_without_anything_that_stays_is_one() -> None:
    records = [*SESSION[:7], at(10, reply("a3", "s1", "m3", text_block("done")))]
    _, entries = read_lines(*lines_of(*records))
    assert first_kept_ids(entries) == {"b1": None}
    assert entries[-1].parent_id == "b1"


def test_a_prompt_after_a_boundary_without_a_summary_stays_a_prompt() -> None:
    _, entries = read_lines(*lines_of(*SESSION[:6], at(10, prompt("u2", "b1", "go on"))))
    assert first_kept_ids(entries) == {}
    assert isinstance(entries[-1], MessageEntry)
    assert (entries[-1].id, entries[-1].parent_id) == ("u2", "r2")


@pytest.mark.parametrize("length", range(1, len(SESSION)))
def test_nothing_changes_that_was_read_while_it_was_written(tmp_path: Path, length: int) -> None:
    file = tmp_path / "session.jsonl"
    _, whole = read_lines(*lines_of(*SESSION))
    expected = {entry.id: entry for entry in whole}
    file.write_text("".join(f"{line}\n" for line in lines_of(*SESSION[:length])))
    for entry in open_growing(file, "claude-code"):
        assert entry == expected.get(entry.id), "an entry changed"
