"""Gemini CLI's chats: messages that are repeated as they grow, and patches."""

from typing import Any

import pytest
from session_samples import TIME, Json, lines_of, read_lines, texts

from coppice.errors import ImportFailedError
from coppice.formats.session import SessionReader
from coppice.formats.source import NoMessageYetError
from coppice.tree.entries import HARNESS_TYPE, CompactionEntry, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import (
    ANSWERED,
    AssistantMessage,
    ImageContent,
    TextContent,
    ToolCall,
    ToolResultMessage,
    Usage,
)

HEADER: Json = {"sessionId": "s-1", "projectHash": "0", "startTime": TIME, "kind": "main"}


def prompt_record(entry_id: str, *words: str, **more: Any) -> Json:
    return {
        "id": entry_id,
        "timestamp": TIME,
        "type": "user",
        "content": [{"text": word} for word in words],
        **more,
    }


def replied(entry_id: str, text: str, **more: Any) -> Json:
    return {"id": entry_id, "timestamp": TIME, "type": "gemini", "content": text, "model": "g", **more}


def called(call_id: str, output: str | None = None) -> Json:
    call: Json = {"id": call_id, "name": "ls", "args": {"dir": "."}, "status": "success"}
    return call if output is None else {**call, "result": [answered(call_id, output)]}


def answered(call_id: str, output: str) -> Json:
    return {"functionResponse": {"id": call_id, "name": "ls", "response": {"output": output}}}


def history(*messages: Json) -> Json:
    return {"$set": {"messages": list(messages), "lastUpdated": TIME}}


CONTEXT = prompt_record("x", "<session_context>Today is Monday.</session_context>")


def read(*records: Json) -> tuple[SessionReader, list[Entry]]:
    return read_lines(*lines_of(HEADER, *records))


def test_the_context_of_the_session_is_of_the_harness() -> None:
    reader, entries = read(history(CONTEXT), prompt_record("u", "go"))
    assert isinstance(entries[0], CustomMessageEntry)
    assert texts(entries) == ["custom_message", "go"]
    assert (reader.header.session_id, reader.header.created_at) == ("s-1", TIME)


def test_the_prompts_of_a_sub_agent_are_not_the_users() -> None:
    _, entries = read_lines(*lines_of({**HEADER, "kind": "subagent"}, prompt_record("u", "Delete main.")))
    assert [getattr(entry, "custom_type", None) for entry in entries] == [HARNESS_TYPE]


def test_the_newest_version_of_a_message_counts_at_its_first_place() -> None:
    _, entries = read(
        prompt_record("u", "go"),
        replied("a", "I look."),
        replied(
            "a", "I look.", toolCalls=[called("c", "a.txt")], tokens={"input": 9, "output": 2, "total": 11}
        ),
        {"id": "r", "timestamp": TIME, "type": "user", "content": [answered("c", "a.txt")]},
        replied("b", "Done."),
    )
    assert [entry.id for entry in entries] == ["u", "a", "a#c", "b"]
    reply = entries[1]
    assert isinstance(reply, MessageEntry)
    assert isinstance(reply.message, AssistantMessage)
    assert [type(block) for block in reply.message.content][-1] is ToolCall
    assert reply.message.usage == Usage(input=9, output=2, cache_read=0, total_tokens=11)
    assert texts(entries)[2] == "a.txt"


def test_a_compression_is_a_compaction_that_keeps_what_the_new_history_has() -> None:
    _, entries = read(
        prompt_record("u", "go"),
        replied("a", "one"),
        prompt_record("v", "again"),
        history(
            CONTEXT,
            prompt_record("s", "<state_snapshot>port 48117</state_snapshot>"),
            replied("t", "Got it."),
            prompt_record("v"),
        ),
        replied("b", "two"),
    )
    cut = entries[3]
    assert isinstance(cut, CompactionEntry)
    assert (cut.first_kept_entry_id, cut.parent_id) == ("v", "v")
    assert "48117" in cut.summary
    assert [entry.id for entry in entries] == ["u", "a", "v", "s", "b"]


def test_a_history_without_the_last_turn_goes_back() -> None:
    reader, entries = read(
        prompt_record("u", "go"),
        replied("a", "one"),
        prompt_record("v", "no"),
        history(prompt_record("u"), replied("a", "one")),
        prompt_record("w", "so"),
    )
    assert (entries[-1].id, entries[-1].parent_id, reader.leaf_id) == ("w", "a", "w")


def test_a_session_that_is_resumed_in_the_minute_in_which_it_began_goes_on_from_its_end() -> None:
    """Gemini then writes to the same file: the beginning of a session, and its whole history."""
    listed = replied("a", "", toolCalls=[called("c", "a.txt")])
    shown = {**prompt_record("r"), "content": [answered("c", "a.txt")]}
    begun = (prompt_record("u", "go"), listed, shown)
    reader, entries = read(
        history(CONTEXT), *begun, HEADER, history(CONTEXT), history(CONTEXT, *begun), prompt_record("v", "on")
    )
    assert [entry.id for entry in entries] == ["x", "u", "a", "a#c", "v"]
    assert (entries[-1].parent_id, reader.leaf_id) == ("a#c", "v")


