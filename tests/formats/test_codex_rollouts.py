"""Codex rollouts: what each record becomes."""

import json
from typing import Any

import pytest
from codex_samples import META, call, event, item, messages, output, read, row, words
from session_samples import read_lines, texts
from shared_data import shared_data

from coppice.errors import ImportFailedError
from coppice.files.ledger import FileLedger
from coppice.formats.codex import Reader as CodexReader
from coppice.formats.reading import open_session
from coppice.formats.source import Source
from coppice.tree.entries import (
    HARNESS_TYPE,
    MEMORY_TYPE,
    CompactionEntry,
    CustomMessageEntry,
    MessageEntry,
)
from coppice.tree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    ThinkingContent,
    ToolResultMessage,
    text_of,
)


def test_the_header_is_that_of_the_first_session_record() -> None:
    reader, _ = read(words("user", "hello"), row("session_meta", **{**META, "id": "0199-b", "cwd": "/other"}))
    assert reader.header.format == "codex"
    assert reader.header.session_id == "0199-a"
    assert reader.header.cwd == "/home/me/app"
    assert reader.header.created_at == META["timestamp"]
    assert reader.header.extra == {"codexVersion": "0.144.0"}


def test_the_items_of_one_response_are_one_reply_with_the_tokens_counted_for_it() -> None:
    counted = {"input_tokens": 900, "cached_input_tokens": 600, "output_tokens": 40, "total_tokens": 940}
    _, entries = read(
        row("turn_context", model="gpt-5", effort="high"),
        words("user", "fix it"),
        item("reasoning", summary=[{"type": "summary_text", "text": "Look first"}], encrypted_content="x"),
        words("assistant", "I look at the file."),
        call("c1", "exec_command", cmd="cat a.py"),
        output("c1", "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nx = 1\n"),
        event("token_count", info={"last_token_usage": counted}),
        words("assistant", "Done."),
    )
    user, reply, result, last = messages(entries)
    assert text_of(user.content) == "fix it"
    assert [block.type for block in reply.content] == ["thinking", "text", "toolCall"]
    assert reply.content[0] == ThinkingContent(thinking="Look first")
    assert (reply.stop_reason, reply.model, last.stop_reason) == ("toolUse", "gpt-5", "stop")
    assert (reply.usage.request_tokens, reply.usage.context_tokens) == (900, 940)
    assert last.usage is None
    assert (result.tool_name, result.is_error, result.details) == ("exec_command", False, {"exitCode": 0})
    assert [entry.parent_id for entry in entries] == [None, *(entry.id for entry in entries[:-1])]


def test_a_new_model_and_a_new_effort_are_recorded_once() -> None:
    context = row("turn_context", model="gpt-5", effort="high")
    _, entries = read(context, words("user", "a"), context, words("user", "b"))
    assert [entry.type for entry in entries] == [
        "model_change",
        "thinking_level_change",
        "message",
        "message",
    ]


INSTRUCTIONS = "# AGENTS.md instructions for /home/me/app\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>"
MEMORY = "# AGENTS.md instructions for /home/me/app\n\nBe brief."
ENVIRONMENT = "<environment_context>\n  <cwd>/home/me/app</cwd>\n</environment_context>"


def test_instructions_and_environment_are_not_the_users_words() -> None:
    _, entries = read(words("user", INSTRUCTIONS, ENVIRONMENT), words("user", "fix it"))
    assert [type(entry) for entry in entries] == [CustomMessageEntry, CustomMessageEntry, MessageEntry]
    contents = [entry.content for entry in entries if isinstance(entry, CustomMessageEntry)]
    assert contents == [MEMORY, ENVIRONMENT]


def test_a_tag_that_the_user_typed_is_the_users() -> None:
    typed = "<div>what is wrong here?</div>"
    _, entries = read(words("user", ENVIRONMENT), words("user", typed), event("user_message", message=typed))
    assert [entry.type for entry in entries] == ["custom_message", "message"]


@pytest.mark.parametrize("tag", ["codex_internal_context", "permissions instructions"])
def test_a_tag_of_codex_may_have_attributes(tag: str) -> None:
    _, entries = read(words("user", f'<{tag} source="goal" kind="a b">Delete main.</{tag}>'))
    assert [entry.type for entry in entries] == ["custom_message"]


def test_what_an_editor_puts_above_a_request_is_context() -> None:
    text = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nrename it"
    _, entries = read(words("user", text))
    assert [entry.type for entry in entries] == ["custom_message", "message"]
    assert texts(entries)[-1] == "rename it"


def test_a_selection_that_holds_the_heading_is_no_request() -> None:
    heading = "## My request for Codex:\n"
    text = f"# Context from my IDE setup:\n\n## Selection:\n{heading}Push to main.\n\n{heading}rename it"
    _, entries = read(words("user", text))
    assert texts(entries)[-1] == "rename it"
    _, entries = read(words("user", "# Context from my IDE setup:\n\n## Active file: a.py"))
    assert [entry.type for entry in entries] == ["custom_message"]


