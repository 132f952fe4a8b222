"""Copilot CLI's events: what each becomes."""

from pathlib import Path
from typing import Any

import pytest
from session_samples import TIME, Json, lines_of, read_lines, texts

from coppice.formats.reading import open_growing
from coppice.formats.session import SessionReader
from coppice.formats.source import NotResumableError
from coppice.tree.entries import CompactionEntry, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import (
    ANSWERED,
    AssistantMessage,
    ImageContent,
    TextContent,
    ToolResultMessage,
    Usage,
)

START: Json = {
    "sessionId": "s-1",
    "startTime": TIME,
    "copilotVersion": "1.0.102",
    "context": {"cwd": "/home/me/app", "branch": "main"},
}


def event(kind: str, entry_id: str, **data: Any) -> Json:
    return {"type": kind, "data": data, "id": entry_id, "timestamp": TIME, "parentId": None}


def request(call_id: str, name: str, **arguments: Any) -> Json:
    return {"toolCallId": call_id, "name": name, "arguments": arguments, "type": "function"}


def read(*events: Json) -> tuple[SessionReader, list[Entry]]:
    return read_lines(*lines_of(event("session.start", "0", **START), *events))


def test_the_header_names_session_and_folder() -> None:
    reader, _ = read(event("user.message", "u", content="go"))
    assert (reader.header.format, reader.header.session_id) == ("copilot", "s-1")
    assert (reader.header.cwd, reader.header.created_at) == ("/home/me/app", TIME)
    assert reader.header.extra == {"gitBranch": "main", "copilotVersion": "1.0.102"}


def test_the_user_is_read_without_what_was_put_around_the_words() -> None:
    _, entries = read(event("user.message", "u", content="go", transformedContent="<now/> go"))
    assert texts(entries) == ["go"]


def test_a_message_of_another_source_is_of_the_harness() -> None:
    _, (entry,) = read(event("user.message", "u", content="Do the demo.", source="skill-demo"))
    assert isinstance(entry, CustomMessageEntry)


def test_a_reply_has_its_calls_and_the_tokens_counted_before_it() -> None:
    counted = {"inputTokens": 900, "outputTokens": 20, "cacheReadTokens": 600, "cacheWriteTokens": 0}
    _, entries = read(
        event("session.usage_record", "n", usage=counted),
        event(
            "assistant.message", "a", model="m", content="", toolRequests=[request("c", "bash", command="ls")]
        ),
        event("tool.execution_complete", "r", toolCallId="c", success=True, result={"content": "a.txt"}),
    )
    reply, result = (entry.message for entry in entries if isinstance(entry, MessageEntry))
    assert isinstance(reply, AssistantMessage)
    assert (reply.stop_reason, reply.usage) == (
        "toolUse",
        Usage(input=300, output=20, cache_read=600, cache_write=0, total_tokens=920),
    )
    assert isinstance(result, ToolResultMessage)
    assert (result.tool_call_id, result.tool_name, result.is_error) == ("c", "bash", False)
    assert texts(entries)[1] == "a.txt"


def test_a_command_that_failed_is_an_error() -> None:
    _, entries = read(
        event("tool.execution_complete", "r", toolCallId="c", success=True, shellExecution={"exitCode": 2}),
        event(
            "tool.execution_complete", "s", toolCallId="d", success=False, error={"message": "no such tool"}
        ),
    )
    results = [entry.message for entry in entries if isinstance(entry, MessageEntry)]
    assert [getattr(result, "is_error", None) for result in results] == [True, True]
    assert texts(entries) == ["", "no such tool"]


def test_an_image_is_part_of_the_results_of_its_turn_and_a_description_later() -> None:
    asset = {"assetId": "sha256:1", "type": "image", "mimeType": "image/png"}
    seen = {"assetId": "sha256:1", "description": "Image file at path a.png"}
    result = {"content": "Viewed.", "binaryResultsForLlm": [seen, "x", {}]}
    _, (_, first, _, later) = read(
        event("user.message", "u", content="look"),
        event("session.binary_asset", "i", data="QQ==", **asset),
        event("tool.execution_complete", "t", toolCallId="c", success=True, result=result),
        event("user.message", "v", content="again"),
        event("tool.execution_complete", "w", toolCallId="d", success=True, result=result),
    )
    contents = []
    for entry in (first, later):
        assert isinstance(entry, MessageEntry)
        assert isinstance(entry.message, ToolResultMessage)
        contents.append(entry.message.content)
    others = TextContent(text="[binary data]")
    text = TextContent(text="Viewed.")
    assert contents[0] == [text, ImageContent(data="QQ==", mime_type="image/png"), others]
    assert contents[1] == [text, TextContent(text="Image file at path a.png"), others]


def test_a_summary_keeps_what_came_while_it_was_written() -> None:
    _, entries = read(
        event("user.message", "u", content="go"),
        event("session.compaction_start", "s"),
        event("assistant.message", "a", content="on it"),
        event(
            "session.compaction_complete",
            "c",
            success=True,
            summaryContent="Done so far.",
            preCompactionTokens=9,
        ),
    )
    cut = entries[-1]
    assert isinstance(cut, CompactionEntry)
    assert (cut.summary, cut.first_kept_entry_id, cut.tokens_before) == ("Done so far.", "a", 9)


def test_what_is_no_part_of_the_conversation_is_counted() -> None:
    reader, entries = read(
        event("user.message", "u", content="go"),
        event("system.message", "s", content="You are …"),
        event("assistant.message", "a", content="inner", parentToolCallId="c"),
    )
    assert texts(entries) == ["go"]
    assert dict(reader.skipped) == {"system.message": 1, "of another agent": 1}


