"""The commands that agents run, in a project that has modules of Coppice's and Python's names."""

import subprocess
import sys
from pathlib import Path

import pytest

from coppice.agents.program import Program

MODULES = (
    "json.py",
    "shlex.py",
    "coppice/__init__.py",
    "coppice/agents/__init__.py",
    "coppice/cli/__main__.py",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout whose modules write a file when they are imported."""
    folder = tmp_path / "project"
    for name in MODULES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    return folder


def test_a_hook_runs_no_module_of_the_project(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPPICE_CONFIG_DIRECTORY", str(tmp_path / "config"))
    command = Program.installed().hook_words("claude-code")
    ran = subprocess.run(
        command, input="{", cwd=project, capture_output=True, text=True, timeout=60, check=True
    )
    assert (ran.stdout, ran.stderr) == ("", "")
    assert (
        "claude-code failure: JSONDecodeError" in (tmp_path / "config" / "agents" / "hooks.log").read_text()
    )
    assert not (tmp_path / "ran").exists()


def test_without_a_script_the_program_is_no_module_of_the_project(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    words = Program.installed().words
    assert words[0] == str(python)
    ran = subprocess.run(
        [*words, "connect", "--help"], cwd=project, capture_output=True, text=True, timeout=60, check=True
    )
    assert "--remove" in ran.stdout
    assert not (tmp_path / "ran").exists()
