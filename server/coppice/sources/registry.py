"""The agents whose transcripts can be followed. A new one is a line here, and a format that reads it."""

import re
from typing import Final

from coppice.sources.agent import Agent
from coppice.sources.copilot import CopilotAgent
from coppice.sources.database import HERMES, OPENCLAW, OPENCODE, DatabaseAgent
from coppice.sources.files import FileAgent

_UUID: Final = "[0-9a-f-]{36}"

AGENTS: Final[tuple[Agent, ...]] = (
    FileAgent(
        "claude-code",
        "Claude Code",
        ".claude",
        ("projects",),
        re.compile(r"^(.+)\.jsonl"),
        "CLAUDE_CONFIG_DIR",
        "claude-code",
        names_folders=True,
    ),
    FileAgent(
        "codex",
        "Codex",
        ".codex",
        ("sessions", "archived_sessions"),
        re.compile(r"^rollout-.*?([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\.jsonl"),
        "CODEX_HOME",
        "codex",
    ),
    FileAgent(
        "pi",
        "Pi",
        ".pi/agent",
        ("sessions",),
        re.compile(r"^(.+)\.jsonl"),
        "PI_CODING_AGENT_DIR",
        "pi",
        id_in_header=True,
    ),
    CopilotAgent(
        "copilot",
        "Copilot CLI",
        ".copilot",
        ("session-state",),
        re.compile(r"(events)\.jsonl"),
        "COPILOT_HOME",
        "copilot",
        key_from_folder=True,
    ),
    FileAgent(
        "gemini",
        "Gemini CLI",
        ".gemini",
        ("tmp",),
        re.compile(rf"^(session-.+|{_UUID})\.jsonl"),
        None,
        "gemini",
        id_in_header=True,
    ),
    FileAgent(
        "qwen",
        "Qwen Code",
        ".qwen",
        ("projects",),
        re.compile(rf"({_UUID})\.jsonl"),
        None,
        "qwen",
    ),
    DatabaseAgent(
        "opencode",
        "opencode",
        ".local/share/opencode",
        "opencode.db",
        "opencode",
        OPENCODE,
        "XDG_DATA_HOME",
        "opencode",
    ),
    DatabaseAgent(
        "hermes",
        "Hermes",
        ".hermes",
        "state.db",
        "hermes",
        HERMES,
        "HERMES_HOME",
    ),
    DatabaseAgent(
        "openclaw",
        "OpenClaw",
        ".openclaw",
        "agents/*/agent/openclaw-agent.sqlite",
        "openclaw",
        OPENCLAW,
        "OPENCLAW_STATE_DIR",
    ),
)

NAMES: Final = tuple(agent.name for agent in AGENTS)
