"""Hermes 0.19: the user's `~/.hermes/config.yaml`, and a plug-in of ours with a context engine."""

from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Final

from typing_extensions import override

from coppice.agents.connector import MCP_SERVER, Connector, filled
from coppice.agents.edits import Edit, OwnFile
from coppice.agents.files import read
from coppice.agents.jsonc import ConfigurationError
from coppice.agents.program import Program
from coppice.agents.yaml_data import data_of, value_at
from coppice.agents.yaml_edits import YamlItem, YamlMember
from coppice.formats.hermes_rows import HARNESS

_BUILT_IN: Final = "compressor"
_OURS: Final = "coppice"


class Hermes(Connector):
    """The engine has no dependencies: it starts Coppice as a program, in an environment of its own."""

    name: ClassVar[str] = "hermes"
    title: ClassVar[str] = "Hermes"
    executable: ClassVar[str] = "hermes"
    home: ClassVar[tuple[str, str]] = ("HERMES_HOME", ".hermes")
    advice: ClassVar[tuple[str, ...]] = (
        "The tools of the history need Hermes' extra `mcp`: pip install 'hermes-agent[mcp]'.",
    )

    @override
    def edits(self, program: Program) -> list[Edit]:
        search, *engine = self.removals(program)
        return [search, *engine] if self._engine_in_use() in (_BUILT_IN, _OURS) else [search]

    @override
    def removals(self, program: Program) -> list[Edit]:
        server = program.mcp_server("--agent", self.name)
        config = self.folder / "config.yaml"
        search = YamlMember(path=config, what=MCP_SERVER, keys=("mcp_servers", "coppice"), value=server)
        return [search, *self._engine(config, program)]

    @override
    def problems(self) -> list[str]:
        engine = self._engine_in_use()
        if engine in (_BUILT_IN, _OURS):
            return []
        return [f"Its context engine is {engine}, which writes its summaries; Coppice is searched only."]

    @override
    def own_folders(self) -> list[Path]:
        return [self._plugin]

    @property
    def _plugin(self) -> Path:
        return self.folder / "plugins" / "coppice"

    def _engine(self, config: Path, program: Program) -> list[Edit]:
        plugin = self._plugin
        text = filled("hermes_engine.py.txt", {**program.values(), "HARNESS": HARNESS})
        manifest = "name: coppice\nversion: 1.0.0\ndescription: Summaries of compactions by Coppice.\n"
        return [
            YamlMember(path=config, what="its context engine", keys=("context", "engine"), value=_OURS),
            YamlItem(path=config, what="the plug-in with it", keys=("plugins", "enabled"), item=_OURS),
            OwnFile(path=plugin / "plugin.yaml", what="the plug-in's description", content=manifest),
            OwnFile(path=plugin / "__init__.py", what="a context engine that asks Coppice", content=text),
        ]

    def _engine_in_use(self) -> str:
        with suppress(ConfigurationError):
            data = data_of(read(self.folder / "config.yaml") or "")
            engine = value_at(data, ("context", "engine"))
            return engine if isinstance(engine, str) and engine else _BUILT_IN
        return _BUILT_IN
