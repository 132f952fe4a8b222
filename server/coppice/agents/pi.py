"""Pi 0.87: an extension in `~/.pi/agent/extensions`. It has no MCP client, so the extension is one."""

import json
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from coppice.agents.connector import Connector, folder_named
from coppice.agents.edits import Edit, OwnFile
from coppice.agents.hook_log import log_file
from coppice.agents.program import Program
from coppice.mcp.catalogue import TOOLS


class Pi(Connector):
    """The extension is a file of ours with the command and the tools written into it."""

    name: ClassVar[str] = "pi"
    title: ClassVar[str] = "Pi"
    executable: ClassVar[str] = "pi"

    @property
    @override
    def folder(self) -> Path:
        return folder_named("PI_CODING_AGENT_DIR", ".pi/agent")

    @override
    def edits(self, program: Program) -> list[Edit]:
        text = (files("coppice.agents") / "pi_extension.ts").read_text(encoding="utf-8")
        tools = [
            {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
            for tool in TOOLS
        ]
        values = {
            "COMMAND": list(program.words),
            "ENVIRONMENT": dict(program.environment),
            "TOOLS": tools,
            "LOG": str(log_file()),
        }
        for name, value in values.items():
            text = text.replace(f'"@{name}@"', json.dumps(value, indent=2, ensure_ascii=False))
        return [
            OwnFile(
                path=self.folder / "extensions" / "coppice.ts",
                what="an extension with the tools of the history, and summaries by Coppice",
                content=text,
            )
        ]
