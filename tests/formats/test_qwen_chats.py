"""Qwen Code's chats: what each record becomes."""

from typing import Any

import pytest
from session_samples import TIME, Json, lines_of, read_lines, texts

from coppice.formats.session import SessionReader
from coppice.tree.entries import CompactionEntry, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import ANSWERED, AssistantMessage, ToolResultMessage, Usage


def record(uuid: str, parent: str | None, kind: str, *parts: Json, **more: Any) -> Json:
    base = {"uuid": uuid, "parentUuid": parent, "sessionId": "q-1", "timestamp": TIME, "type": kind}
    message = {"message": {"role": "user", "parts": list(parts)}} if parts else {}
    return {**base, "cwd": "/home/me/app", "version": "0.24.4", **message, **more}


def prompt_record(uuid: str, parent: str | None, text: str, provenance: str = "real_user") -> Json:
    return record(uuid, parent, "user", {"text": text}, provenance=provenance)


def read(*records: Json) -> tuple[SessionReader, list[Entry]]:
    return read_lines(*lines_of(*records))


def test_a_turn_hangs_together_across_records_of_the_system() -> None:
    call = {"functionCall": {"id": "c", "name": "ls", "args": {"dir": "."}}}
    answer = {"functionResponse": {"id": "c", "name": "ls", "response": {"output": "a.txt"}}}
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11}
    reader, entries = read(
        prompt_record("u", None, "go"),
        record("n", "u", "system", subtype="ui_telemetry", systemPayload={}),
        record(
            "a", "n", "assistant", {"text": "Hm.", "thought": True}, call, model="m", usageMetadata=counts
        ),
        record("r", "a", "tool_result", answer, toolCallResult={"status": "error"}),
    )
    assert (reader.header.format, reader.header.cwd) == ("qwen", "/home/me/app")
    assert [(entry.id, entry.parent_id) for entry in entries] == [("u", None), ("a", "u"), ("r", "a")]
    reply, result = (entry.message for entry in entries[1:] if isinstance(entry, MessageEntry))
    assert isinstance(reply, AssistantMessage)
    assert (reply.stop_reason, [block.type for block in reply.content]) == (
        "toolUse",
        ["thinking", "toolCall"],
    )
    assert reply.usage == Usage(input=9, output=2, cache_read=0, total_tokens=11)
    assert isinstance(result, ToolResultMessage)
    assert (result.tool_call_id, result.is_error, texts(entries)[2]) == ("c", True, "a.txt")
    assert dict(reader.skipped) == {"system ui_telemetry": 1}


def test_what_the_user_did_not_write_is_of_the_harness() -> None:
    _, entries = read(
        prompt_record("u", None, "go"), prompt_record("h", "u", "A reminder.", "system_reminder")
    )
    assert isinstance(entries[1], CustomMessageEntry)


def test_a_prompt_that_was_taken_back_is_a_branch() -> None:
    reader, entries = read(
        prompt_record("u", None, "go"), prompt_record("v", "u", "no"), prompt_record("w", "u", "so")
    )
    assert [entry.parent_id for entry in entries] == [None, "u", "u"]
    assert reader.leaf_id == "w"


def test_a_compression_is_a_compaction() -> None:
    payload = {
        "info": {"originalTokenCount": 900},
        "compressedHistory": [{"role": "user", "parts": [{"text": "Port 48117."}]}],
    }
    _, entries = read(
        prompt_record("u", None, "go"),
        record("z", "u", "system", subtype="chat_compression", systemPayload=payload),
    )
    cut = entries[1]
    assert isinstance(cut, CompactionEntry)
    assert (cut.summary, cut.tokens_before) == ("Port 48117.", 900)


def asking(*headings: str) -> Json:
    questions = [{"question": f"{each}?", "header": each} for each in headings]
    return {"functionCall": {"id": "c", "name": "ask_user_question", "args": {"questions": questions}}}


def details_of(body: str, *calls: Json) -> Any:
    output = f"User has provided the following answers:\n\n{body}"
    response = {"id": "c", "name": "ask_user_question", "response": {"output": output}}
    _, entries = read(
        prompt_record("u", None, "go"),
        record("a", "u", "assistant", *calls),
        record("r", "a", "tool_result", {"functionResponse": response}),
    )
    result = entries[2]
    assert isinstance(result, MessageEntry)
    assert isinstance(result.message, ToolResultMessage)
    return result.message.details


@pytest.mark.parametrize(
    ("headings", "body", "answer"),
    [
        (["Style", "Push"], "**Style**: tabs\n**Push**: **no**\nnever", "tabs\n**no**\n  never"),
        (["Style", "Style"], "**Style**: Style: tabs\n**Style**: no", "Style: tabs\nno"),
        (["Style"], "**Style**: 是否推送：不", "是否推送：不"),
        (["Style", "Push"], "**Style**: tabs", None),
        (["Style"], "**Push**: no\n**Style**: tabs", None),
        (["Push", "Style"], "**Style**: tabs\n**Push**: no", None),
        (["Style", "Push"], "**Style**: tabs\n**Push**: no\n**Style**: b", None),
        (["Style\n\nPush.", "Push"], "**Style\n\nPush.**: tabs\n**Push**: no", None),
        (["Style"], "No valid answers were provided.", None),
        ([], "No valid answers were provided.", None),
        (["Style"] * 5, "\n".join(["**Style**: tabs"] * 5), None),
    ],
)
def test_an_answer_is_what_follows_its_heading(headings: list[str], body: str, answer: str | None) -> None:
    assert details_of(body, asking(*headings)) == (
        ANSWERED if answer is None else {**ANSWERED, "answer": answer}
    )


def test_a_later_call_with_the_id_of_an_answered_one_is_answered_too() -> None:
    def answering(answer: str) -> Json:
        output = f"User has provided the following answers:\n\n**Push**: {answer}"
        return {"functionResponse": {"id": "c", "name": "ask_user_question", "response": {"output": output}}}

    _, entries = read(
        prompt_record("u", None, "go"),
        record("a", "u", "assistant", asking("Push")),
        record("r", "a", "tool_result", answering("no")),
        record("b", "r", "assistant", asking("Push")),
        record("s", "b", "tool_result", answering("never")),
    )
    results = [each.message for each in entries if isinstance(each, MessageEntry)]
    answers = [each.details for each in results if isinstance(each, ToolResultMessage)]
    assert answers == [{**ANSWERED, "answer": "no"}, {**ANSWERED, "answer": "never"}]


def test_of_two_calls_with_one_id_no_answer_is_read() -> None:
    assert details_of("**A**: push**: no", asking("A**: push"), asking("A")) == ANSWERED
