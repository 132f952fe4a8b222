"""Hermes' database: the sessions in it, and what a compaction in place leaves there."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from session_samples import Json, texts

from coppice.errors import ImportFailedError
from coppice.formats.reading import open_growing
from coppice.formats.session import SessionReader
from coppice.sources.registry import AGENTS
from coppice.tree.entries import CompactionEntry, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import ANSWERED, AssistantMessage, ToolResultMessage

HERMES = next(agent for agent in AGENTS if agent.name == "hermes")
TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, cwd TEXT, title TEXT, model TEXT,
    started_at REAL);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT,
    tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL, reasoning TEXT,
    reasoning_content TEXT, active INTEGER DEFAULT 1, compacted INTEGER DEFAULT 0);
"""
SUMMARY = """[CONTEXT COMPACTION — REFERENCE ONLY] Treat it as reference:
The port is 48117.

--- END OF CONTEXT SUMMARY — go on ---"""


PRIOR = "[PRIOR CONTEXT — for reference only; not a new message]"
BELOW = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"


class Database:
    """As Hermes keeps it: open, with a log."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.executescript(TABLES)
        self.connection.execute(
            "INSERT INTO sessions VALUES ('s', NULL, '/home/me/app', 'Work', 'm', 1000.5)"
        )

    def add(self, role: str, content: str | None, session: str = "s", **columns: object) -> None:
        row = {"session_id": session, "role": role, "content": content, "timestamp": 1001.0, **columns}
        names = ", ".join(row)
        marks = ", ".join("?" for _ in row)
        self.connection.execute(f"INSERT INTO messages ({names}) VALUES ({marks})", [*row.values()])  # noqa: S608

    def call(self, call_id: str, output: str = "ok", code: int = 0) -> None:
        function = {"name": "terminal", "arguments": json.dumps({"command": "make"})}
        self.add("assistant", "I run it.", tool_calls=json.dumps([{"id": call_id, "function": function}]))
        result = json.dumps({"output": output, "exit_code": code, "error": None})
        self.add("tool", result, tool_call_id=call_id, tool_name="terminal")

    def compact(self) -> None:
        self.connection.execute("UPDATE messages SET active = 0, compacted = 1 WHERE active = 1")

    def read(self) -> tuple[SessionReader, list[Entry]]:
        reader = open_growing(self.path, "hermes", growing=True, part="s")
        return reader, list(reader)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "state.db")
    yield made
    made.connection.close()


def links(entries: list[Entry]) -> list[tuple[str, str | None]]:
    return [(entry.id, entry.parent_id) for entry in entries]


def test_calls_are_paired_with_their_results(database: Database) -> None:
    database.add("user", "go")
    database.call("c", "boom", 2)
    reader, entries = database.read()
    header = reader.header
    assert (header.cwd, header.name, header.created_at) == (
        "/home/me/app",
        "Work",
        "1970-01-01T00:16:40.500Z",
    )
    assert (links(entries), reader.leaf_id) == ([("m1", None), ("m2", "m1"), ("m3", "m2")], "m3")
    reply, result = (entry.message for entry in entries[1:] if isinstance(entry, MessageEntry))
    assert isinstance(reply, AssistantMessage)
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [
        ("c", "terminal", {"command": "make"})
    ]
    assert isinstance(result, ToolResultMessage)
    assert (result.tool_call_id, result.is_error, result.details) == ("c", True, {"exitCode": 2})
    assert result.content[0].model_dump()["text"] == "boom"


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ("A table, no flag.", "A table, no flag."),
        ("The user did not provide a response within the time limit. Use your best judgement.", None),
        ("The user cancelled. Use your best judgement to proceed.", None),
        ("[user did not respond within 10m]", None),
        ("[clarify prompt could not be delivered]", None),
        ("[oneshot mode: no user available. Pick the best option.]", None),
        ("", None),
    ],
)
def test_an_answer_to_a_question_is_the_user_s(database: Database, response: str, text: str | None) -> None:
    function = {"name": "clarify", "arguments": json.dumps({"question": "Which shape?"})}
    database.add("assistant", "", tool_calls=json.dumps([{"id": "c", "function": function}]))
    result = {"question": "Which shape?", "choices_offered": ["a list"], "user_response": response}
    database.add("tool", json.dumps(result), tool_call_id="c", tool_name="clarify")
    _, (_, entry) = database.read()
    assert isinstance(entry, MessageEntry)
    assert isinstance(entry.message, ToolResultMessage)
    shown = entry.message.content[0].model_dump()["text"]
    marks = {**ANSWERED, "answer": text} if text else None
    assert (entry.message.details, shown) == (marks, text or json.dumps(result))


def test_what_a_compaction_writes_again_is_no_second_message(database: Database) -> None:
    database.add("user", "go")
    for call_id in "abc":
        database.call(call_id)
    database.compact()
    database.add("user", "go")
    database.add("user", SUMMARY)
    database.call("c", "[cleared]")
    database.add("assistant", "Done.")
    reader, entries = database.read()
    assert [entry.id for entry in entries] == ["m1", "m2", "m3", "m4", "m5", "m6", "m7", "m9", "m12"]
    compaction = entries[-2]
    assert isinstance(compaction, CompactionEntry)
    assert (compaction.summary, compaction.first_kept_entry_id) == ("The port is 48117.", "m6")
    assert (compaction.parent_id, entries[-1].parent_id, reader.leaf_id) == ("m7", "m9", "m12")


def test_a_second_compaction_finds_what_the_first_kept(database: Database) -> None:
    database.add("user", "go")
    database.call("a")
    database.compact()
    database.add("user", SUMMARY)
    database.call("a")
    database.call("b")
    database.compact()
    database.add("user", SUMMARY.replace("48117", "8080"))
    database.call("b")
    _, entries = database.read()
    compactions = [entry for entry in entries if isinstance(entry, CompactionEntry)]
    assert [each.first_kept_entry_id for each in compactions] == ["m2", "m7"]
    assert [entry.id for entry in entries] == ["m1", "m2", "m3", "m4", "m7", "m8", "m9"]


def test_a_request_put_before_what_is_kept_is_not_said_twice(database: Database) -> None:
    database.add("user", "go")
    for call_id in "ab":
        database.call(call_id)
    database.compact()
    database.add("assistant", SUMMARY)
    database.add("user", "go")
    database.call("b")
    _, entries = database.read()
    compaction = entries[-1]
    assert isinstance(compaction, CompactionEntry)
    assert (len(entries), compaction.first_kept_entry_id) == (6, "m4")


def test_a_summary_that_was_added_to_a_message_is_one(database: Database) -> None:
    database.add("user", "go")
    database.add("assistant", "first")
    database.add("user", "on")
    database.compact()
    added = f"{PRIOR}\non\n\n{BELOW}\n\n{SUMMARY}"
    database.add("user", added)
    _, entries = database.read()
    compaction = entries[-1]
    assert isinstance(compaction, CompactionEntry)
    assert (compaction.summary, compaction.first_kept_entry_id) == ("The port is 48117.", "m3")


def test_what_the_user_took_back_stays_a_branch(database: Database) -> None:
    database.add("user", "go")
    database.add("user", "no", active=0)
    database.add("assistant", "well", active=0)
    database.add("user", "yes")
    reader, entries = database.read()
    assert (links(entries), reader.leaf_id) == (
        [("m1", None), ("m2", "m1"), ("m3", "m2"), ("m4", "m1")],
        "m4",
    )


@pytest.mark.parametrize(
    ("text", "of_user"),
    [
        ("[Your active task list was preserved across context compression]\n- [ ] 1. x", False),
        ("[System: Your previous response was truncated by the output limit.]", False),
        ("[IMPORTANT: Background process p completed normally (exit code 0).\nOutput:\nPush.]", False),
        ("[IMPORTANT: 12 background processes completed. Treat them as one.]\n\nPush.", False),
        ("[ASYNC DELEGATION COMPLETE — deleg_1]\n--- RESULT ---\nPush to main.", False),
        ("[ASYNC DELEGATION TASK FAILED — deleg_1, task 1/2]\nPush to main.", False),
        ("[IMPORTANT: MCP servers have been reloaded. 3 MCP tool(s) now available.]", False),
        ("\n\n [System: Your previous response was truncated by the output limit.]", False),
        ("[IMPORTANT: use tabs]", True),
        ("[IMPORTANT: MCP servers must be listed in README]", True),
        ("Why do I see [ASYNC DELEGATION COMPLETE — deleg_1]?", True),
    ],
)
def test_what_hermes_writes_as_the_user_is_the_harness(
    database: Database,
    text: str,
    of_user: bool,  # noqa: FBT001 - a table
) -> None:
    database.add("user", text)
    _, (entry,) = database.read()
    assert isinstance(entry, MessageEntry if of_user else CustomMessageEntry)


def test_a_message_of_a_kind_to_display_is_the_harness(database: Database) -> None:
    database.connection.execute("ALTER TABLE messages ADD COLUMN display_kind TEXT")
    database.add("user", "go", display_kind="")
    database.add("user", "Push to main.", display_kind="async_delegation_complete")
    _, entries = database.read()
    assert [type(entry) for entry in entries] == [MessageEntry, CustomMessageEntry]


@pytest.mark.parametrize(
    ("source", "config", "of_user"),
    [
        ("subagent", None, False),
        ("cli", '{"_delegate_from": "r"}', False),
        ("cli", '{"_branched_from": "r"}', True),
        ("cli", "no JSON", True),
    ],
)
def test_the_prompts_of_a_sub_agent_are_not_the_users(
    database: Database,
    source: str,
    config: str | None,
    of_user: bool,  # noqa: FBT001 - a table
) -> None:
    for name in ("source", "model_config"):
        database.connection.execute(f"ALTER TABLE sessions ADD COLUMN {name} TEXT")
    database.connection.execute("UPDATE sessions SET source = ?, model_config = ?", [source, config])
    database.add("user", "Delete main.")
    _, (entry,) = database.read()
    assert isinstance(entry, MessageEntry if of_user else CustomMessageEntry)


def test_content_in_parts_and_further_roles(database: Database) -> None:
    parts: list[Json] = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:"}},
    ]
    database.add("user", f"\0json:{json.dumps(parts)}")
    database.add("session_meta", "{}")
    database.add("made-up", "x")
    database.add("tool", "no object", tool_call_id="x")
    reader, entries = database.read()
    assert texts(entries[:1]) == ["see\n[image_url]"]
    assert (len(entries), reader.skipped) == (2, {"session_meta": 1, "made-up": 1})
    assert reader.unknown == {"made-up": 1}


def test_sessions_are_found_with_their_folders(database: Database) -> None:
    database.connection.execute("INSERT INTO sessions VALUES ('t', 's', NULL, NULL, NULL, 1)")
    assert list(HERMES.watch(database.path.parent).changed()) == []
    database.add("user", "go")
    database.add("user", "sub", session="t")
    first, second = sorted(HERMES.watch(database.path.parent).changed(), key=lambda each: each.key)
    assert (first.key, first.parent, first.modified) == ("s", None, 1001.0)
    assert (second.key, second.parent) == ("t", "s")
    assert HERMES.beginning(first).cwd == "/home/me/app"
    assert HERMES.beginning(second).cwd is None
    database.add("assistant", "more")
    assert {each.key: each.stamp for each in HERMES.watch(database.path.parent).changed()}["s"] != first.stamp


def test_another_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    sqlite3.connect(path).close()
    path.write_bytes(b"no database, but long enough to be one" * 40)
    assert list(HERMES.watch(tmp_path).changed()) == []
    with pytest.raises(ImportFailedError):
        open_growing(path, "hermes", part="s")
