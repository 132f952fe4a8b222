"""A real Neovim, headless, with the Lua file of the documentation, against the real server."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsp.raw_client import environment
from requirements import missing
from waiting import PATIENCE

HERE = Path(__file__).parent
PLUGIN = HERE.parents[1] / "docs" / "editors" / "coppice.lua"


@pytest.fixture(scope="module")
def neovim() -> str:
    """The Neovim to drive: `COPPICE_TEST_NVIM`, or the one on the path."""
    path = os.environ.get("COPPICE_TEST_NVIM") or shutil.which("nvim")
    if path is None:
        missing("editors", "Neovim is not installed")
    return path


@pytest.fixture(scope="module")
def seen(neovim: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a session showed: starting, appending, compacting, switching, saving, reading."""
    directory = tmp_path_factory.mktemp("neovim")
    project = directory / "project"
    (project / ".git").mkdir(parents=True)
    file, report = project / "main.py", directory / "seen.json"
    file.write_text("changed = False\n")
    homes = {
        f"XDG_{name}_HOME": str(directory / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")
    }
    session = json.dumps([str(PLUGIN), sys.executable, str(file), str(report)])
    ran = subprocess.run(
        [neovim, "--headless", "--clean", "-c", f"luafile {HERE / 'neovim_session.lua'}"],
        env=environment(directory) | homes | {"COPPICE_SESSION": session},
        cwd=project,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert report.exists(), ran.stderr
    result = json.loads(report.read_text())
    assert "problem" not in result, result["problem"]
    return result


def test_neovim_starts_the_server_and_appends(seen: Any) -> None:
    assert seen["appended"] == 60
    assert "new conversation Export" in seen["messages"][0]


def test_neovim_shows_the_progress_of_a_compaction(seen: Any) -> None:
    compacting = [step for step in seen["progress"] if step["title"] in {"Compacting", None}]
    assert compacting[0]["title"] == "Compacting"
    assert {"end"} <= {step["kind"] for step in compacting}
    assert any("→" in (step.get("message") or "") for step in compacting)
    assert any("tokens, written by offline" in line for line in seen["messages"])
    assert seen["status"] == ""


def test_a_status_line_evaluates_nothing_of_what_is_shown(seen: Any) -> None:
    assert seen["evaluated"] == "Working: Running %{6*7}"


def test_a_name_with_a_line_break_shows_no_other_choice(seen: Any) -> None:
    assert sorted(seen["conversations"]) == ["Export", "Real 2: Other"]


def test_neovim_picks_a_branch_and_has_the_other_summarized(seen: Any) -> None:
    assert seen["picked"] == ["Branch", "The branch that is left"]
    assert seen["first_choice"].startswith(("* ", "  "))
    assert "branch_summary" in {node["type"] for node in seen["tree"]["nodes"]}


def test_a_prompt_without_a_model_is_answered_with_how_to_name_one(seen: Any) -> None:
    assert "model.provider" in seen["messages"][-1]
    assert seen["transcript"].endswith("/transcript.md")


def test_a_file_that_is_written_in_neovim_is_tracked(seen: Any) -> None:
    assert seen["files"]["modifiedFiles"] == ["main.py"]
    assert seen["files"]["records"][0]["sources"][0] == "editor"


def test_what_the_model_sees_is_a_buffer_that_follows_the_conversation(seen: Any) -> None:
    assert seen["document"]["name"].endswith("/context.md")
    assert seen["document"]["filetype"] == "markdown"
    assert seen["document"]["modifiable"] is False
    assert seen["refreshed"] is True
