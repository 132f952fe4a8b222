"""An agent goes on when the server answers too late, or ends in the middle of a call."""

import json
import re

import pytest
from real_agents.conftest import RealAgent, write
from real_agents.test_search import QUESTION, searching

CONFIGURATIONS = {
    "claude-code": ".claude.json",
    "codex": ".codex/config.toml",
    "copilot": ".copilot/mcp-config.json",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "pi": ".pi/agent/extensions/coppice.ts",
}
COMMANDS = {"pi": r'"-E",\s*"-P",\s*"-m",\s*"coppice\.cli"'}
COMMAND = r'"-E",\s*"-P",\s*"-m",\s*"coppice\.cli",\s*"mcp"'
SECONDS = 10
"""That an agent is to wait: busy machines need some to list the tools."""
SERVER = """
import os, sys, time
from coppice.mcp import server
server.Server._call = lambda *_, **__: {spoiled}
from coppice.mcp.__main__ import main
sys.exit(main([]))
"""
"""Lists its tools as always."""


def spoil(agent: RealAgent, spoiled: str) -> None:
    """The agent starts a server that does this at each call of a tool, and waits some time for an answer."""
    program = agent.home / "spoiled.py"
    write(program, SERVER.format(spoiled=spoiled))
    path = agent.home / CONFIGURATIONS[agent.name]
    words = COMMANDS.get(agent.name, COMMAND)
    text, count = re.subn(words, json.dumps(str(program)), path.read_text())
    assert count == 1, path.read_text()
    match agent.name:
        case "codex":
            agent.arguments += ("-c", f"mcp_servers.coppice.tool_timeout_sec={SECONDS}")
        case "claude-code":
            agent.environment["MCP_TOOL_TIMEOUT"] = str(SECONDS * 1000)
        case "pi":
            text, count = re.subn(r"\bMILLISECONDS = 60_000", f"MILLISECONDS = {SECONDS}_000", text)
            assert count == 1, text
        case _:
            configuration = json.loads(text)
            servers = configuration["mcp" if agent.name == "opencode" else "mcpServers"]
            servers["coppice"]["timeout"] = SECONDS * 1000
            text = json.dumps(configuration)
    path.write_text(text)


@pytest.mark.parametrize(
    ("spoiled", "reason"),
    [("time.sleep(45)", "timed out|in time"), ("os._exit(3)", "closed|it ended")],
    ids=["late", "crashing"],
)
@pytest.mark.parametrize("agent", list(CONFIGURATIONS), indirect=True)
def test_an_agent_goes_on_when_a_call_gets_no_answer(agent: RealAgent, spoiled: str, reason: str) -> None:
    agent.coppice("connect", agent.name)
    spoil(agent, spoiled)
    searching(agent)
    asked = agent.run(QUESTION)
    assert re.search(reason, asked[-1].last)
    assert "It is in the history." in agent.shown
