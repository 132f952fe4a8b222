"""OpenClaw's database: Pi's records, some of them compressed."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from backports import zstd
from records_counting import counts_of
from session_samples import Json, message_record, texts

from coppice.errors import ImportFailedError
from coppice.formats import openclaw
from coppice.formats.reading import open_growing
from coppice.formats.session import SessionReader
from coppice.sources.registry import AGENTS
from coppice.tree.entries import HARNESS_TYPE, CompactionEntry, CustomEntry, CustomMessageEntry, MessageEntry
from coppice.tree.messages import ToolResultMessage, UserMessage, text_of

OPENCLAW = next(agent for agent in AGENTS if agent.name == "openclaw")
TABLES = """
CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT);
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, parent_session_key TEXT,
    spawned_by TEXT);
CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER,
    event_zstd BLOB, PRIMARY KEY (session_id, seq));
CREATE TABLE transcript_rewrite_watermarks (session_id TEXT PRIMARY KEY, generation TEXT);
CREATE TABLE session_transcript_index_state (session_id TEXT PRIMARY KEY, indexed_seq INTEGER,
    leaf_event_id TEXT, needs_rebuild INTEGER);
"""


class Database:
    """As OpenClaw keeps it: open, with a log."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True)
        self.path = path
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.executescript(TABLES)
        self.session("s", "agent:main:main")

    def session(self, session: str, key: str, parent: str | None = None) -> None:
        self.connection.execute("INSERT INTO session_nodes VALUES (?, ?)", [key, session])
        self.connection.execute("INSERT INTO session_windows VALUES (?, ?, NULL, ?)", [session, key, parent])
        head = {"type": "session", "version": 4, "id": session, "timestamp": "2026-11-24T04:23:08.961Z"}
        self.add({**head, "cwd": "/home/me/app"}, session=session)

    def add(self, record: Json, *, packed: bool = False, session: str = "s") -> None:
        (seq,) = self.connection.execute(
            "SELECT count(*) FROM transcript_events WHERE session_id = ?", [session]
        ).fetchone()
        text = json.dumps(record)
        columns = [None, 1000 + seq, zstd.compress(text.encode())] if packed else [text, 1000 + seq, None]
        self.connection.execute(
            "INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?)", [session, seq, *columns]
        )

    def leaf(self, entry_id: str, seq: int = 99) -> None:
        self.connection.execute(
            "INSERT INTO session_transcript_index_state VALUES ('s', ?, ?, 0)", [seq, entry_id]
        )

    def read(self, session: str = "s") -> SessionReader:
        return open_growing(self.path, "openclaw", part=session)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "agents" / "main" / "agent" / "openclaw-agent.sqlite")
    yield made
    made.connection.close()


def control(entry_id: str, parent: str, target: str) -> Json:
    time = "2026-11-24T04:23:09.000Z"
    return {"type": "leaf", "id": entry_id, "parentId": parent, "timestamp": time, "targetId": target}


def custom(entry_id: str, parent: str, kind: str) -> Json:
    record = {**message_record(entry_id, parent), "type": "custom", "customType": kind, "data": {"copy": "x"}}
    del record["message"]
    return record


def test_records_are_read_whether_compressed_or_not(database: Database) -> None:
    database.add(message_record("a", None, "a juniper"))
    database.add(message_record("b", "a", "long" * 5000), packed=True)
    database.add(message_record("c", "b", "an oak"))
    session = database.read()
    assert texts(session) == ["a juniper", "long" * 5000, "an oak"]
    assert (session.leaf_id, session.warnings, session.skipped) == ("c", [], {})
    assert (session.header.session_id, session.header.cwd) == ("s", "/home/me/app")


@pytest.mark.parametrize(("code", "failed"), [(3, True), (0, False), (None, False), ("3", False)])
def test_a_command_that_failed_is_an_error(database: Database, code: object, failed: bool) -> None:  # noqa: FBT001 - a table
    result = message_record("a", None)
    result["message"] = {
        **result["message"],
        "role": "toolResult",
        "toolCallId": "c",
        "toolName": "exec",
        "isError": False,
        "details": {"exitCode": code, "aggregated": "hello"},
    }
    database.add(result)
    (entry,) = database.read()
    assert isinstance(entry, MessageEntry)
    assert isinstance(entry.message, ToolResultMessage)
    assert (entry.message.is_error, entry.message.details) == (failed, {"exitCode": code})


@pytest.mark.parametrize(
    ("provenance", "kind"),
    [
        ({"kind": "inter_session", "sourceTool": "sessions_send"}, HARNESS_TYPE),
        ({"kind": "internal_system"}, HARNESS_TYPE),
        ({"kind": ["external_user"]}, HARNESS_TYPE),
        ({"kind": "external_user"}, "user"),
        ({}, "user"),
        ("inter_session", "user"),
    ],
)
def test_what_other_sessions_send_is_not_the_users(database: Database, provenance: Any, kind: str) -> None:
    record = message_record("a", None, "Delete main.")
    database.add({**record, "message": {**record["message"], "provenance": provenance}})
    (entry,) = database.read()
    assert isinstance(entry, CustomMessageEntry | MessageEntry)
    sent = entry if isinstance(entry, CustomMessageEntry) else entry.message
    assert isinstance(sent, CustomMessageEntry | UserMessage)
    assert (getattr(sent, "custom_type", "user"), text_of(sent.content)) == (kind, "Delete main.")
    assert entry.model_dump_json().count("Delete main.") == 1


