"""The agents whose transcripts can be followed. A new one is a line here, and a format that reads it."""

import re
from typing import Final

from coppice.sources.files import FileAgent

AGENTS: Final = (
    FileAgent(
        "claude-code",
        "Claude Code",
        ".claude",
        ("projects",),
        re.compile(r"(.+)\.jsonl"),
        "CLAUDE_CONFIG_DIR",
        "claude-code",
        names_folders=True,
    ),
    FileAgent(
        "codex",
        "Codex",
        ".codex",
        ("sessions", "archived_sessions"),
        re.compile(r"rollout-.*?([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\.jsonl"),
        "CODEX_HOME",
        "codex",
    ),
    FileAgent(
        "pi",
        "Pi",
        ".pi/agent",
        ("sessions",),
        re.compile(r"(.+)\.jsonl"),
        "PI_CODING_AGENT_DIR",
        "pi",
    ),
)

NAMES: Final = tuple(agent.name for agent in AGENTS)


def agent_named(name: str) -> FileAgent:
    """The agent of this name. Raises KeyError where there is none."""
    return {agent.name: agent for agent in AGENTS}[name]
