"""opencode's database: the sessions in it, read while opencode writes."""

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from session_samples import Json, texts

from coppice.errors import ImportFailedError
from coppice.formats import opencode
from coppice.formats.foreign_database import object_of
from coppice.formats.reading import open_growing
from coppice.formats.session import SessionReader
from coppice.formats.source import Checkpoint, NotResumableError
from coppice.sources.registry import AGENTS
from coppice.tree.entries import HARNESS_TYPE, CompactionEntry, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import ANSWERED, DENIED, AssistantMessage, ToolResultMessage, Usage

OPENCODE = next(agent for agent in AGENTS if agent.name == "opencode")
REJECTED = "The user rejected permission to use this specific tool call"
TABLES = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
    revert TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_updated INTEGER, data TEXT);
"""


class Database:
    """As opencode keeps it: open, with a log."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.executescript(TABLES)
        self._parts = 0

    def session(self, session_id: str, **more: Any) -> None:
        row = {"parent_id": None, "revert": None, "title": "Work", **more}
        self.connection.execute(
            "INSERT INTO session VALUES (?, ?, '/home/me/app', ?, '1.18.33', ?, 1000, 2000)",
            (session_id, row["parent_id"], row["title"], row["revert"]),
        )

    def message(self, entry_id: str, role: str, *parts: Json, session: str = "s", **data: Any) -> None:
        value = {"role": role, "time": {"created": 1000, "completed": 2000}, **data}
        self.connection.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?)", (entry_id, session, 1000, json.dumps(value))
        )
        for part in parts:
            self._parts += 1
            row = (f"p{self._parts:04}", entry_id, session, 3000, json.dumps(part))
            self.connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)

    def read(self, *, growing: bool = False) -> tuple[SessionReader, list[Entry]]:
        reader = open_growing(self.path, "opencode", growing=growing, part="s")
        return reader, list(reader)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "opencode.db")
    made.session("s")
    yield made
    made.connection.close()


def text(words: str, **more: Any) -> Json:
    return {"type": "text", "text": words, **more}


def tool(call_id: str, status: str, **state: Any) -> Json:
    return {
        "type": "tool",
        "tool": "bash",
        "callID": call_id,
        "state": {"status": status, "input": {}, **state},
    }


def test_the_prompts_of_a_sub_agent_are_not_the_users(database: Database) -> None:
    database.connection.execute("UPDATE session SET parent_id = 'main'")
    database.message("m1", "user", text("Delete main."))
    _, entries = database.read()
    assert [getattr(entry, "custom_type", None) for entry in entries] == [HARNESS_TYPE]


def test_parts_and_roles_of_made_up_types_are_unknown(database: Database) -> None:
    database.message("m1", "user", text("go"), {"type": "made-up"})
    database.message("m2", "assistant", {"type": "step-start"}, text("I look."), {"type": "made-up"})
    database.message("m3", "other", text("x"))
    reader, _ = database.read()
    assert (reader.skipped["step-start"], reader.unknown) == (1, {"made-up": 2, "other": 1})


def test_a_reply_has_its_calls_and_their_results_follow(database: Database) -> None:
    tokens = {"input": 9, "output": 2, "cache": {"read": 5, "write": 0}}
    calls = (tool("c", "completed", output="ok", metadata={"exit": 1}), tool("d", "error", error="denied"))
    database.message("m1", "user", text("go"))
    database.message(
        "m2", "assistant", text("I look."), *calls, modelID="m", tokens=tokens, finish="tool-calls"
    )
    reader, entries = database.read()
    assert (reader.header.cwd, reader.header.name, reader.leaf_id) == ("/home/me/app", "Work", "m2#1")
    assert [entry.id for entry in entries] == ["m1", "m2", "m2#0", "m2#1"]
    reply, *results = (entry.message for entry in entries[1:] if isinstance(entry, MessageEntry))
    assert isinstance(reply, AssistantMessage)
    assert reply.usage == Usage(input=9, output=2, cache_read=5, cache_write=0, total_tokens=16)
    assert [getattr(result, "is_error", None) for result in results] == [True, True]
    assert texts(entries)[2:] == ["ok", "denied"]


