"""What opencode's plug-in adds to a summary, from the database that opencode is writing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from formats.test_opencode_sessions import Database, text

from coppice.agents.events import answer_to
from coppice.errors import ImportFailedError

RULE = "Never change the file settings.ini."
GOAL = "Add a dark mode to the settings page."
SUMMARY = "The user wants a dark mode on the settings page."


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A session whose summary is being written."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "opencode").mkdir()
    made = Database(tmp_path / "opencode" / "opencode.db")
    made.session("s")
    made.message("m1", "user", text(RULE))
    made.message("m2", "user", text(GOAL))
    made.message("m3", "user", {"type": "compaction"})
    made.message("m4", "assistant", text(SUMMARY[:10]), summary=True, time={"created": 1000})
    yield made
    made.connection.close()


def added(session: str, seen: str, up_to: str | None = None) -> str:
    event = {"session_id": session, "seen": seen, "up_to": up_to}
    answer = answer_to("opencode", event, "CompactionEnded")
    return "" if answer is None else str(json.loads(answer)["text"])


def test_what_the_summary_lacks_is_added(database: Database) -> None:
    assert RULE in added("s", SUMMARY)
    assert f"> {GOAL}" not in added("s", SUMMARY)


def test_nothing_is_added_to_a_summary_that_says_all(database: Database) -> None:
    assert added("s", f"{SUMMARY} {RULE}") == ""


@pytest.mark.parametrize("up_to", ["m1", "gone", None])
def test_messages_that_opencode_keeps_are_not_repeated(database: Database, up_to: str | None) -> None:
    seen = "The user set a rule."
    assert f"> {RULE}" in added("s", seen, up_to)
    assert (f"> {GOAL}" in added("s", seen, up_to)) is (up_to != "m1")


def test_a_request_that_is_kept_with_its_reply_is_not_named(database: Database) -> None:
    database.message("m2r", "assistant", text("Done."), finish="stop")
    assert GOAL not in added("s", "The user set a rule.", "m1")


def test_the_results_of_the_last_summarized_reply_are_not_kept(database: Database) -> None:
    state = {"status": "completed", "input": {"command": "make"}, "output": RULE}
    database.message("m2t", "assistant", {"type": "tool", "tool": "bash", "callID": "c", "state": state})
    assert f"> {RULE}" in added("s", SUMMARY, "m2t")


def test_another_session_is_not_looked_at(database: Database) -> None:
    database.session("t")
    database.message("t1", "user", text("Use port 48117."), session="t")
    assert "48117" not in added("s", SUMMARY)
    with pytest.raises(ImportFailedError):
        added("gone", SUMMARY)
