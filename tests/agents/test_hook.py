"""The hook that an agent runs after a compaction: it answers, or stays out of the way."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from session_samples import lines_of, prompt, reply, text_block

from coppice.agents.events import answer_to
from coppice.agents.hook import LATE
from coppice.agents.program import Program

RULE = "Never change the file settings.ini."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A user of Claude Code with one session."""
    folder = tmp_path / "project"
    folder.mkdir()
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(folder))
    transcript = tmp_path / ".claude" / "projects" / slug / "s-1.jsonl"
    transcript.parent.mkdir(parents=True)
    records = [prompt("p", None, RULE), reply("a", "p", "m", text_block("Yes."), stop_reason="end_turn")]
    lines = lines_of(*({**record, "cwd": str(folder), "sessionId": "s-1"} for record in records))
    transcript.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def run(home: Path, event: object, *, raw: str | None = None) -> tuple[int, str, str]:
    """The exit code, the answer, and the log."""
    environ = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "COPPICE_STORAGE_DIRECTORY": str(home / "stores"),
        "COPPICE_CONFIG_DIRECTORY": str(home / "config"),
    }
    ran = subprocess.run(
        Program.installed().hook_words("claude-code"),
        input=json.dumps(event) if raw is None else raw,
        env=environ,
        cwd=home / "project",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    log = home / "config" / "agents" / "hooks.log"
    assert ran.stderr == ""
    return ran.returncode, ran.stdout, log.read_text() if log.exists() else ""


def compacted(home: Path, **more: Any) -> dict[str, Any]:
    (transcript,) = (home / ".claude").rglob("s-1.jsonl")
    event = {"hook_event_name": "SessionStart", "source": "compact", "session_id": "s-1"}
    return {**event, "transcript_path": str(transcript), **more}


def test_after_a_compaction_the_facts_of_the_session_are_added(home: Path) -> None:
    code, out, log = run(home, compacted(home))
    answer = json.loads(out)["hookSpecificOutput"]
    assert (code, answer["hookEventName"]) == (0, "SessionStart")
    assert RULE in answer["additionalContext"]
    assert re.search(r" claude-code compaction: \d+ tokens added to the summary \(User Messages \d+", log)


def test_the_start_of_a_session_is_not_answered(home: Path) -> None:
    assert run(home, compacted(home, source="startup")) == (0, "", "")


@pytest.mark.parametrize(
    "raw", ["", "no JSON", "[]", "{}", '{"hook_event_name": "SessionStart", "source": "compact"}']
)
def test_an_event_that_is_none_of_ours_disturbs_nobody(home: Path, raw: str) -> None:
    code, out, _ = run(home, None, raw=raw)
    assert (code, out) == (0, "")


def test_a_transcript_that_is_not_there_is_a_line_in_the_log(home: Path) -> None:
    code, out, log = run(home, compacted(home, transcript_path=str(home / "gone.jsonl")))
    assert (code, out) == (0, "")
    assert "There is no such file" in log


def test_a_hook_that_is_late_ends_and_is_a_line_in_the_log(home: Path) -> None:
    code = (
        "import sys, time; from coppice.agents import hook; hook.TIME_LIMIT = 0.2; "
        "hook.WHEN_LATE.append(lambda: print('late', flush=True)); "
        "hook.answer_to = lambda *_: time.sleep(60); sys.exit(hook.main(['codex']))"
    )
    environ = {**os.environ, "COPPICE_CONFIG_DIRECTORY": str(home / "config")}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input="{}",
        env=environ,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (LATE, "late\n")
    assert (
        " codex failure: no answer within 0 seconds\n"
        in (home / "config" / "agents" / "hooks.log").read_text()
    )


def test_the_compaction_of_a_sub_agent_of_copilot_is_none_of_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path))
    monkeypatch.setenv("COPPICE_CONFIG_DIRECTORY", str(tmp_path / "config"))
    transcript = tmp_path / "session-state" / "s" / "events.jsonl"
    transcript.parent.mkdir(parents=True)
    compacted = '{"type":"session.compaction_complete","data":{"success":true,"summaryContent":"Done."}'
    asked = {"hook_event_name": "postToolUse", "sessionId": "s"}
    transcript.write_text(f'{compacted},"agentId":"a","id":"1"}}\n')
    answered = tmp_path / "config" / "agents" / "compactions.json"
    assert answer_to("copilot", asked) is None
    assert not answered.exists()
    with transcript.open("a") as file:
        file.write(f'{compacted},"id":"2"}}\n')
    answer_to("copilot", asked)
    assert answered.exists()


COSTLY = ("asyncio", "dataclasses", "datetime", "platformdirs", "pydantic", "subprocess", "threading")


@pytest.mark.parametrize(
    ("agent", "event"),
    [
        ("claude-code", {"hook_event_name": "SessionStart"}),
        ("codex", {"hook_event_name": "SessionStart"}),
        ("copilot", {"hook_event_name": "postToolUse", "sessionId": "s"}),
        ("gemini", {"hook_event_name": "AfterTool", "transcript_path": "/nowhere"}),
    ],
)
def test_an_event_that_needs_no_answer_imports_little(home: Path, agent: str, event: dict[str, str]) -> None:
    code = "import sys; from coppice.agents.events import answer_to; import coppice.agents.hook; "
    check = f"answer_to({agent!r}, {event!r}); print([name for name in {COSTLY!r} if name in sys.modules])"
    environ = {"HOME": str(home), "USERPROFILE": str(home), "COPPICE_CONFIG_DIRECTORY": str(home / "config")}
    ran = subprocess.run(
        [sys.executable, "-c", code + check], env=environ, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"