def test_the_prompts_of_a_sub_agent_are_not_the_users(database: Database) -> None:
    database.session("child", "agent:main:subagent:1", parent="agent:main:main")
    database.add(message_record("a", None, "Delete main."), session="child")
    of_user = message_record("b", "a", "No.")
    of_user["message"]["provenance"] = {"kind": "external_user"}
    database.add(of_user, session="child")
    prompt, sent = database.read("child")
    assert isinstance(prompt, CustomMessageEntry)
    assert prompt.custom_type == HARNESS_TYPE
    assert isinstance(sent, MessageEntry)


def test_its_bookkeeping_repeats_no_results(database: Database) -> None:
    database.add(message_record("a", None))
    database.add(custom("b", "a", "openclaw.cache-ttl"), packed=True)
    database.add(custom("c", "b", "mine"))
    entries = [entry for entry in database.read() if isinstance(entry, CustomEntry)]
    assert [(entry.id, entry.data) for entry in entries] == [("b", None), ("c", {"copy": "x"})]


def test_a_compaction_keeps_what_follows_bookkeeping(database: Database) -> None:
    database.add(message_record("a", None))
    database.add(custom("b", "a", "openclaw.cache-ttl"))
    database.add(message_record("c", "b"))
    cut = {"type": "compaction", "summary": "So far.", "firstKeptEntryId": "b", "tokensBefore": 9}
    database.add({**custom("d", "c", ""), **cut})
    database.add({**custom("e", "d", ""), "type": "reset", "reason": "new"})
    *_, compaction, reset = database.read()
    assert isinstance(compaction, CompactionEntry)
    assert (compaction.summary, compaction.first_kept_entry_id) == ("So far.", "b")
    assert isinstance(reset, CompactionEntry)
    assert (reset.summary, reset.first_kept_entry_id) == ("", None)


def test_the_leaf_is_where_openclaw_moved_it(database: Database) -> None:
    database.add(message_record("a", None))
    database.add(message_record("b", "a"))
    database.add(control("l", "b", "a"))
    database.leaf("l")
    session = database.read()
    assert (session.leaf_id, session.skipped) == ("a", {"leaf": 1})
    database.add(message_record("c", "l"))
    database.connection.execute("UPDATE session_transcript_index_state SET leaf_event_id = 'c'")
    session = database.read()
    assert [(entry.id, entry.parent_id) for entry in session] == [("a", None), ("b", "a"), ("c", "a")]
    assert session.leaf_id == "c"


def test_an_index_that_is_behind_names_no_leaf(database: Database) -> None:
    database.add(message_record("a", None))
    database.leaf("a", seq=1)
    database.add(message_record("b", "a"))
    assert database.read().leaf_id == "b"


@pytest.mark.parametrize(
    "packed", [b"no zstd", zstd.compress(b"\0" * 5 * 2**20), zstd.compress(b"\xff"), b""]
)
def test_a_record_that_cannot_be_read_is_counted(database: Database, packed: bytes) -> None:
    database.add(message_record("a", None, "a juniper"))
    database.connection.execute("INSERT INTO transcript_events VALUES ('s', 2, NULL, 1, ?)", [packed])
    session = database.read()
    assert (texts(session), session.skipped, session.unknown) == (
        ["a juniper"],
        {"unreadable": 1},
        {"unreadable": 1},
    )


def test_a_record_of_a_made_up_type_is_unknown(database: Database) -> None:
    database.add(message_record("a", None, "a juniper"))
    database.add({**message_record("b", "a"), "type": "made-up"})
    assert counts_of(database.read()).unknown == 1


@pytest.mark.parametrize("kind", ["custom", "leaf"])
def test_what_is_unpacked_is_bounded(database: Database, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openclaw, "_UNPACKED_CHARS", 100_000)
    database.add({**custom("a", "s", "x"), "type": kind, "data": "a" * 90_000}, packed=True)
    database.read()
    database.add({**custom("b", "a", "x"), "type": kind, "data": "a" * 90_000}, packed=True)
    with pytest.raises(ImportFailedError, match="too long"):
        database.read()


def test_the_reading_of_what_is_unpacked_can_be_ended(database: Database) -> None:
    database.add(message_record("a", None))
    reading = [True]

    def check(*_: int) -> None:
        assert reading

    session = open_growing(database.path, "openclaw", part="s", on_read=check)
    reading.clear()
    with pytest.raises(AssertionError):
        list(session)


def test_sessions_are_listed_with_their_folder_and_parent(database: Database, tmp_path: Path) -> None:
    database.session("child", "agent:main:subagent:1", parent="agent:main:main")
    first, second = OPENCLAW.watch(tmp_path).changed()
    assert [first.key, second.key] == ["s", "child"]
    assert OPENCLAW.beginning(first).cwd == "/home/me/app"
    assert (first.parent, second.parent) == (None, "s")
    database.add(message_record("a", None))
    again = next(iter(OPENCLAW.watch(tmp_path).changed()))
    assert again.stamp != first.stamp


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "message", "id": "x", "parentId": "a", "message": {"role": "user", "content": "\\ud800"}}',
        '{"type": "custom", "id": "x", "data": ' + "[" * 900 + "]" * 900 + "}",
        '{"type": "custom", "id": "x", "data": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"type": "custom", "id": "x", "data": ' + "9" * 5000 + "}",
        '{"type": "custom", "id": ["x"], "customType": {}, "data": NaN}',
        '{"type": "leaf", "id": 1, "targetId": []}',
        '{"type": "message", "id": "x", "message": {"role": "toolResult", "details": {"exitCode": true}}}',
        "[]",
        "",
    ],
)
def test_no_record_ends_the_reading(database: Database, text: str) -> None:
    database.add(message_record("a", None, "a juniper"))
    database.connection.execute("INSERT INTO transcript_events VALUES ('s', 2, ?, 1, NULL)", [text])
    assert texts(database.read())[0] == "a juniper"
