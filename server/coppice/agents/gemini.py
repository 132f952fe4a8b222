"""Gemini CLI 0.61: the user's `~/.gemini/settings.json`."""

from pathlib import Path
from typing import ClassVar, Final

from typing_extensions import override

from coppice.agents.connector import Connector, mcp_member
from coppice.agents.edits import Edit, Items
from coppice.agents.hook_script import hook_script
from coppice.agents.program import HOOK_SECONDS, NO_HOOK, Program, hook_command, hook_pattern
from coppice.operating_system import starts_scripts

_EVENTS: Final = ("BeforeAgent", "AfterTool")


class Gemini(Connector):
    """It takes no summary for a compression: what was lost is added at the next prompt or tool.

    On Windows it runs hooks in PowerShell, which cannot start the script.
    """

    name: ClassVar[str] = "gemini"
    title: ClassVar[str] = "Gemini CLI"
    executable: ClassVar[str] = "gemini"
    advice: ClassVar[tuple[str, ...]] = (
        "Gemini asks before it uses a tool of the history for the first time.",
        *(() if starts_scripts() else (NO_HOOK,)),
    )

    @property
    @override
    def folder(self) -> Path:
        return Path.home() / ".gemini"

    @override
    def edits(self, program: Program) -> list[Edit]:
        edits: list[Edit] = [mcp_member(self.folder / "settings.json", ("mcpServers",), program.mcp_server())]
        if starts_scripts():
            edits += [hook_script(program, self.name), *(self._hook(event) for event in _EVENTS)]
        return edits

    def _hook(self, event: str) -> Edit:
        hook = {
            "type": "command",
            "name": "coppice",
            "command": hook_command(self.name, event),
            "timeout": HOOK_SECONDS * 1000,
        }
        return Items(
            path=self.folder / "settings.json",
            what=f"a hook on {event} that adds what was lost after a compression",
            keys=("hooks", event),
            items=({"hooks": [hook]},),
            ours=hook_pattern(self.name),
        )
