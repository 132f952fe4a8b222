"""Claude Code 2.1: user's `~/.claude.json` (servers) and `~/.claude/settings.json` (permissions)."""

import os
from pathlib import Path
from typing import ClassVar, Final

from typing_extensions import override

from coppice.agents.connector import Connector, folder_named
from coppice.agents.edits import Edit, Items, Member
from coppice.agents.program import HOOK_MODULE, HOOK_SECONDS, Program

_READING_TOOLS: Final = ("history_search", "history_read", "history_overview", "note_list")


class ClaudeCode(Connector):
    """The server is loaded at once: deferred tools are not in the first request."""

    name: ClassVar[str] = "claude-code"
    title: ClassVar[str] = "Claude Code"
    executable: ClassVar[str] = "claude"
    advice: ClassVar[tuple[str, ...]] = ("The tool that writes notes asks before it is used.",)

    @property
    @override
    def folder(self) -> Path:
        return folder_named("CLAUDE_CONFIG_DIR", ".claude")

    @override
    def edits(self, program: Program) -> list[Edit]:
        moved = os.environ.get("CLAUDE_CONFIG_DIR")
        state = self.folder / ".claude.json" if moved else Path.home() / ".claude.json"
        command, *arguments = (*program.words, "mcp")
        server = {"type": "stdio", "command": command, "args": arguments, "alwaysLoad": True}
        if program.environment:
            server["env"] = dict(program.environment)
        return [
            Member(
                path=state,
                what="the MCP server `coppice`",
                keys=("mcpServers", "coppice"),
                value=server,
            ),
            Items(
                path=self.folder / "settings.json",
                what="leave to read the history without asking",
                keys=("permissions", "allow"),
                items=tuple(f"mcp__coppice__{tool}" for tool in _READING_TOOLS),
                mark="mcp__coppice__",
            ),
            Items(
                path=self.folder / "settings.json",
                what="a hook that adds what was lost after a compaction",
                keys=("hooks", "SessionStart"),
                items=(
                    {
                        "matcher": "compact",
                        "hooks": [
                            {"type": "command", "command": program.hook(self.name), "timeout": HOOK_SECONDS}
                        ],
                    },
                ),
                mark=HOOK_MODULE,
            ),
        ]
