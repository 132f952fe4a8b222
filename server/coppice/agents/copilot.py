"""Copilot CLI 1.0: the user's `~/.copilot/mcp-config.json`, and a file of hooks."""

import json
from typing import ClassVar, Final

from typing_extensions import override

from coppice.agents.connector import Connector, mcp_member
from coppice.agents.edits import Edit, OwnFile
from coppice.agents.hook_script import hook_script
from coppice.agents.program import HOOK_SECONDS, NO_HOOK, Program, hook_command
from coppice.operating_system import starts_scripts

_EVENTS: Final = ("userPromptSubmitted", "postToolUse")


class Copilot(Connector):
    """It takes no answer at a compaction: what was lost is added at the next prompt or tool.

    On Windows it runs hooks in PowerShell, which cannot start the script.
    """

    name: ClassVar[str] = "copilot"
    title: ClassVar[str] = "Copilot CLI"
    executable: ClassVar[str] = "copilot"
    home: ClassVar[tuple[str, str]] = ("COPILOT_HOME", ".copilot")
    advice: ClassVar[tuple[str, ...]] = (
        "Copilot asks before it uses a tool of the history for the first time.",
        *(() if starts_scripts() else (NO_HOOK,)),
    )

    @override
    def edits(self, program: Program) -> list[Edit]:
        server = {"type": "local", "env": {}, **program.mcp_server(), "tools": ["*"]}
        search = mcp_member(self.folder / "mcp-config.json", ("mcpServers",), server)
        return [search, *([hook_script(program, self.name), self._hooks()] if starts_scripts() else [])]

    def _hooks(self) -> Edit:
        hooks = {
            event: [{"type": "command", "bash": hook_command(self.name, event), "timeoutSec": HOOK_SECONDS}]
            for event in _EVENTS
        }
        return OwnFile(
            path=self.folder / "hooks" / "coppice.json",
            what="hooks that add what was lost after a compaction",
            content=json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n",
        )