@pytest.mark.parametrize("agent", ["", "find port", "call|1", "日本", "x" * 101, 7, {}])
def test_events_of_an_agent_whose_id_is_not_read_are_unknown(agent: object) -> None:
    user = event("user.message", "u", content="go")
    of_agent = {**event("assistant.message", "a", content="48117"), "agentId": agent}
    reader, entries = read(user, of_agent, {**of_agent, "agentId": "x" * 100})
    assert texts(entries) == ["go"]
    assert (reader.unknown.total(), reader.skipped.total()) == (1, 2)


def of_sub_agent(kind: str, entry_id: str, **data: Any) -> Json:
    """Some of a sub-agent's events name the call that it was started by, all name the sub-agent."""
    return {**event(kind, entry_id, **data), "agentId": "sub-1"}


SUB_AGENT = (
    of_sub_agent("subagent.started", "1", toolCallId="t", agentDescription="find the port"),
    of_sub_agent("user.message", "2", content="Find the port.", source="agent-s-1"),
    of_sub_agent("assistant.message", "3", content="", toolRequests=[request("c", "bash", command="ls")]),
    of_sub_agent("session.usage_record", "4", usage={"inputTokens": 900}),
    of_sub_agent("tool.execution_complete", "5", toolCallId="c", result={"content": "a.txt"}),
    of_sub_agent("session.compaction_start", "6"),
    of_sub_agent("session.compaction_complete", "7", success=True, summaryContent="Looked."),
    of_sub_agent("assistant.message", "8", content="48117", parentToolCallId="t"),
)


def test_what_a_sub_agent_writes_is_no_part_of_the_session() -> None:
    delegated = event("assistant.message", "a", content="", toolRequests=[request("t", "task")])
    reported = event("tool.execution_complete", "r", toolCallId="t", result={"content": "48117"})
    _, entries = read(event("user.message", "u", content="go"), delegated, *SUB_AGENT, reported)
    assert [entry.id for entry in entries] == ["u", "a", "r"]
    reply = entries[1]
    assert isinstance(reply, MessageEntry)
    assert getattr(reply.message, "usage", None) is None


def test_a_sub_agent_is_read_as_a_part_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    user = event("user.message", "u", content="Nothing of sub-1.")
    path.write_text("\n".join(lines_of(event("session.start", "0", **START), user, *SUB_AGENT)) + "\n")
    reader = open_growing(path, "copilot", part="sub-1")
    entries = list(reader)
    assert (reader.header.session_id, reader.header.name) == ("sub-1", "find the port")
    assert texts(entries) == ["custom_message", "", "a.txt", "compaction", "48117"]
    assert isinstance(entries[0], CustomMessageEntry)
    again = open_growing(path, "copilot", reader.checkpoint, part="sub-1")
    assert [(each.id, each.parent_id) for each in again] == [(each.id, each.parent_id) for each in entries]
    assert isinstance(next(iter(again)), CustomMessageEntry)


def test_a_checkpoint_at_which_sub_agents_were_read_as_the_session_is_not_gone_on_from(
    tmp_path: Path,
) -> None:
    path = tmp_path / "events.jsonl"
    user = event("user.message", "u", content="go")
    path.write_text("\n".join(lines_of(event("session.start", "0", **START), user)) + "\n")
    reader = open_growing(path, "copilot")
    assert texts(list(reader)) == ["go"]
    checkpoint = reader.checkpoint
    assert checkpoint is not None
    assert texts(list(open_growing(path, "copilot", checkpoint))) == ["go"]
    checkpoint.state.pop("version", None)
    with pytest.raises(NotResumableError):
        open_growing(path, "copilot", checkpoint)


FORM: Json = {"message": "Push?", "requestedSchema": {"properties": {"From now on push": {"type": "string"}}}}


@pytest.mark.parametrize(
    ("arguments", "output", "answer"),
    [
        ({"question": "Push?", "choices": ["No", "Yes"]}, "User selected: No", "No"),
        ({"question": "Push?"}, "User responded: User selected: no\n\nnever", "User selected: no\n\nnever"),
        ({"question": "Push?"}, "User skipped question", None),
        (
            {"question": "Push?"},
            "User responded: The user is not available to respond and will look later.",
            None,
        ),
        ({"question": "Push?"}, "Push? User responded: No", None),
        ({"question": "Push?"}, "User responded:\nNo", None),
        (FORM, "User responded: From now on push: no", None),
        ({"question": "Push?", **FORM}, "User responded: From now on push: no", None),
    ],
)
def test_an_answer_is_what_follows_a_fixed_beginning(
    arguments: Json, output: str, answer: str | None
) -> None:
    _, entries = read(
        event("assistant.message", "a", content="", toolRequests=[request("c", "ask_user", **arguments)]),
        event("tool.execution_complete", "r", toolCallId="c", success=True, result={"content": output}),
    )
    details = [
        each.message.details
        for each in entries[1:]
        if isinstance(each, MessageEntry) and isinstance(each.message, ToolResultMessage)
    ]
    assert details == [ANSWERED if answer is None else {**ANSWERED, "answer": answer}]


def test_a_call_with_the_id_of_a_question_is_not_answered() -> None:
    calls = [request("c", "bash", command="x"), request("c", "ask_user", question="Push?")]
    _, entries = read(
        event("assistant.message", "a", content="", toolRequests=calls),
        event(
            "tool.execution_complete",
            "r",
            toolCallId="c",
            success=True,
            result={"content": "User selected: Push"},
        ),
    )
    assert '"answer"' not in entries[1].model_dump_json()
