from typing import Any

import pytest
from session_samples import (
    TIME,
    Json,
    call_block,
    lines_of,
    prompt,
    read_lines,
    record,
    reply,
    result,
    result_block,
    text_block,
    texts,
)

from coppice.formats.claude_code import Reader as ClaudeCodeReader
from coppice.tree.entries import CompactionEntry, Entry, MessageEntry
from coppice.tree.messages import (
    AssistantMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)


def entries_of(*records: Json) -> list[Entry]:
    reader, entries = read_lines(*lines_of(*records))
    assert reader.warnings == []
    return entries


def links(entries: list[Entry]) -> dict[str, str | None]:
    return {entry.id: entry.parent_id for entry in entries}


def message_in(entry: Entry) -> Any:
    assert isinstance(entry, MessageEntry)
    return entry.message


def assistant(*blocks: Json, **message: Any) -> AssistantMessage:
    parsed = message_in(entries_of(reply("a", None, "m1", *blocks, **message))[0])
    assert isinstance(parsed, AssistantMessage)
    return parsed


def test_records_without_a_message_are_passed_through() -> None:
    entries = entries_of(
        record("p0", None, "progress", data={}),
        prompt("u1", "p0", "go"),
        record("p1", "u1", "progress", data={}),
        record("s1", "p1", "system", subtype="turn_duration"),
        reply("a1", "s1", "m1", text_block("gone")),
    )
    assert links(entries) == {"u1": None, "a1": "u1"}


def test_streamed_parts_are_one_message() -> None:
    entries = entries_of(
        prompt("u1", None, "go"),
        reply("a1", "u1", "m1", {"type": "thinking", "thinking": "hm", "signature": "sig"}),
        reply("a2", "a1", "m1", text_block("I read it."), usage={"input_tokens": 1, "output_tokens": 1}),
        reply("a3", "a2", "m1", call_block("c1", path="x"), usage={"input_tokens": 10, "output_tokens": 7}),
        result("r1", "a3", result_block("c1")),
        reply("a4", "r1", "m2", text_block("done")),
    )
    assert links(entries) == {"u1": None, "a1": "u1", "r1": "a1", "a4": "r1"}
    message = message_in(entries[1])
    assert [block.type for block in message.content] == ["thinking", "text", "toolCall"]
    assert (message.usage.input, message.usage.output) == (10, 7)
    assert message.stop_reason == "toolUse"


PARALLEL = [
    prompt("u1", None, "go"),
    reply("a1", "u1", "m1", call_block("c1")),
    record("p1", "a1", "progress", data={}),
    reply("a2", "p1", "m1", call_block("c2", "Bash")),
    result("r1", "a1", result_block("c1", "one")),
    reply("a3", "a2", "m1", call_block("c3")),
    record("p2", "r1", "progress", data={}),
    result("r2", "a2", result_block("c2", "two")),
    result("r3", "a3", result_block("c3", "three")),
]


@pytest.mark.parametrize("hung_on", ["r3", "r2", "r1", "a3", "p2", "a1"])
def test_results_of_parallel_calls_follow_one_another_before_anything_else(hung_on: str) -> None:
    entries = entries_of(*PARALLEL, reply("a9", hung_on, "m2", text_block("done")))
    assert links(entries) == {"u1": None, "a1": "u1", "r1": "a1", "r2": "r1", "r3": "r2", "a9": "r3"}
    assert [message_in(entry).tool_name for entry in entries[2:5]] == ["Read", "Bash", "Read"]


def test_a_result_that_comes_after_the_next_message_still_comes_before_it() -> None:
    reader, entries = read_lines(
        *lines_of(
            *PARALLEL[:8], prompt("u2", "r2", "and?"), PARALLEL[8], reply("a9", "u2", "m2", text_block("so"))
        )
    )
    assert [entry.id for entry in entries] == ["u1", "a1", "r1", "r2", "r3", "u2", "a9"]
    assert reader.leaf_id == "a9"


def test_the_leaf_is_the_end_of_the_branch_of_the_last_record() -> None:
    reader, _ = read_lines(*lines_of(*PARALLEL[:8], prompt("u2", "r2", "and?"), PARALLEL[8]))
    assert reader.leaf_id == "u2"


