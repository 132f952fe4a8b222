"""The script that agents run as their hook: whatever becomes of Coppice, one line says so."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from systems import needs_shell

from coppice.agents import files
from coppice.agents.hook import LATE
from coppice.agents.hook_log import notes
from coppice.agents.hook_script import hook_script
from coppice.agents.program import Program, hook_command

pytestmark = needs_shell
AGENTS = ("claude-code", "codex", "copilot", "gemini")
PROMPTED = "UserPromptSubmit"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Coppice's own, with letters that mean something to a shell."""
    made = tmp_path / "it's $HOME"
    monkeypatch.setenv("COPPICE_CONFIG_DIRECTORY", str(made))
    return made


def run(agent: str, program: Path | None, event: str = PROMPTED) -> tuple[int, str, str]:
    """The exit code and the outputs of a hook that `program` answers; None for one that is not there."""
    file = hook_script(Program.installed(), agent)
    words = shlex.join([*Program.installed().words[:-1], "coppice.agents.hook", agent])
    assert words in file.content
    spoiled = file.content.replace(words, shlex.quote(str(program or "/nowhere/python")))
    files.write(file.path, spoiled)
    ran = subprocess.run(
        ["sh", "-c", hook_command(agent, event)],
        input="{}",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return ran.returncode, ran.stdout, ran.stderr


def program(folder: Path, script: str) -> Path:
    made = folder / "program"
    files.write(made, f"#!/bin/sh\n{script}\n")
    return made


def shown(agent: str, outcome: tuple[int, str, str]) -> str:
    """The line, as the agent takes it from the outcome of its hook."""
    code, out, err = outcome
    if agent in ("codex", "gemini"):
        assert (code, err) == (0, "")
        return str(json.loads(out)["systemMessage"])
    assert (code, out) == ({"claude-code": 1, "copilot": 2}[agent], "")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    ("script", "happened"),
    [
        (None, "cannot start"),
        ("echo '{\"half\":'; kill -KILL $$", "was ended by signal 9"),
        ("echo Traceback >&2; exit 1", "ended with code 1"),
    ],
)
def test_a_hook_that_dies_is_shown_and_logged(
    folder: Path, agent: str, script: str | None, happened: str
) -> None:
    line = shown(agent, run(agent, None if script is None else program(folder, script)))
    assert happened in line
    assert f"`coppice connect --remove {agent}`" in line
    (note,) = notes(agent)
    assert (note.kind, happened in note.text) == ("failure", True)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_hook_that_gave_up_is_shown_and_has_logged_it_itself(folder: Path, agent: str) -> None:
    assert "did not answer in time" in shown(agent, run(agent, program(folder, f"exit {LATE}")))
    assert notes(agent) == []


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("answer", ["", '{"a": "\\\\n %s $HOME `x`"}\n'])
def test_an_answer_is_passed_on_as_it_is(folder: Path, agent: str, answer: str) -> None:
    file = folder / "answer"
    files.write(file, answer)
    assert run(agent, program(folder, f"cat >/dev/null; cat {shlex.quote(str(file))}")) == (0, answer, "")


def test_the_event_and_its_name_reach_the_program(folder: Path) -> None:
    assert run("gemini", program(folder, 'echo "$1"; cat')) == (0, f"{PROMPTED}\n{{}}\n", "")


@pytest.mark.parametrize(("agent", "event"), [("gemini", "AfterTool"), ("copilot", "postToolUse")])
def test_what_runs_after_each_tool_does_not_repeat_it(agent: str, event: str) -> None:
    assert run(agent, None, event) == (0, "", "")
    assert notes(agent) == []


@pytest.mark.parametrize("agent", AGENTS)
def test_without_the_script_no_agent_is_stopped(agent: str) -> None:
    """Code 2 would stop a compaction of Claude Code's, and a turn of Gemini's."""
    ran = subprocess.run(["sh", "-c", hook_command(agent)], capture_output=True, timeout=30, check=False)
    assert ran.returncode == 127
