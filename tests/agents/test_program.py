"""The commands that agents run, in a project that has modules of Coppice's and Python's names."""

import os
import pickle
import subprocess
from pathlib import Path

import pytest
from systems import needs_shell

from coppice.agents.program import Program, hook_command, hook_pattern
from coppice.service.core.worker_process import _Process

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


@needs_shell
@pytest.mark.parametrize("places", [None, ":", f"{os.sep}nowhere:", "."])
def test_a_hook_runs_no_module_of_the_project(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, places: str | None
) -> None:
    if places is not None:
        monkeypatch.setenv("PYTHONPATH", places.replace(":", os.pathsep))
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


@pytest.mark.parametrize("places", [None, ":", "."])
def test_the_program_is_no_module_of_the_project(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, places: str | None
) -> None:
    if places is not None:
        monkeypatch.setenv("PYTHONPATH", places.replace(":", os.pathsep))
    words = Program.installed().words
    ran = subprocess.run(
        [*words, "connect", "--help"], cwd=project, capture_output=True, text=True, timeout=60, check=True
    )
    assert "--remove" in ran.stdout
    assert not (tmp_path / "ran").exists()


def test_a_worker_process_runs_no_module_of_the_project(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", str(tmp_path / "elsewhere")]))
    monkeypatch.chdir(project)
    process = _Process()
    try:
        places = process.call(pickle.dumps((os.getenv, ("PYTHONPATH",), {})), 60)
    finally:
        process.close()
    assert places == str(tmp_path / "elsewhere")
    assert not (tmp_path / "ran").exists()


def test_a_worker_process_ignores_the_variables_that_its_parent_ignores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pydantic.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    call = "from coppice.service.core.worker_process import _Process as P; import pickle; p = P(); "
    call += "print(p.call(pickle.dumps((sum, ([1, 2],), {})), 60)); p.close()"
    interpreter = Program.installed().words[:-2]
    ran = subprocess.run([*interpreter, "-c", call], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.stdout, ran.stderr) == ("3\n", "")


@pytest.mark.parametrize("folder", ["/home/me/.config/coppice", "/it's $HOME/'", "C:\\Users\\me", "/ü"])
@pytest.mark.parametrize("event", [None, "AfterTool"])
def test_hooks_are_ours_wherever_coppice_had_its_folder(
    monkeypatch: pytest.MonkeyPatch, folder: str, event: str | None
) -> None:
    monkeypatch.setenv("COPPICE_CONFIG_DIRECTORY", folder)
    command = hook_command("gemini", event)
    monkeypatch.setenv("COPPICE_CONFIG_DIRECTORY", "/elsewhere")
    assert hook_pattern("gemini").fullmatch(command)
    assert not hook_pattern("codex").fullmatch(command)
    for other in (f"sh {command}", f"{command}; x", f"x;{command}", f"{command} a b", f"'a' {command}"):
        assert not hook_pattern("gemini").fullmatch(other)


@pytest.mark.parametrize("command", ["/home/me/bin/gemini-hook.sh", "'/a b/agents/my-gemini-hook.sh' save"])
def test_hooks_with_names_like_ours_are_others(command: str) -> None:
    assert not hook_pattern("gemini").fullmatch(command)