def test_a_prompt_written_anew_is_a_branch() -> None:
    reader, entries = read_lines(
        *lines_of(
            prompt("u1", None, "go"),
            reply("a1", "u1", "m1", text_block("yes")),
            prompt("u2", "a1", "left"),
            reply("a2", "u2", "m2", text_block("left!")),
            prompt("u3", "a1", "right"),
            reply("a3", "u3", "m3", text_block("right!")),
        )
    )
    assert links(entries)["u2"] == links(entries)["u3"] == "a1"
    assert reader.leaf_id == "a3"


def test_the_same_message_id_elsewhere_is_another_message() -> None:
    entries = entries_of(
        prompt("u1", None, "go"),
        reply("a1", "u1", "m1", text_block("first")),
        prompt("u2", "a1", "again"),
        reply("a2", "u2", "m1", text_block("second")),
    )
    assert texts(entries) == ["go", "first", "again", "second"]


def test_several_results_in_one_record_are_several_entries() -> None:
    entries = entries_of(
        reply("a1", None, "m1", call_block("c1"), call_block("c2")),
        result("r1", "a1", result_block("c1", "one"), result_block("c2", "two", is_error=True)),
        prompt("u2", "r1", "next"),
    )
    assert links(entries) == {"a1": None, "r1": "a1", "r1#1": "r1", "u2": "r1#1"}
    assert [message_in(entry).is_error for entry in entries[1:3]] == [False, True]


def test_a_record_of_results_and_words_gives_both() -> None:
    entries = entries_of(
        reply("a1", None, "m1", call_block("c1")),
        result("r1", "a1", text_block("stop that"), result_block("c1", "one")),
        reply("a2", "r1", "m2", text_block("fine")),
    )
    assert links(entries) == {"a1": None, "r1": "a1", "r1#1": "r1", "a2": "r1#1"}
    assert [type(message_in(entry)) for entry in entries[1:3]] == [ToolResultMessage, UserMessage]
    assert texts(entries)[1:3] == ["one", "stop that"]


def boundary(uuid: str, parent: str | None, **more: Any) -> Json:
    metadata = {"trigger": "auto", "preTokens": 1234}
    return record(
        uuid,
        None,
        "system",
        **{"subtype": "compact_boundary", "logicalParentUuid": parent, "compactMetadata": metadata, **more},
    )


def test_boundary_and_summary_are_one_compaction() -> None:
    entries = entries_of(
        *PARALLEL,
        boundary("b1", "r1"),
        prompt("u5", "b1", "what was", isCompactSummary=True),
        reply("a9", "u5", "m2", text_block("on")),
    )
    compaction = entries[5]
    assert isinstance(compaction, CompactionEntry)
    assert (compaction.id, compaction.parent_id) == ("b1", "r3")
    assert (compaction.summary, compaction.tokens_before, compaction.reason) == (
        "what was",
        1234,
        "threshold",
    )
    assert compaction.first_kept_entry_id is None
    assert entries[6].parent_id == "b1"


def test_a_manual_compaction_that_kept_messages_says_so() -> None:
    metadata = {"trigger": "manual", "preservedSegment": {"headUuid": "a2", "tailUuid": "r3"}}
    entries = entries_of(
        *PARALLEL,
        boundary("b1", "r3", compactMetadata=metadata),
        prompt("u5", "b1", "was", isCompactSummary=True),
    )
    compaction = entries[5]
    assert isinstance(compaction, CompactionEntry)
    assert (compaction.reason, compaction.first_kept_entry_id) == ("manual", "a1")
    assert compaction.tokens_before is None


def test_a_boundary_that_names_no_parent_hangs_on_the_last_message() -> None:
    entries = entries_of(*PARALLEL, boundary("b1", None), prompt("u5", "b1", "was", isCompactSummary=True))
    assert entries[5].parent_id == "r3"


def test_a_boundary_without_a_summary_is_passed_through() -> None:
    reader, entries = read_lines(*lines_of(*PARALLEL, boundary("b1", "r3"), prompt("u5", "b1", "go on")))
    assert links(entries)["u5"] == "r3"
    assert reader.warnings == ["line 10: this compaction has no summary and was left out"]


def test_side_conversations_are_left_out_and_counted() -> None:
    reader, entries = read_lines(
        *lines_of(
            prompt("u1", None, "go"),
            prompt("x1", None, "sub", isSidechain=True),
            {**reply("x2", "x1", "m7", text_block("sub")), "isSidechain": True},
            reply("a1", "x2", "m1", text_block("done")),
        )
    )
    assert texts(entries) == ["go", "done"]
    assert reader.warnings == ["line 2: 2 records of side conversations were left out, this one the first"]