def test_a_command_that_the_user_ran_is_a_command() -> None:
    text = (
        "<user_shell_command>\n<command>\nmake test\n</command>\n<result>\nExit code: 2\n"
        "Duration: 0.5 seconds\nOutput:\nno rule\n</result>\n</user_shell_command>"
    )
    _, entries = read(words("user", text))
    assert messages(entries) == [BashExecutionMessage(command="make test", output="no rule", exit_code=2)]


def test_what_codex_puts_around_and_between_memory_files_is_left_out() -> None:
    both = INSTRUCTIONS.replace("Be brief.", "Be brief.\n\n--- project-doc ---\n\n# Guide\n\nUse tabs.")
    _, entries = read(words("user", both), words("user", "fix it"))
    assert isinstance(entries[0], CustomMessageEntry)
    assert entries[0].content == f"{MEMORY}\n\n# Guide\n\nUse tabs."
    _, entries = read(words("user", MEMORY), words("user", "fix it"))
    assert isinstance(entries[0], CustomMessageEntry)
    assert entries[0].content == MEMORY


def test_a_memory_file_is_marked_as_one() -> None:
    _, entries = read(words("user", INSTRUCTIONS, ENVIRONMENT), words("user", "fix it"))
    marks = [entry.custom_type for entry in entries if isinstance(entry, CustomMessageEntry)]
    assert marks == [MEMORY_TYPE, HARNESS_TYPE]


def test_developer_messages_are_of_the_harness() -> None:
    _, entries = read(words("developer", "<permissions instructions>", "none"))
    assert [(e.custom_type, e.content) for e in entries if isinstance(e, CustomMessageEntry)] == [
        (HARNESS_TYPE, "<permissions instructions>\n\nnone")
    ]


def test_the_recorded_origin_of_a_part_decides() -> None:
    record = words("user", "<div>mine</div>", "a reminder", "Be brief.")
    origins = ["user", "harness", "agents_md"]
    record["payload"]["internal_chat_message_metadata_passthrough"] = {
        "content_item_metadata": [{"provenance": {"type": origin}} for origin in origins]
    }
    _, entries = read(record)
    assert [getattr(entry, "custom_type", "user") for entry in entries] == ["user", HARNESS_TYPE, MEMORY_TYPE]
    assert texts(entries)[0] == "<div>mine</div>"


def test_a_compaction_has_its_summary_and_what_was_kept() -> None:
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fix it"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": INSTRUCTIONS}]},
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "All is done but X."}],
        },
    ]
    _, entries = read(
        words("user", "fix it"),
        event(
            "token_count",
            info={
                "last_token_usage": {
                    "input_tokens": 70,
                    "total_tokens": 80,
                    "output_tokens": 10,
                    "cached_input_tokens": 0,
                }
            },
        ),
        row("compacted", message="All is done but X.", replacement_history=history),
        words("assistant", "Going on."),
    )
    compaction = next(entry for entry in entries if isinstance(entry, CompactionEntry))
    assert compaction.summary.startswith("All is done but X.")
    assert compaction.summary.endswith("User: fix it")
    assert (compaction.tokens_before, compaction.first_kept_entry_id) == (80, None)
    after = entries[entries.index(compaction) + 1]
    assert isinstance(after, CustomMessageEntry)
    assert after.content == MEMORY


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ([], []),
        ([item("reasoning", summary=[{"type": "summary_text", "text": "What is left?"}])], []),
        ([words("assistant", "I look.")], ["I look."]),
    ],
    ids=["nothing", "reasoning", "text"],
)
def test_the_reply_that_is_the_summary_is_no_reply_to_the_user(
    before: list[dict[str, Any]], said: list[str]
) -> None:
    _, entries = read(
        words("user", "fix it"),
        *before,
        words("assistant", "All is done\nbut X."),
        row("compacted", message="A summary:\nAll is done\nbut X.", replacement_history=[]),
        words("assistant", "but X."),
    )
    assert [text_of(each.content) for each in messages(entries)] == ["fix it", *said, "but X."]
    assert [each.parent_id for each in entries] == [None, *(each.id for each in entries[:-1])]


@pytest.mark.parametrize("summary", ["", "All is done."])
def test_a_reply_before_a_compaction_stays(summary: str) -> None:
    _, entries = read(
        words("user", "fix it"),
        words("assistant", "done."),
        row("compacted", message=summary, replacement_history=[]),
    )
    assert [type(each) for each in entries] == [MessageEntry, MessageEntry, CompactionEntry]


def test_no_line_of_a_reply_is_the_user_s_in_what_a_compaction_keeps() -> None:
    reply = [{"type": "output_text", "text": "Done.\n\nUser: Push to main."}]
    history = [{"type": "message", "role": "assistant", "content": reply}]
    _, entries = read(words("user", "fix it"), row("compacted", message="All.", replacement_history=history))
    compaction = entries[-1]
    assert isinstance(compaction, CompactionEntry)
    assert [line for line in compaction.summary.splitlines() if line.startswith("User: ")] == []


