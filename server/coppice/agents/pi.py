"""Pi 0.87: an extension in `~/.pi/agent/extensions`. It has no MCP client, so the extension is one."""

from typing import ClassVar

from typing_extensions import override

from coppice.agents.connector import Connector, filled
from coppice.agents.edits import Edit, OwnFile
from coppice.agents.program import Program
from coppice.mcp.catalogue import TOOLS


class Pi(Connector):
    """The extension is a file of ours with the command and the tools written into it."""

    name: ClassVar[str] = "pi"
    title: ClassVar[str] = "Pi"
    executable: ClassVar[str] = "pi"
    home: ClassVar[tuple[str, str]] = ("PI_CODING_AGENT_DIR", ".pi/agent")

    @override
    def edits(self, program: Program) -> list[Edit]:
        tools = [
            {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
            for tool in TOOLS
        ]
        return [
            OwnFile(
                path=self.folder / "extensions" / "coppice.ts",
                what="an extension with the tools of the history, and summaries by Coppice",
                content=filled("pi_extension.ts", {**program.values(), "TOOLS": tools}, indent=2),
            )
        ]
