"""opencode 1.18: the user's `~/.config/opencode/opencode.jsonc` or `opencode.json`, and a plug-in."""

from pathlib import Path
from typing import Any, ClassVar, Final

from typing_extensions import override

from coppice.agents.connector import Connector, filled, folder_named, mcp_member
from coppice.agents.edits import Edit, OwnFile
from coppice.agents.hook_log import log_file
from coppice.agents.program import Program

_FILES: Final = ("opencode.jsonc", "opencode.json", "config.json")


class Opencode(Connector):
    """The file that there is is changed; without one `opencode.json` is made."""

    name: ClassVar[str] = "opencode"
    title: ClassVar[str] = "opencode"
    executable: ClassVar[str] = "opencode"
    advice: ClassVar[tuple[str, ...]] = (
        "opencode installs about 60 MB of its own packages there; its next start waits for that.",
    )

    @property
    @override
    def folder(self) -> Path:
        return folder_named("XDG_CONFIG_HOME", ".config") / "opencode"

    @override
    def edits(self, program: Program) -> list[Edit]:
        paths = (self.folder / name for name in _FILES if (self.folder / name).exists())
        server: dict[str, Any] = {"type": "local", "command": [*program.words, "mcp"], "enabled": True}
        if program.environment:
            server["environment"] = dict(program.environment)
        values = {"HOOK": program.hook_words(self.name), "LOG": str(log_file())}
        return [
            mcp_member(next(paths, self.folder / "opencode.json"), ("mcp",), server),
            OwnFile(
                path=self.folder / "plugin" / "coppice.ts",
                what="a plug-in that completes summaries",
                content=filled("opencode_plugin.ts", values),
            ),
        ]