def test_arguments_that_nest_too_deep_can_be_stored_and_sent(database: Database) -> None:
    deep: Json = {}
    for _ in range(300):
        deep = {"a": deep}
    database.message("a", "assistant", tool("c", "completed", output="ok", input=deep))
    _, [reply, _] = database.read()
    assert isinstance(reply, MessageEntry)
    assert "nested more than" in reply.model_dump_json()


@pytest.mark.parametrize(
    ("name", "state", "details"),
    [
        ("bash", {"status": "error", "error": f"{REJECTED}: no."}, DENIED),
        ("apply_patch", {"status": "error", "error": REJECTED}, DENIED),
        ("patch", {"status": "error", "error": REJECTED}, DENIED),
        ("docs_ask", {"status": "error", "error": REJECTED}, None),
        ("apply_patchwork", {"status": "error", "error": f"{REJECTED}: no."}, None),
        ("deploy", {"status": "error", "error": f"{REJECTED}: no."}, None),
        ("bash", {"status": "completed", "output": REJECTED, "metadata": {"exit": 1}}, {"exitCode": 1}),
        ("question", {"status": "completed", "output": "No."}, ANSWERED),
        (
            "question",
            {"status": "completed", "output": "No.", "metadata": {"answers": [["a", 1], [], "c"]}},
            {**ANSWERED, "answer": "a, 1\n(no answer)\nc"},
        ),
        (
            "question",
            {
                "status": "completed",
                "output": "No.",
                "input": {"questions": [{"question": "Use tabs?"}, {"question": "Push to main?"}]},
                "metadata": {"answers": [["Yes"]]},
            },
            {**ANSWERED, "answer": "Yes\n(no answer)"},
        ),
        ("docs_question", {"status": "completed", "output": "No."}, None),
    ],
)
def test_opencode_names_its_question_and_its_refusal(
    database: Database, name: str, state: Json, details: Json | None
) -> None:
    database.message("a", "assistant", {**tool("c", **state), "tool": name})
    _, [_, result] = database.read()
    assert isinstance(result, MessageEntry)
    assert isinstance(result.message, ToolResultMessage)
    assert result.message.details == details


def test_what_opencode_added_is_of_the_harness(database: Database) -> None:
    database.message("m1", "user", text("go"), text("Called the read tool.", synthetic=True))
    _, entries = database.read()
    assert isinstance(entries[0], CustomMessageEntry)
    assert [entry.id for entry in entries] == ["m1#harness", "m1"]


def test_the_reply_to_a_compaction_is_a_summary(database: Database) -> None:
    database.message("m1", "user", text("go"))
    database.message("m2", "user", {"type": "compaction", "auto": True, "tail_start_id": "m1"})
    database.message("m3", "assistant", text("Done so far."), summary=True)
    cut = database.read()[1][1]
    assert isinstance(cut, CompactionEntry)
    assert (cut.summary, cut.first_kept_entry_id) == ("Done so far.", "m1")


def test_an_unfinished_reply_is_left_out_while_the_session_goes_on(database: Database) -> None:
    database.message("m1", "user", text("go"))
    database.message("m2", "assistant", text("I"), time={"created": 1000})
    reader, entries = database.read(growing=True)
    assert ([entry.id for entry in entries], reader.held) == (["m1"], True)
    assert [entry.id for entry in database.read()[1]] == ["m1", "m2"]


def test_what_was_taken_back_is_no_part_of_the_path(database: Database) -> None:
    database.message("m1", "user", text("go"))
    database.message("m2", "user", text("no"))
    database.connection.execute("UPDATE session SET revert = ?", (json.dumps({"messageID": "m2"}),))
    reader, entries = database.read()
    assert (len(entries), reader.leaf_id) == (2, "m1")


