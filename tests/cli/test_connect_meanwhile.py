"""`coppice connect` while an agent writes its own files."""

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Coppice
from systems import needs_locks

from coppice.agents import files as agent_files
from coppice.agents.connecting import Change, Connections

CLAUDE = '{"numStartups": 3, "mcpServers": {"other": {"command": "x"}}}'
SETTINGS = '{"permissions": {"allow": ["Bash(ls)"]}}'


@pytest.fixture(autouse=True)
def files(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The files of a user of Claude Code."""
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(home))
    monkeypatch.setenv("PATH", str(home / "nothing"))
    for variable in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "XDG_CONFIG_HOME",
        "HERMES_HOME",
        "OPENCLAW_STATE_DIR",
    ):
        monkeypatch.delenv(variable, raising=False)
    paths = {"claude": home / ".claude.json", "settings": home / ".claude" / "settings.json"}
    paths["settings"].parent.mkdir()
    paths["claude"].write_text(CLAUDE)
    paths["settings"].write_text(SETTINGS)
    return paths


@pytest.mark.parametrize("option", [[], ["--remove"]])
def test_what_an_agent_writes_while_a_person_is_asked_stays(
    coppice: Coppice, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, option: list[str]
) -> None:
    if option:
        coppice("connect", "claude-code")
    asked = []

    def answer(question: str, **_: object) -> bool:
        asked.append(question)
        if "Claude" in question:
            text = files["claude"].read_text()
            files["claude"].write_text(text.replace('"numStartups": 3', '"numStartups": 4, "login": "new"'))
        return "Claude" in question

    monkeypatch.setattr("typer.confirm", answer)
    assert coppice("connect", *option, is_terminal=True).code == 0
    assert len([question for question in asked if "Claude" in question]) == 1
    claude = json.loads(files["claude"].read_text())
    assert (claude["numStartups"], claude["login"]) == (4, "new")
    assert [*claude["mcpServers"]] == (["other"] if option else ["other", "coppice"])


def test_a_file_that_changes_meanwhile_is_asked_about_if_it_was_not(
    coppice: Coppice, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    coppice("connect", "claude-code")
    settings = files["settings"].read_text()
    files["claude"].write_text(CLAUDE)
    asked = []

    def answer(question: str, **_: object) -> bool:
        asked.append(question)
        files["settings"].write_text(SETTINGS)
        return len(asked) == 1

    monkeypatch.setattr("typer.confirm", answer)
    ran = coppice("connect", is_terminal=True)
    assert (ran.code, asked[:2]) == (0, ["Connect Claude Code?"] * 2)
    assert settings != SETTINGS
    assert (files["claude"].read_text(), files["settings"].read_text()) == (CLAUDE, SETTINGS)


def test_a_file_that_never_rests_is_left(
    coppice: Coppice, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = Connections.connect

    def racing(self: Connections, agent: str, changes: Sequence[Change]) -> None:
        files["claude"].write_text(files["claude"].read_text() + " ")
        connect(self, agent, changes)

    monkeypatch.setattr(Connections, "connect", racing)
    ran = coppice("connect", "claude-code")
    assert ran.code != 0
    assert "another program" in ran.err
    assert files["claude"].read_text().strip() == CLAUDE.strip()


def test_what_an_agent_writes_while_the_new_file_is_written_stays(
    coppice: Coppice, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, fsync = [], os.fsync

    def writing(descriptor: int) -> None:
        fsync(descriptor)
        if not [*files["claude"].parent.glob("..claude.json.*")]:
            return
        synced.append(descriptor)
        text = files["claude"].read_text()
        files["claude"].write_text(text.replace('"numStartups": 3', '"numStartups": 4'))

    monkeypatch.setattr("coppice.agents.files.os.fsync", writing)
    assert coppice("connect", "claude-code").code == 0
    assert synced
    claude = json.loads(files["claude"].read_text())
    assert (claude["numStartups"], [*claude["mcpServers"]]) == (4, ["other", "coppice"])
    assert not [*files["claude"].parent.glob(".*.json.*")]


@needs_locks
def test_agents_that_are_connected_at_once_are_all_recorded(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "config" / "agents"
    write, others = agent_files.write, list[threading.Thread]()

    def connect(agent: str) -> None:
        Connections(folder).connect(agent, [Change(home / agent, None, "{}", None)])

    def interrupted(path: Path, text: str, **more: Any) -> None:
        if path.name == "connections.json" and not others:
            others.append(threading.Thread(target=connect, args=("codex",)))
            others[0].start()
            others[0].join(timeout=0.5)  # it waits for its turn
        write(path, text, **more)

    monkeypatch.setattr(agent_files, "write", interrupted)
    connect("claude-code")
    others[0].join()
    assert {*json.loads((folder / "connections.json").read_text())} == {"claude-code", "codex"}
