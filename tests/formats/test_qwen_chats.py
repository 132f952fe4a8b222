"""Qwen Code's chats: what each record becomes."""

from typing import Any

from session_samples import TIME, Json, lines_of, read_lines, texts

from coppice.formats.session import SessionReader
from coppice.tree.entries import CompactionEntry, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import AssistantMessage, ToolResultMessage, Usage


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
