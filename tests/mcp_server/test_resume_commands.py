"""The commands with which the user can go on with a session in its agent."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from mcp_server.conftest import NOW, SESSION, Start
from session_samples import HEADER, message_record

from coppice.mcp.project import resume_command
from coppice.store.schema.records import ConversationRecord
from coppice.store.store import Store
from coppice.store.tree.location import workspace_database


def pi_session(folder: Path) -> None:
    sessions = folder.parent / "agents" / "pi" / "sessions" / "--garden--"
    sessions.mkdir(parents=True)
    header = {**HEADER, "id": SESSION, "cwd": str(folder)}
    lines = (header, message_record("m1", None, "Plant the plum by the wall."))
    path = sessions / f"2026-10-01T10-00-00-000Z_{SESSION}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def gemini_session(folder: Path) -> None:
    chats = folder.parent / ".gemini" / "tmp" / "garden" / "chats"
    chats.mkdir(parents=True)
    (chats.parent / ".project_root").write_text(str(folder))
    words = {
        "id": "m1",
        "timestamp": NOW,
        "type": "user",
        "content": [{"text": "Plant the plum by the wall."}],
    }
    header = {"sessionId": SESSION, "projectHash": "h", "startTime": NOW, "kind": "main"}
    path = chats / f"session-2026-10-01T10-00-{SESSION[:8]}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (header, words)))


@pytest.mark.parametrize(
    ("write", "printed"),
    [(pi_session, f"pi --session {SESSION}"), (gemini_session, f"gemini --resume {SESSION}")],
)
def test_a_session_is_resumed_and_named_by_the_id_that_its_agent_gave_it(
    write: Callable[[Path], None], printed: str, start: Start, folder: Path
) -> None:
    write(folder)
    client = start(HOME=str(folder.parent))
    assert printed in client.call("history_search", query="plum wall").splitlines()[-1]
    assert f'resume="{printed}"' in client.call("history_overview", session=SESSION)
    assert "by the wall" in client.call("history_read", session=SESSION)


@pytest.mark.parametrize(
    ("write", "printed"),
    [(pi_session, f"pi --session {SESSION}"), (gemini_session, f"gemini --resume {SESSION}")],
)
def test_a_session_that_an_earlier_version_stored_gets_the_id(
    write: Callable[[Path], None], printed: str, start: Start, folder: Path
) -> None:
    write(folder)
    start(HOME=str(folder.parent)).call("history_search", query="plum wall")
    url = workspace_database(folder.parent / "stores", folder.resolve().as_uri())
    store = Store.open(url, server_id="earlier", index_idle_seconds=None)
    (record,), _ = store.conversations(limit=2)
    assert record.source is not None
    store.set_source(record.id, {key: each for key, each in record.source.items() if key != "headerId"})
    assert store.conversations_without("headerId", record.source["format"]) == {record.id}
    assert printed in start(HOME=str(folder.parent)).call("history_search", query="plum wall")
    assert store.conversation(record.id).source == record.source
    assert store.conversations_without("headerId", record.source["format"]) == frozenset()
    store.close()


def test_a_session_whose_store_is_gone_is_stored_again(start: Start, folder: Path) -> None:
    pi_session(folder)
    start().call("history_search", query="plum wall")
    for file in (folder.parent / "stores").glob("*.sqlite3*"):
        file.unlink()
    assert "Plant the plum" in start().call("history_search", query="plum wall")


@pytest.mark.parametrize(
    ("agent", "command"), [("claude-code", None), ("gemini", None), ("codex", "codex resume s-1")]
)
def test_a_sub_agent_that_its_agent_cannot_resume_has_no_command(agent: str, command: str | None) -> None:
    source = {"format": agent, "sessionId": "s-1"}
    record = ConversationRecord(
        "c", "file:///w", NOW, NOW, None, 0, parent_conversation_id="p", source=source
    )
    assert resume_command(record) == command
    assert resume_command(replace(record, parent_conversation_id=None)) is not None