def test_what_carries_no_conversation_is_counted_without_a_warning() -> None:
    reader, _ = read_lines(
        *lines_of(
            {"type": "file-history-snapshot", "messageId": "m"},
            prompt("u1", None, "go"),
            record("p", "u1", "progress"),
        )
    )
    assert isinstance(reader, ClaudeCodeReader)
    assert reader.skipped == {"file-history-snapshot": 1, "progress": 1}
    assert reader.warnings == []


def test_the_header_gives_session_folder_and_start() -> None:
    reader, _ = read_lines(*lines_of(prompt("u1", None, "go", gitBranch="main")))
    header = reader.header
    assert (header.session_id, header.cwd, header.created_at) == ("c-1", "/home/me/app", TIME)
    assert header.extra == {"claudeCodeVersion": "2.1.0", "gitBranch": "main"}


@pytest.mark.parametrize(("leaf", "name"), [("u1", "Fixing it"), ("elsewhere", None)])
def test_a_summary_of_this_session_names_it(leaf: str, name: str | None) -> None:
    title = {"type": "summary", "summary": "Fixing it", "leafUuid": leaf}
    assert read_lines(*lines_of(title, prompt("u1", None, "go")))[0].header.name == name


@pytest.mark.parametrize(
    ("records", "line"),
    [
        ([prompt("u1", None, "go"), prompt("u2", "gone", "orphan")], 2),
        ([prompt("u1", "u2", "go"), prompt("u2", "u1", "back")], 1),
        ([prompt("u1", None, "go"), prompt("u1", None, "go")], 2),
        ([prompt("u1", None, "go"), prompt("u1", None, "other")], 2),
        ([prompt("u1", None, "go"), record("u2", "u1", "user")], 2),
        ([prompt("u1", None, "go"), {"type": "user", "message": {"content": "no id"}}], 2),
        ([prompt("u1", None, "go"), result("r1", "u1", result_block("nobody"))], 2),
    ],
)
def test_rotten_records_are_reported_with_their_line(records: list[Json], line: int) -> None:
    reader, entries = read_lines(*lines_of(*records))
    assert {warning.split(":")[0] for warning in reader.warnings} == {f"line {line}"}
    assert "go" in texts(entries)


def test_blocks_are_mapped() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    entries = entries_of(
        reply(
            "a1",
            None,
            "m1",
            {"type": "redacted_thinking", "data": "zzz"},
            {"type": "server_tool_use", "name": "web"},
            call_block("c1", path="x"),
        ),
        result(
            "r1", "a1", result_block("c1", [text_block("seen"), image, {"type": "tool_reference", "x": 1}])
        ),
    )
    thinking, unknown, call = message_in(entries[0]).content
    assert isinstance(thinking, ThinkingContent)
    assert thinking.thinking == ""
    assert (thinking.redacted, thinking.thinking_signature) == (True, "zzz")
    assert unknown == TextContent(text='{"type": "server_tool_use", "name": "web"}')
    assert call == ToolCall(id="c1", name="Read", arguments={"path": "x"})
    assert message_in(entries[1]).content == [
        TextContent(text="seen"),
        ImageContent(data="aGk=", mime_type="image/png"),
        TextContent(text='{"type": "tool_reference", "x": 1}'),
    ]


@pytest.mark.parametrize(
    ("recorded", "ours"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("tool_use", "toolUse"),
        (None, "stop"),
    ],
)
def test_stop_reasons_are_mapped(recorded: str | None, ours: str) -> None:
    assert assistant(text_block("x"), stop_reason=recorded).stop_reason == ours


def test_usage_is_mapped_with_its_sum() -> None:
    usage = {
        "input_tokens": 3,
        "output_tokens": 5,
        "cache_read_input_tokens": 70,
        "cache_creation_input_tokens": 11,
        "service_tier": "standard",
    }
    mapped = assistant(text_block("x"), usage=usage).usage
    assert mapped is not None
    assert (mapped.input, mapped.output, mapped.cache_read, mapped.cache_write) == (3, 5, 70, 11)
    assert mapped.total_tokens == 89


def test_a_made_up_reply_is_an_error() -> None:
    failed = assistant(text_block("API Error: 529"), model="<synthetic>")
    assert (failed.stop_reason, failed.error_message) == ("error", "API Error: 529")