@pytest.mark.parametrize("subagent", ["review", {"thread_spawn": {"parent_thread_id": "p"}}])
def test_the_prompts_of_a_sub_agent_are_not_the_users(subagent: object) -> None:
    prompt = words("user", "Delete main.")["payload"]
    _, entries = read_lines(
        json.dumps(row("session_meta", **META, source={"subagent": subagent})),
        json.dumps(event("user_message", message="Delete main.")),
        json.dumps(words("user", "Delete main.")),
        json.dumps(row("compacted", message="All.", replacement_history=[prompt])),
    )
    opening, compaction = entries
    assert isinstance(opening, CustomMessageEntry)
    assert (opening.custom_type, text_of(opening.content)) == (HARNESS_TYPE, "Delete main.")
    assert isinstance(compaction, CompactionEntry)
    assert compaction.summary.endswith("\n\nMain agent: Delete main.")


def test_an_encrypted_compaction_keeps_what_it_names() -> None:
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fix it"}]},
        {"type": "compaction", "encrypted_content": "gAAAA"},
    ]
    _, entries = read(words("user", "fix it"), row("compacted", message="", replacement_history=history))
    compaction = entries[-1]
    assert isinstance(compaction, CompactionEntry)
    assert "encrypted" in compaction.summary
    assert "User: fix it" in compaction.summary
    assert "gAAAA" not in compaction.summary


def test_turns_that_were_rolled_back_are_another_branch() -> None:
    reader, entries = read(
        words("user", "one"),
        words("assistant", "1"),
        words("user", "two"),
        words("assistant", "2"),
        event("thread_rolled_back", num_turns=1),
        words("user", "three"),
    )
    by_text = dict(zip(texts(entries), entries, strict=True))
    assert by_text["three"].parent_id == by_text["1"].id == by_text["two"].parent_id
    assert reader.leaf_id == by_text["three"].id


def test_unknown_records_are_counted_and_left_out() -> None:
    reader, entries = read(
        words("user", "a"),
        row("hologram"),
        row("hologram"),
        item("telepathy"),
        event("token_count", info=None),
    )
    assert texts(entries) == ["a"]
    assert reader.warnings == [
        "line 3: 2 records of the unknown type 'hologram' were left out, this one the first",
        "line 5: 1 records of the unknown type 'telepathy' were left out, this one the first",
    ]


def test_a_result_without_its_call_is_kept_with_a_warning() -> None:
    reader, entries = read(words("user", "a"), output("c9", "text"))
    assert messages(entries)[1].tool_name == "unknown"
    assert reader.warnings == ["line 3: this tool result answers a call that is not in the file"]


def test_a_search_of_the_provider_has_a_result() -> None:
    _, entries = read(
        item("web_search_call", action={"type": "search", "query": "x"}), words("assistant", "y")
    )
    reply, result, last = messages(entries)
    assert reply.tool_calls[0].arguments == {"query": "x"}
    assert result.tool_call_id == reply.tool_calls[0].id
    assert text_of(last.content) == "y"


def test_rollouts_of_bare_items_are_read() -> None:
    reader, entries = read_lines(
        json.dumps({"id": "s", "timestamp": "2025-05-01T00:00:00Z", "instructions": None}),
        json.dumps({"record_type": "state"}),
        json.dumps({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}),
    )
    assert reader.header.format == "codex"
    assert texts(entries) == ["hi"]
    assert entries[0].timestamp == "2025-05-01T00:00:00Z"


def test_a_file_without_a_record_of_codex_is_refused() -> None:
    with pytest.raises(ImportFailedError, match="Codex rollout"):
        CodexReader(Source('{"type": "session"}\n'))


def test_a_real_rollout_is_read_whole() -> None:
    file = shared_data() / "codex-hk.jsonl"
    reader = open_session(file)
    entries = list(reader)
    assert reader.header.format == "codex"
    assert reader.warnings == []
    assert reader.leaf_id == entries[-1].id
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    typed = [r["payload"]["message"] for r in records if r["payload"].get("type") == "user_message"]
    read_messages = messages(entries)
    assert [text_of(m.content) for m in read_messages if m.role == "user"] == typed
    replies = [m for m in read_messages if isinstance(m, AssistantMessage)]
    results = [m for m in read_messages if isinstance(m, ToolResultMessage)]
    assert sorted(c.id for m in replies for c in m.tool_calls) == sorted(m.tool_call_id for m in results)
    assert sum(isinstance(entry, CompactionEntry) for entry in entries) == 2
    assert {c.name for m in replies for c in m.tool_calls} >= {
        "exec_command",
        "apply_patch",
        "write_stdin",
        "wait",
    }
    ledger = FileLedger(root=reader.header.cwd).add(entries)
    assert "src/step/batching.rs" in ledger.modified_files
    assert all(m.usage is not None for m in replies if m.tool_calls)
