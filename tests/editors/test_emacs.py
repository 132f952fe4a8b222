"""A real Emacs, in batch mode, with the Lisp file of the documentation and Eglot, against the real server."""

import json
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
PLUGIN = HERE.parents[1] / "docs" / "editors" / "coppice.el"


def why_not() -> str | None:
    """Why Emacs cannot be driven here, or None."""
    if shutil.which("emacs") is None:
        return "Emacs is not installed"
    look = ["emacs", "--batch", "--eval", "(progn (package-initialize) (require 'eglot))"]
    looked = subprocess.run(look, capture_output=True, timeout=PATIENCE, check=False)
    return "Eglot is not installed" if looked.returncode else None


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a session showed: starting, appending, compacting, switching, saving, reading."""
    if (reason := why_not()) is not None:
        missing("editors", reason)
    directory = tmp_path_factory.mktemp("emacs")
    project = directory / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    file, report = project / "notes.txt", directory / "seen.json"
    file.write_text("begun\n")
    config = directory / "config"
    config.mkdir()
    (config / "settings.toml").write_text(
        '[compaction]\nkeepRecentTokens = 300\n[tokens]\ncounter = "estimate"\n'
    )
    session = json.dumps([str(PLUGIN), sys.executable, str(file), str(report)])
    ran = subprocess.run(
        ["emacs", "--batch", "-l", str(HERE / "emacs_session.el")],
        env=environment(directory) | {"COPPICE_SESSION": session, "HOME": str(directory)},
        cwd=project,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert report.exists(), ran.stderr
    result = json.loads(report.read_text())
    assert "problem" not in result, result
    return result


def test_emacs_starts_the_server_and_appends(seen: Any) -> None:
    assert seen["appended"] == 60
    assert "Coppice: new conversation Export" in seen["messages"]
    assert seen["opened"] == "Export"


def test_emacs_compacts(seen: Any) -> None:
    assert any("tokens, written by offline" in line for line in seen["messages"])


def test_emacs_switches_to_another_branch_with_a_summary(seen: Any) -> None:
    assert "Coppice: switched" in seen["messages"]
    assert "branch_summary" in seen["tree"]


def test_a_file_that_is_saved_in_emacs_is_tracked(seen: Any) -> None:
    assert seen["files"] == ["notes.txt"]


def test_emacs_shows_what_the_model_sees(seen: Any) -> None:
    assert seen["context"] == "# What the model sees\n"
    assert (seen["long"], seen["short"]) == ([True, True], [False, False])