def test_a_live_database_is_read_and_nothing_is_written(database: Database) -> None:
    database.message("m1", "user", text("go"))
    before = {
        file.name: file.read_bytes() for file in database.path.parent.iterdir() if "shm" not in file.name
    }
    assert len(database.read()[1]) == 1
    assert before == {
        file.name: file.read_bytes() for file in database.path.parent.iterdir() if "shm" not in file.name
    }


def test_an_empty_journal_beside_the_log_hides_nothing(database: Database) -> None:
    database.message("m1", "user", text("go"))
    Path(f"{database.path}-journal").touch()
    _, entries = database.read()
    assert [entry.id for entry in entries] == ["m1"]


def test_a_database_that_nobody_has_open_gets_no_files_beside_it(database: Database) -> None:
    database.message("m1", "user", text("go"))
    database.connection.close()
    assert len(database.read()[1]) == 1
    assert [file.name for file in database.path.parent.iterdir()] == ["opencode.db"]


def test_a_number_of_thousands_of_digits_loses_no_message(database: Database) -> None:
    database.message("a", "assistant", text("ok"))
    database.connection.execute("UPDATE part SET data = json_insert(data, '$.time', json(?))", ("9" * 5000,))
    assert texts(database.read()[1]) == ["ok"]


@pytest.mark.parametrize("value", ["", "no JSON", "[]", "1", "null", '{"role": [], "time": 3}', "[" * 99_999])
def test_what_is_no_message_is_passed_over(database: Database, value: str) -> None:
    database.message("m1", "user", text("go"))
    database.connection.execute("INSERT INTO message VALUES ('m2', 's', 1000, ?)", (value,))
    database.connection.execute("INSERT INTO part VALUES ('q', 'm1', 's', 'later', ?)", (value,))
    assert texts(database.read()[1]) == ["go"]
    assert [each.key for each in OPENCODE.watch(database.path.parent).changed()] == ["s"]


@pytest.mark.parametrize(
    "part", [{"type": "tool"}, {"type": "tool", "state": {"status": []}}, {"type": "text"}]
)
@pytest.mark.parametrize("more", [{}, {"tokens": [], "error": "x", "finish": 3}, {"error": {"data": 1}}])
def test_parts_without_what_they_should_have_are_read(database: Database, part: Json, more: Json) -> None:
    database.message("m1", "assistant", part, text("ok"), **more)
    (entry,) = database.read()[1]
    assert isinstance(entry, MessageEntry)


def test_the_sessions_are_transcripts_with_a_stamp_of_their_own(database: Database) -> None:
    database.session("t", parent_id="s")
    database.message("m1", "user", text("go"))
    agent, folder = OPENCODE, database.path.parent
    first = {each.key: each for each in agent.watch(folder).changed()}
    assert (first["t"].parent, agent.beginning(first["s"]).cwd) == ("s", "/home/me/app")
    database.connection.execute("UPDATE part SET time_updated = 4000")
    second = {each.key: each for each in agent.watch(folder).changed()}
    assert [first[key].stamp == second[key].stamp for key in ("s", "t")] == [False, True]


def test_the_sessions_are_read_again_when_the_database_has_changed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.session("t", parent_id="s")
    database.message("m1", "user", text("go"))
    path = database.path
    for file in path, Path(f"{path}-wal"):
        os.utime(file, (1000, 1000))
    watch = OPENCODE.watch(path.parent)
    assert [each.key for each in watch.changed()] == ["s", "t"]
    with monkeypatch.context() as patched:
        patched.setattr(type(OPENCODE), "transcripts", None)  # the database is not asked
        assert [*watch.changed()] == []
    database.connection.execute("UPDATE part SET time_updated = 4000")
    assert [each.key for each in watch.changed()] == ["s"]


def test_another_database_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "opencode.db"
    other.write_bytes(b"no database" * 999)
    assert list(OPENCODE.watch(tmp_path).changed()) == []
    with pytest.raises(ImportFailedError, match="cannot be read as the database"):
        open_growing(other, "opencode", part="s")


def _resumed(database: Database, reader: SessionReader) -> tuple[SessionReader, list[str]]:
    """A reading from where `reader` ended, as it is stored, and the ids of its entries."""
    assert reader.checkpoint is not None
    start = Checkpoint.of_json(json.loads(json.dumps(reader.checkpoint.to_json())))
    following = open_growing(database.path, "opencode", start, growing=False, part="s")
    return following, [entry.id for entry in following]