def test_a_history_that_is_written_again_after_a_compression_ends_behind_it() -> None:
    summary = prompt_record("s", "<state_snapshot>port 48117</state_snapshot>")
    compressed = history(CONTEXT, summary, prompt_record("v"))
    _, entries = read(
        prompt_record("u", "go"), prompt_record("v", "on"), compressed, compressed, replied("b", "ok")
    )
    assert [(entry.id, entry.parent_id) for entry in entries[-2:]] == [("s", "v"), ("b", "s")]


def test_a_chat_that_was_only_begun_is_no_session() -> None:
    with pytest.raises(NoMessageYetError, match="Gemini CLI chat has no messages"):
        read(history(CONTEXT))


def test_a_file_without_a_chat_s_header_is_refused() -> None:
    with pytest.raises(ImportFailedError, match="No line of this file") as refused:
        read_lines(*lines_of(history(CONTEXT)))
    assert not isinstance(refused.value, NoMessageYetError)


def test_what_hooks_added_is_nobody_s_words() -> None:
    added = "<hook_context>This session was compacted.</hook_context>"
    _, entries = read(
        prompt_record("u", "go", added),
        replied("a", "I look.", toolCalls=[called("c", f"one file\n\n{added}")]),
        prompt_record("v", f"what is {added}?"),
    )
    assert texts(entries) == ["go", "I look.", "one file", f"what is {added}?"]


def test_an_image_that_a_tool_showed_is_in_its_result_and_no_message_of_the_user() -> None:
    image = {"inlineData": {"data": "QQ==", "mimeType": "image/png"}}
    shown = [answered("c", "One item."), image, image, answered("d", "None.")]
    calls = [{**called("c"), "result": shown[:3]}, {**called("d"), "result": shown[3:]}]
    _, entries = read(
        prompt_record("u", "look"),
        replied("a", "", toolCalls=calls),
        {"id": "t", "timestamp": TIME, "type": "user", "content": shown},
        {"id": "v", "timestamp": TIME, "type": "user", "content": [image, {"text": "mine"}]},
    )
    messages = [entry.message for entry in entries if isinstance(entry, MessageEntry)]
    assert [message.role for message in messages] == ["user", "assistant", "toolResult", "toolResult", "user"]
    read_image = ImageContent(data="QQ==", mime_type="image/png")
    assert isinstance(messages[2], ToolResultMessage)
    assert messages[2].content == [TextContent(text="One item."), read_image, read_image]
    assert getattr(messages[4], "content", None) == [read_image, TextContent(text="mine")]


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ('{"answers":{"0":"tabs","1":"main NIE anfassen\\nnie"}}', "tabs\nmain NIE anfassen\n  nie"),
        ('{"answers":{"0":"tabs","1":2}}', "tabs\n2"),
        ('{"answers":{"0":"tabs","Push?":"Yes"}}', "tabs\n(no answer)\nYes"),
        ('{"answers":{"1":"Yes"}}', "(no answer)\nYes"),
        ('{"answers":{"2":"Yes"}}', "(no answer)\n(no answer)\nYes"),
        ('{"answers":{}}', None),
        ('{"answers":["Push."]}', None),
        ("User dismissed ask_user dialog without answering.", None),
        ("[" * 9_000, None),
        (f"{'1' * 5000} is the answer", None),
    ],
)
def test_an_answer_is_what_is_recorded_for_each_question(output: str, answer: str | None) -> None:
    response = {"id": "c", "name": "ask_user", "response": {"output": output}}
    asks = {"id": "c", "name": "ask_user", "args": {"questions": [{"question": "Style?"}, {}]}}
    _, entries = read(
        prompt_record("u", "go"),
        replied("a", "", toolCalls=[{**asks, "result": [{"functionResponse": response}]}]),
    )
    result = entries[2]
    assert isinstance(result, MessageEntry)
    assert isinstance(result.message, ToolResultMessage)
    assert result.message.details == (ANSWERED if answer is None else {**ANSWERED, "answer": answer})


@pytest.mark.parametrize("shown_id", ["c", "d"])
def test_an_answer_is_read_wherever_its_call_is_recorded(shown_id: str) -> None:
    asks = {"name": "ask_user", "args": {"questions": [{"question": "Style?"}, {"question": "Push?"}]}}
    response = {"id": shown_id, "name": "ask_user", "response": {"output": '{"answers":{"0":"tabs"}}'}}
    asking = {"functionCall": {"id": "c", **asks}}
    _, entries = read(
        prompt_record("u", "go"),
        {"id": "a", "timestamp": TIME, "type": "gemini", "content": [asking]},
        {"id": "r", "timestamp": TIME, "type": "user", "content": [{"functionResponse": response}]},
    )
    result = entries[2]
    assert isinstance(result, MessageEntry)
    assert isinstance(result.message, ToolResultMessage)
    answer = "tabs\n(no answer)" if shown_id == "c" else "tabs"
    assert result.message.details == {**ANSWERED, "answer": answer}
