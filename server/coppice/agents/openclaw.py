"""OpenClaw 2026.9: the user's `~/.openclaw/openclaw.json`."""

import os
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Final

from typing_extensions import override

from coppice.agents.connector import Connector, mcp_member
from coppice.agents.edits import Edit
from coppice.agents.files import read
from coppice.agents.jsonc import ConfigurationError, string_at
from coppice.agents.program import Program

_WORKSPACE: Final = ("agents", "defaults", "workspace")


class OpenClaw(Connector):
    """Its context engines see the session before the running turn only, so its compactions stay its own."""

    name: ClassVar[str] = "openclaw"
    title: ClassVar[str] = "OpenClaw"
    executable: ClassVar[str] = "openclaw"
    home: ClassVar[tuple[str, str]] = ("OPENCLAW_STATE_DIR", ".openclaw")
    advice: ClassVar[tuple[str, ...]] = ("A gateway that is running takes the server when it starts again.",)

    @override
    def edits(self, program: Program) -> list[Edit]:
        moved = os.environ.get("OPENCLAW_CONFIG_PATH")
        config = Path(moved).expanduser() if moved else self.folder / "openclaw.json"
        server = program.mcp_server("--agent", self.name, "--workspace", str(self._workspace(config)))
        return [mcp_member(config, ("mcp", "servers"), server)]

    def _workspace(self, config: Path) -> Path:
        """Where its agents work, whichever folder OpenClaw is started in."""
        with suppress(ConfigurationError):
            named = string_at(read(config) or "{}", _WORKSPACE)
            if named:
                return Path(os.path.expandvars(named)).expanduser()
        moved = os.environ.get("OPENCLAW_WORKSPACE_DIR")
        return Path(moved).expanduser() if moved else self.folder / "workspace"
