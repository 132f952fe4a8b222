"""An agent goes on when the server answers too late, or ends in the middle of a call."""

import json
import re

import pytest
from real_agents.conftest import RealAgent, write
from real_agents.test_search import QUESTION, searching

CONFIGURATIONS = {"claude-code": ".claude.json", "codex": ".codex/config.toml"}
SERVER = """
import os, sys, time
from coppice.mcp import server
server.Server._call = lambda *_, **__: {spoiled}
from coppice.mcp.__main__ import main
sys.exit(main([]))
"""
"""Lists its tools as always."""


def spoil(agent: RealAgent, spoiled: str, seconds: int) -> None:
    """The agent starts a server that does this at each call of a tool, and waits so long for an answer."""
    program = agent.home / "spoiled.py"
    write(program, SERVER.format(spoiled=spoiled))
    path = agent.home / CONFIGURATIONS[agent.name]
    words = r'"-E",\s*"-P",\s*"-m",\s*"coppice\.cli",\s*"mcp"'
    text, count = re.subn(words, json.dumps(str(program)), path.read_text())
    assert count == 1, path.read_text()
    path.write_text(text)
    if agent.name == "codex":
        agent.arguments += ("-c", f"mcp_servers.coppice.tool_timeout_sec={seconds}")
    agent.environment["MCP_TOOL_TIMEOUT"] = str(seconds * 1000)  # Claude Code's


@pytest.mark.parametrize(
    ("spoiled", "seconds", "reason"),
    [("time.sleep(30)", 1, "timed out"), ("os._exit(3)", 60, "closed")],
    ids=["late", "crashing"],
)
@pytest.mark.parametrize("agent", list(CONFIGURATIONS), indirect=True)
def test_an_agent_goes_on_when_a_call_gets_no_answer(
    agent: RealAgent, spoiled: str, seconds: int, reason: str
) -> None:
    agent.coppice("connect", agent.name)
    spoil(agent, spoiled, seconds)
    searching(agent)
    asked = agent.run(QUESTION)
    assert reason in asked[-1].last
    assert "It is in the history." in agent.shown
