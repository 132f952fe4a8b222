"""A store that another program holds."""

import sqlite3
from pathlib import Path

import pytest
from mcp_server.conftest import Start, stored, url_of, user
from preloaded import python


@pytest.fixture
def command() -> list[str]:
    return [*python(), str(Path(__file__).with_name("impatient.py"))]


def test_it_is_read_as_far_as_it_is_indexed(start: Start, sessions: Path) -> None:
    client = start()
    assert "empty basket" in client.call("history_search", query="empty basket")
    holder = sqlite3.connect(url_of(sessions).removeprefix("sqlite:///"), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert "empty basket" in client.call("history_search", query="empty basket")
    assert "thirty days" in client.call("history_read", ids=["login-1"])
    holder.execute("COMMIT")
    stored(sessions, [user("late-1", "A late basket.")], session="late-session")
    holder.execute("BEGIN IMMEDIATE")
    partly = client.call("history_search", query="empty basket")
    assert "empty basket" in partly
    assert "A late basket" not in partly
    assert "not indexed yet" in partly
    holder.execute("COMMIT")
    assert "A late basket" in client.call("history_search", query="empty basket")
    holder.close()
    assert "Noted" in client.call("note_add", text="It was free again.")
