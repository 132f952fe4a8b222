"""The inspector of the Model Context Protocol lists and calls the tools of `coppice mcp`."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from real_agents.conftest import AGENTS, COPPICE, NODE, SECONDS
from requirements import missing

from coppice.mcp.catalogue import TOOLS

PROGRAM = AGENTS / "inspector" / "node_modules" / ".bin" / "mcp-inspector"


def inspect(folder: Path, *arguments: str) -> tuple[Any, str]:
    """The result, None for an error, and the error."""
    if not PROGRAM.exists():
        missing("agents", "needs inspector below the folder that COPPICE_TEST_AGENTS names")
    ran = subprocess.run(
        [str(PROGRAM), "--cli", str(COPPICE), "mcp", *arguments],
        cwd=folder,
        env={
            "HOME": str(folder),
            "PATH": f"{NODE}{os.pathsep}{os.environ['PATH']}",
            "COPPICE_STORAGE_DIRECTORY": str(folder / "stores"),
            "COPPICE_CONFIG_DIRECTORY": str(folder / "coppice"),
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return (json.loads(ran.stdout), "") if ran.returncode == 0 else (None, ran.stderr)


def call(folder: Path, tool: str, **arguments: str) -> tuple[str, str]:
    """The text of a result, and of an error."""
    words = [f"{name}={value}" for name, value in arguments.items()]
    given = [word for each in words for word in ("--tool-arg", each)]
    result, error = inspect(folder, "--method", "tools/call", "--tool-name", tool, *given)
    if result is None:
        return "", error
    (content,) = result["content"]
    return ("", str(content["text"])) if result["isError"] else (str(content["text"]), "")


def test_the_inspector_lists_every_tool(tmp_path: Path) -> None:
    result, error = inspect(tmp_path, "--method", "tools/list")
    assert error == ""
    assert [tool["name"] for tool in result["tools"]] == [tool["name"] for tool in TOOLS]


def test_the_inspector_calls_tools(tmp_path: Path) -> None:
    call(tmp_path, "note_add", text="The service listens on port 48117.")
    text, error = call(tmp_path, "history_search", query="which port", scope="project")
    assert error == ""
    assert "port 48117" in text


@pytest.mark.parametrize(
    ("tool", "problem"),
    [("no_such_tool", "There is no such tool"), ("history_search", "query")],
)
def test_the_inspector_is_given_what_is_wrong_with_a_call(tmp_path: Path, tool: str, problem: str) -> None:
    text, error = call(tmp_path, tool)
    assert text == ""
    assert problem in error
