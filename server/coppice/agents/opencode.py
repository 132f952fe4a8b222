"""opencode 1.18: the user's `~/.config/opencode/opencode.jsonc` or `opencode.json`."""

from pathlib import Path
from typing import Any, ClassVar, Final

from typing_extensions import override

from coppice.agents.connector import Connector, folder_named
from coppice.agents.edits import Edit, Member
from coppice.agents.program import Program

_FILES: Final = ("opencode.jsonc", "opencode.json", "config.json")


class Opencode(Connector):
    """The file that there is is changed; without one `opencode.json` is made."""

    name: ClassVar[str] = "opencode"
    title: ClassVar[str] = "opencode"
    executable: ClassVar[str] = "opencode"

    @property
    @override
    def folder(self) -> Path:
        return folder_named("XDG_CONFIG_HOME", ".config") / "opencode"

    @override
    def edits(self, program: Program) -> list[Edit]:
        found = (self.folder / name for name in _FILES if (self.folder / name).exists())
        server: dict[str, Any] = {"type": "local", "command": [*program.words, "mcp"], "enabled": True}
        if program.environment:
            server["environment"] = dict(program.environment)
        return [
            Member(
                path=next(found, self.folder / "opencode.json"),
                what="the MCP server `coppice`",
                keys=("mcp", "coppice"),
                value=server,
            )
        ]
