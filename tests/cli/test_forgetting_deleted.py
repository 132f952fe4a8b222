"""What an agent deletes goes here too where the user wants it, and only what it surely deleted."""

import errno
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Coppice
from session_samples import HEADER, message_record
from store.store_kit import NOW, user

from coppice.store.store import Store
from coppice.store.tree.location import workspace_database

SESSIONS = ("one", "two")


@pytest.fixture(autouse=True)
def sessions(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sessions of Pi's, and the wish that what it deletes goes."""
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "HERMES_HOME"):
        monkeypatch.setenv(variable, str(home / variable))
    folder = home / "PI_CODING_AGENT_DIR" / "sessions" / "--work--"
    folder.mkdir(parents=True)
    header = {**HEADER, "cwd": str((home / "work").resolve())}
    for name in SESSIONS:
        lines = [header, message_record("a", None), message_record("b", "a", f"juniper {name}")]
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (home / "config" / "settings.toml").write_text("[sources]\nforgetDeleted = true\n")
    return folder


def stored(coppice: Coppice) -> list[str]:
    """The sessions that are stored after an update."""
    assert coppice("sources", "--update", "--all").code == 0
    listed = json.loads(coppice("list", "--json").out)["conversations"]
    return sorted(each["source"]["sessionId"] for each in listed)


def test_what_the_agent_deletes_goes_and_comes_back_with_the_transcript(
    coppice: Coppice, home: Path, sessions: Path
) -> None:
    assert stored(coppice) == ["one", "two"]
    text = (sessions / "one.jsonl").read_text()
    (sessions / "one.jsonl").unlink()
    assert stored(coppice) == ["two"]
    files = [file for file in (home / "stores").rglob("*") if file.is_file()]
    assert not any(b"juniper one" in file.read_bytes().lower() for file in files)
    (source,) = json.loads(coppice("sources", "--json").out)["sources"]
    assert (source["conversations"], source["deletedByAgent"]) == (1, 0)
    (sessions / "one.jsonl").write_text(text)
    assert stored(coppice) == ["one", "two"]


def test_without_the_setting_it_stays(coppice: Coppice, home: Path, sessions: Path) -> None:
    (home / "config" / "settings.toml").unlink()
    stored(coppice)
    (sessions / "one.jsonl").unlink()
    assert stored(coppice) == ["one", "two"]


def unmounted(home: Path, sessions: Path) -> None:
    sessions.rename(home / "elsewhere")
    sessions.mkdir()


def started_anew_elsewhere(home: Path, sessions: Path) -> None:
    """The folder is gone with a disk, and the agent has written a session into another beside it."""
    sessions.rename(home / "elsewhere")
    other = sessions.parent / "--other--"
    other.mkdir()
    (other / "three.jsonl").write_text((home / "elsewhere" / "one.jsonl").read_text())


def moved(home: Path, sessions: Path) -> None:
    """Another folder with a session, which the settings name."""
    other = home / "other" / "sessions" / "--work--"
    other.mkdir(parents=True)
    (sessions / "one.jsonl").rename(other / "three.jsonl")
    with (home / "config" / "settings.toml").open("a") as settings:
        settings.write(f"[sources.folders]\npi = {json.dumps(str(home / 'other'))}\n")


def switched_off(home: Path, sessions: Path) -> None:
    (sessions / "one.jsonl").unlink()
    with (home / "config" / "settings.toml").open("a") as settings:
        settings.write('agents = ["codex"]\n')


@pytest.mark.parametrize("change", [unmounted, started_anew_elsewhere, moved, switched_off])
def test_what_only_looks_deleted_stays(
    change: Callable[[Path, Path], None], coppice: Coppice, home: Path, sessions: Path
) -> None:
    stored(coppice)
    change(home, sessions)
    assert {"one", "two"} <= {*stored(coppice)}


def test_what_cannot_be_looked_at_is_not_deleted(
    coppice: Coppice, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(coppice)
    (sessions / "one.jsonl").unlink()

    def failing(path: str) -> os.stat_result:
        raise OSError(errno.ESTALE, "a network disk that answers no more", path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "lstat", failing)
        assert stored(coppice) == ["one", "two"]
    assert stored(coppice) == ["two"]


def test_what_somebody_went_on_with_stays(coppice: Coppice, home: Path, sessions: Path) -> None:
    stored(coppice)
    listed = json.loads(coppice("list", "--json").out)["conversations"]
    (one,) = [each["id"] for each in listed if each["source"]["sessionId"] == "one"]
    url = workspace_database(home / "stores", (home / "work").resolve().as_uri())
    store = Store.open(url, server_id="somebody", index_idle_seconds=None)
    store.append(one, [user("And the yew?", "more")], modified_at=NOW)
    store.close()
    (sessions / "one.jsonl").unlink()
    assert stored(coppice) == ["one", "two"]


@pytest.mark.parametrize("comes", ["the transcript", "an entry"])
def test_what_comes_while_it_is_deleted_is_not_deleted(
    comes: str, coppice: Coppice, home: Path, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(coppice)
    text = (sessions / "one.jsonl").read_text()
    (sessions / "one.jsonl").unlink()
    delete = Store.delete

    def late(self: Store, conversation_id: str, condition: Any = None) -> bool:
        if comes == "an entry":
            self.append(conversation_id, [user("And the yew?", "more")], modified_at=NOW)
        else:
            (sessions / "one.jsonl").write_text(text)
        return delete(self, conversation_id, condition)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "delete", late)
        assert stored(coppice) == ["one", "two"]
    assert stored(coppice) == ["one", "two"]


def test_a_session_goes_that_a_database_has_no_more(coppice: Coppice, home: Path) -> None:
    path = home / "HERMES_HOME" / "state.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """CREATE TABLE sessions (id, parent_session_id, cwd, title, model, started_at);
            CREATE TABLE messages (id, session_id, role, content, tool_call_id, tool_calls, tool_name,
                timestamp, reasoning, reasoning_content, active, compacted);
            INSERT INTO sessions (id, started_at) VALUES ('s', 1), ('t', 1);
            INSERT INTO messages (id, session_id, role, content, active) VALUES (1, 's', 'user', 'go', 1),
                (2, 't', 'user', 'go', 1);"""
        )
        connection.execute("UPDATE sessions SET cwd = ?", (str(home / "work"),))
        connection.commit()
    assert stored(coppice) == ["one", "s", "t", "two"]
    readable = path.read_bytes()
    path.write_bytes(b"no database" * 400)
    assert stored(coppice) == ["one", "s", "t", "two"]
    path.write_bytes(readable)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "DELETE FROM messages WHERE session_id = 's'; DELETE FROM sessions WHERE id = 's'"
        )
    assert stored(coppice) == ["one", "t", "two"]