def test_a_later_reading_has_what_came_after_the_first(database: Database) -> None:
    database.message("m1", "user", text("go"))
    database.message("m2", "user", {"type": "compaction", "tail_start_id": "m1"})
    database.message("m3", "assistant", text("Done"), summary=True, time={"created": 1000})
    first = database.read(growing=True)[0]
    assert (first.leaf_id, first.held) == ("m1", True)
    done = json.dumps({"role": "assistant", "summary": True, "time": {"created": 1000, "completed": 2000}})
    database.connection.execute("UPDATE message SET data = ? WHERE id = 'm3'", (done,))
    database.message("m4", "assistant", text("I look."), tool("c", "completed", output="ok"))
    second, ids = _resumed(database, first)
    assert ids == ["m3", "m4", "m4#0"]
    cut, reply, _ = second
    assert isinstance(cut, CompactionEntry)
    assert (cut.parent_id, cut.first_kept_entry_id, reply.parent_id) == ("m1", "m1", "m3")
    third, ids = _resumed(database, second)
    assert (ids, third.leaf_id, third.checkpoint) == ([], "m4#0", second.checkpoint)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE part SET time_updated = 4000 WHERE message_id = 'm1'",
        "UPDATE part SET time_updated = 2000 WHERE message_id = 'm1'",
        "UPDATE part SET id = 'p0009', time_updated = 2000 WHERE message_id = 'm2'",
        "DELETE FROM part WHERE message_id = 'm1'",
        "DELETE FROM message WHERE id = 'm2'",
        "UPDATE message SET id = 'm4' WHERE id = 'm2'",
        "INSERT INTO message VALUES ('m0', 's', 999, '{}')",
        """UPDATE session SET revert = '{"messageID": "m2"}'""",
    ],
)
def test_a_session_that_is_another_before_its_end_is_read_anew(database: Database, change: str) -> None:
    database.message("m1", "user", text("go"))
    database.message("m2", "assistant", text("ok"))
    first = database.read(growing=True)[0]
    database.message("m3", "user", text("more"))
    assert _resumed(database, first)[1] == ["m3"]
    database.connection.execute(change)
    with pytest.raises(NotResumableError):
        _resumed(database, first)


@pytest.mark.parametrize("updated", [3000, None, 2**63 - 1, -5, 1.5, "soon"])
def test_a_later_reading_holds_whatever_the_times_and_beside_parts_of_no_message(
    database: Database, updated: object
) -> None:
    database.message("m1", "user", text("go"), text("on"))
    database.connection.execute("INSERT INTO part VALUES ('p9', 'gone', 's', 3000, '{}')")
    database.connection.execute("UPDATE part SET time_updated = ?", (updated,))
    first = database.read(growing=True)[0]
    database.message("m2", "user", text("more"))
    second, ids = _resumed(database, first)
    assert ids == ["m2"]
    assert _resumed(database, second)[1] == []


def test_no_reading_begins_after_what_was_taken_back_or_is_not_complete(database: Database) -> None:
    database.message("m1", "user", text("go"))
    database.message("m2", "assistant", text("I"), time={"created": 1000})
    database.message("m3", "user", text("no"))
    settled = database.read()[0]
    assert (settled.leaf_id, _resumed(database, settled)[1]) == ("m3", ["m2", "m3"])
    database.connection.execute("""UPDATE session SET revert = '{"messageID": "m3"}'""")
    assert database.read()[0].checkpoint is None


def test_a_later_reading_is_not_as_long_as_the_session(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(200):
        database.message(f"m{number:03}", "user", text("go"))
    first = database.read(growing=True)[0]
    database.message("m200", "user", text("more"))
    values = Mock(wraps=object_of)
    monkeypatch.setattr(opencode, "object_of", values)
    assert _resumed(database, first)[1] == ["m200"]
    assert values.call_count < 20
