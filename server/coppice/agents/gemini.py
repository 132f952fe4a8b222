"""Gemini CLI 0.61: the user's `~/.gemini/settings.json`."""

from pathlib import Path
from typing import Any, ClassVar

from typing_extensions import override

from coppice.agents.connector import Connector
from coppice.agents.edits import Edit, Member
from coppice.agents.program import Program


class Gemini(Connector):
    """It has no place where the summary of a compression can be given or completed."""

    name: ClassVar[str] = "gemini"
    title: ClassVar[str] = "Gemini CLI"
    executable: ClassVar[str] = "gemini"
    advice: ClassVar[tuple[str, ...]] = (
        "Gemini asks before it uses a tool of the history for the first time.",
    )

    @property
    @override
    def folder(self) -> Path:
        return Path.home() / ".gemini"

    @override
    def edits(self, program: Program) -> list[Edit]:
        command, *arguments = (*program.words, "mcp")
        server: dict[str, Any] = {"command": command, "args": arguments}
        if program.environment:
            server["env"] = dict(program.environment)
        return [
            Member(
                path=self.folder / "settings.json",
                what="the MCP server `coppice`",
                keys=("mcpServers", "coppice"),
                value=server,
            )
        ]
