"""What the user typed while Claude Code worked."""

import json
from pathlib import Path

import pytest
from formats.test_claude_code_harness import attached, prompt_record
from session_samples import Json, read_lines, record

from coppice.formats.reading import open_growing
from coppice.tree.entries import CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import UserMessage, text_of

WORDS = "and the tests"


def queue(operation: str, content: str | None = None) -> Json:
    more = {} if content is None else {"content": content}
    return {
        "type": "queue-operation",
        "operation": operation,
        "timestamp": "2026-01-01T00:00:00.000Z",
        **more,
    }


def call(uuid: str, parent: str, message_id: str) -> Json:
    block = {"type": "tool_use", "id": f"call-{uuid}", "name": "Bash", "input": {}}
    return record(
        uuid, parent, "assistant", message={"id": message_id, "role": "assistant", "content": [block]}
    )


def result(uuid: str, parent: str) -> Json:
    block = {"type": "tool_result", "tool_use_id": f"call-{parent}", "content": "ok"}
    return record(uuid, parent, "user", message={"role": "user", "content": [block]})


def reply(uuid: str, parent: str, message_id: str, text: str = "Well.") -> Json:
    blocks = [{"type": "text", "text": text}]
    message = {"id": message_id, "role": "assistant", "content": blocks, "stop_reason": "end_turn"}
    return record(uuid, parent, "assistant", message=message)


TURN = (prompt_record("a", None, "go"), queue("enqueue", WORDS), call("b", "a", "m1"))


def read(*records: Json) -> list[Entry]:
    return read_lines(*(json.dumps(each) for each in records))[1]


def words(entries: list[Entry]) -> list[str]:
    return [
        text_of(entry.message.content)
        for entry in entries
        if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)
    ]


def is_a_path(entries: list[Entry]) -> bool:
    return [entry.parent_id for entry in entries[1:]] == [entry.id for entry in entries[:-1]]


@pytest.mark.parametrize("early", [True, False])
def test_words_given_to_the_model_during_a_turn_are_on_its_path(*, early: bool) -> None:
    answer = [queue("remove"), result("c", "b")] if early else [result("c", "b"), queue("remove")]
    entries = read(*TURN, *answer, reply("d", "c", "m2"))
    assert (words(entries), len(entries)) == (["go", WORDS], 5)
    assert is_a_path(entries)
    assert entries[-1].id == "d"


def test_the_parts_of_one_reply_stay_together() -> None:
    entries = read(
        *TURN,
        queue("remove"),
        call("b2", "b", "m1"),
        result("c", "b"),
        result("c2", "b2"),
        reply("d", "c2", "m2"),
    )
    assert len(entries) == 6
    assert is_a_path(entries)


@pytest.mark.parametrize("first", [True, False])
def test_words_that_have_an_attachment_count_once(*, first: bool) -> None:
    attachment = attached("q", "c", "queued_command", prompt=WORDS, commandMode="prompt")
    pair = [attachment, queue("remove")] if first else [queue("remove"), attachment]
    entries = read(*TURN, result("c", "b"), *pair, reply("d", "q", "m2"))
    assert (words(entries), is_a_path(entries)) == (["go", WORDS], True)


def test_words_that_are_sent_as_a_prompt_count_once() -> None:
    prompt = prompt_record("q", "c", WORDS)
    end = [reply("c2", "c", "m2"), queue("dequeue"), prompt, reply("d", "q", "m3")]
    assert words(read(*TURN, result("c", "b"), *end)) == ["go", WORDS]
    assert words(read(*TURN, result("c", "b"), *end[:1], *end[2:])) == ["go", WORDS]


@pytest.mark.parametrize("end", [[], [queue("popAll")], [queue("popAll"), queue("remove")]])
def test_words_that_were_not_sent_are_not_in_the_conversation(end: list[Json]) -> None:
    assert words(read(*TURN, result("c", "b"), *end, reply("d", "c", "m2"))) == ["go"]


def test_an_attachment_does_not_take_the_place_of_other_words() -> None:
    notice = f"<task-notification>\n{WORDS}\n</task-notification>"
    entries = read(
        prompt_record("a", None, "go"),
        queue("enqueue", notice),
        prompt_record("n", "a", notice),
        call("b", "n", "m1"),
        queue("enqueue", WORDS),
        queue("remove"),
        result("c", "b"),
        reply("d", "c", "m2"),
    )
    assert words(entries) == ["go", WORDS]
    assert len([entry for entry in entries if isinstance(entry, CustomMessageEntry)]) == 1


def test_words_at_the_end_wait_for_their_attachment(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    records = [*TURN, result("c", "b"), queue("remove")]
    lines = [f"{json.dumps(each)}\n" for each in (*records, reply("d", "c", "m2"))]
    file.write_text("".join(lines[:-1]), encoding="utf-8")
    assert words(list(open_growing(file, "claude-code"))) == ["go"]
    assert words(list(open_growing(file, "claude-code", growing=False))) == ["go", WORDS]
    file.write_text("".join(lines), encoding="utf-8")
    assert words(list(open_growing(file, "claude-code"))) == ["go", WORDS]


@pytest.mark.parametrize("records", [[queue("remove")], [queue("enqueue", WORDS), queue("remove")]])
def test_a_queue_without_a_conversation_is_read(records: list[Json]) -> None:
    assert words(read(*records, prompt_record("a", None, "go"))) in (["go"], [WORDS, "go"])
