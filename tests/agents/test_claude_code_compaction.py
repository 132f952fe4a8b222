"""What Claude Code's mod asks for before and after a compaction, and the hooks that are silent meanwhile."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from session_samples import lines_of, prompt, reply, text_block

from coppice.agents.events import answer_to
from coppice.agents.hook_log import notes
from coppice.directories import config_directory

RULE = "Never change the file settings.ini."
GOAL = "Add a dark mode to the settings page."
SUMMARY = "The user wants a dark mode on the settings page."
LONG = "The page has colours, fonts and icons. " * 200
SESSION = {"session_id": "s-1"}
AGENT = "claude-code"


@pytest.fixture
def transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session of three turns."""
    monkeypatch.setenv("COPPICE_CONFIG_DIRECTORY", str(tmp_path / "config"))
    monkeypatch.setenv("COPPICE_STORAGE_DIRECTORY", str(tmp_path / "stores"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    file = tmp_path / "claude" / "projects" / "-project" / "s-1.jsonl"
    file.parent.mkdir(parents=True)
    records = [
        prompt("u1", None, RULE),
        reply("a1", "u1", "m1", text_block(LONG), stop_reason="end_turn"),
        prompt("u2", "a1", GOAL),
        reply("a2", "u2", "m2", text_block(LONG), stop_reason="end_turn"),
        prompt("u3", "a2", "And now?"),
    ]
    file.write_text("".join(f"{line}\n" for line in lines_of(*records)), encoding="utf-8")
    return file


def settings(text: str) -> None:
    config_directory().mkdir(exist_ok=True)
    (config_directory() / "settings.toml").write_text(text, encoding="utf-8")


def begun(**more: Any) -> str | None:
    return answer_to(AGENT, {**SESSION, **more}, "CompactionBegun")


def ended(seen: str) -> str:
    answer = answer_to(AGENT, {**SESSION, "seen": seen}, "CompactionEnded")
    return "" if answer is None else str(json.loads(answer)["text"])


def logged() -> str:
    """The text of the log's last line."""
    return notes(AGENT)[-1].text


def hooks(transcript: Path) -> list[str | None]:
    """What the hooks on a compaction answer."""
    event = {**SESSION, "transcript_path": str(transcript), "source": "compact"}
    return [answer_to(AGENT, {**event, "hook_event_name": name}) for name in ("PreCompact", "SessionStart")]


def test_what_the_summary_lacks_is_added(transcript: Path) -> None:
    assert begun() is None
    text = ended(SUMMARY)
    assert RULE in text
    assert f"> {GOAL}" not in text
    assert re.fullmatch(r"\d+ tokens added to the summary \(User Messages \d+.*\)", logged())


def test_nothing_is_added_to_a_summary_that_says_all(transcript: Path) -> None:
    begun()
    assert RULE not in ended(f"{SUMMARY} {RULE} {LONG} And now?")
    assert "User Messages" not in logged()
    assert ended(f"{SUMMARY} {ended(SUMMARY)}") == ""
    assert logged() == "nothing was lost"


def test_nothing_is_added_where_nothing_was_compacted(transcript: Path) -> None:
    begun()
    assert ended("") == ""


def test_the_hooks_are_silent_while_the_mod_compacts(transcript: Path) -> None:
    ahead, after = hooks(transcript)
    assert RULE in (ahead or "")
    assert RULE in (after or "")
    begun()
    assert hooks(transcript) == [None, None]
    ended(SUMMARY)
    assert None not in hooks(transcript)


def test_a_compaction_that_never_ended_silences_no_later_one(transcript: Path) -> None:
    begun()
    (mark,) = (config_directory() / "agents").glob("compacting-*")
    os.utime(mark, (0, 0))
    assert None not in hooks(transcript)
    answer_to(AGENT, {"session_id": "s-2"}, "CompactionBegun")
    assert not mark.exists()


def test_the_users_settings_have_the_summary_replaced(transcript: Path) -> None:
    settings('[agents]\nreplaceSummaries = ["claude-code"]\n[compaction]\nkeepRecentTokens = 100\n')
    answer = json.loads(begun(instructions="-x") or "")
    assert RULE in answer["text"]
    assert answer["firstKept"] in ("a2", "u2", "u3")
    assert re.fullmatch(r"summary by Coppice: [\d,]+ tokens before, [\d,]+ after", logged())


def test_a_checkout_has_no_summary_replaced(transcript: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = transcript.parent / "checkout" / ".coppice"
    checkout.mkdir(parents=True)
    (checkout / "settings.toml").write_text('[agents]\nreplaceSummaries = ["claude-code"]\n')
    monkeypatch.chdir(checkout.parent)
    assert begun() is None


def test_a_session_that_cannot_be_compacted_keeps_its_own_summary(transcript: Path) -> None:
    settings('[agents]\nreplaceSummaries = ["claude-code"]\n')
    with pytest.raises(RuntimeError, match="nothing to compact"):
        begun()


@pytest.mark.parametrize("session", ["gone", "*", "../../../etc", ""])
def test_a_session_without_a_transcript_is_an_error(transcript: Path, session: str) -> None:
    with pytest.raises(ValueError, match="no transcript"):
        answer_to(AGENT, {"session_id": session, "seen": SUMMARY}, "CompactionEnded")
