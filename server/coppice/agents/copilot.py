"""Copilot CLI 1.0: the user's `~/.copilot/mcp-config.json`."""

from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from coppice.agents.connector import Connector, folder_named
from coppice.agents.edits import Edit, Member
from coppice.agents.program import Program


class Copilot(Connector):
    """It has no place where the summary of a compaction can be given or completed."""

    name: ClassVar[str] = "copilot"
    title: ClassVar[str] = "Copilot CLI"
    executable: ClassVar[str] = "copilot"
    advice: ClassVar[tuple[str, ...]] = (
        "Copilot asks before it uses a tool of the history for the first time.",
    )

    @property
    @override
    def folder(self) -> Path:
        return folder_named("COPILOT_HOME", ".copilot")

    @override
    def edits(self, program: Program) -> list[Edit]:
        command, *arguments = (*program.words, "mcp")
        server = {
            "type": "local",
            "command": command,
            "args": arguments,
            "env": dict(program.environment),
            "tools": ["*"],
        }
        return [
            Member(
                path=self.folder / "mcp-config.json",
                what="the MCP server `coppice`",
                keys=("mcpServers", "coppice"),
                value=server,
            )
        ]
