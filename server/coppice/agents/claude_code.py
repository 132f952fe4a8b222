"""Claude Code 2.1: the user's `~/.claude.json` (servers), `~/.claude/settings.json`, a mod."""

import json
import os
import re
from pathlib import Path
from typing import ClassVar, Final

from typing_extensions import override

from coppice.agents.connector import Connector, filled, mcp_member
from coppice.agents.edits import Edit, Items, OwnFile
from coppice.agents.hook_script import hook_script
from coppice.agents.program import HOOK_SECONDS, Program, hook_command, hook_pattern

_READING_TOOLS: Final = ("history_search", "history_read", "history_overview", "note_list")


class ClaudeCode(Connector):
    """The server is loaded at once: deferred tools are not in the first request."""

    name: ClassVar[str] = "claude-code"
    title: ClassVar[str] = "Claude Code"
    executable: ClassVar[str] = "claude"
    home: ClassVar[tuple[str, str]] = ("CLAUDE_CONFIG_DIR", ".claude")
    advice: ClassVar[tuple[str, ...]] = ("The tool that writes notes asks before it is used.",)

    @override
    def edits(self, program: Program) -> list[Edit]:
        moved = os.environ.get("CLAUDE_CONFIG_DIR")
        state = self.folder / ".claude.json" if moved else Path.home() / ".claude.json"
        server = {"type": "stdio", **program.mcp_server(), "alwaysLoad": True}
        return [
            mcp_member(state, ("mcpServers",), server),
            Items(
                path=self.folder / "settings.json",
                what="permission to read the history without asking",
                keys=("permissions", "allow"),
                items=tuple(f"mcp__coppice__{tool}" for tool in _READING_TOOLS),
                ours=re.compile(f"mcp__coppice__(?:{'|'.join(_READING_TOOLS)})"),
            ),
            *self._mod(program),
            hook_script(program, self.name),
            self._hook("PreCompact", "what the summary must agree with", {}),
            self._hook("SessionStart", "what a compaction lost", {"matcher": "compact"}),
        ]

    @override
    def own_folders(self) -> list[Path]:
        return [self._plugin]

    @property
    def _plugin(self) -> Path:
        """Claude Code loads the plug-ins of this folder without an installation."""
        return self.folder / "skills" / "coppice"

    def _mod(self, program: Program) -> list[Edit]:
        manifest = {"name": "coppice", "version": "1.0.0", "description": "Compactions that lose nothing."}
        mod = filled("claude_code_mod.ts", {"HOOK": program.hook_words(self.name)})
        contents = {
            ".claude-plugin/plugin.json": ("the plug-in's description", json.dumps(manifest) + "\n"),
            "hooks/hooks.json": ("the plug-in's module", '{"modules": ["./coppice.ts"]}\n'),
            "hooks/coppice.ts": ("a mod that completes summaries", mod),
        }
        return [
            OwnFile(path=self._plugin / name, what=what, content=content)
            for name, (what, content) in contents.items()
        ]

    def _hook(self, event: str, what: str, matcher: dict[str, str]) -> Edit:
        """For versions without mods: where the mod is loaded, the hook has no answer."""
        hook = {"type": "command", "command": hook_command(self.name), "timeout": HOOK_SECONDS}
        return Items(
            path=self.folder / "settings.json",
            what=f"a hook on {event} that adds {what}, where mods are not loaded",
            keys=("hooks", event),
            items=({**matcher, "hooks": [hook]},),
            ours=hook_pattern(self.name),
        )
