"""What is known of an agent that can be connected."""

import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Final

from coppice.agents.edits import Edit, Member, Section
from coppice.agents.program import Program

MCP_SERVER: Final = "the MCP server `coppice`"


class Connector(ABC):
    """`name` is the agent's in commands and of its transcripts, `executable` the program that starts it."""

    name: ClassVar[str]
    title: ClassVar[str]
    executable: ClassVar[str]
    advice: ClassVar[tuple[str, ...]] = ()
    """Sentences about what the user must do, and what connecting cannot do."""

    home: ClassVar[tuple[str, str]]
    """The environment variable that names the folder of its configuration, and where else that is."""

    @property
    def folder(self) -> Path:
        """The folder of the agent's configuration."""
        return folder_named(*self.home)

    @abstractmethod
    def edits(self, program: Program) -> list[Edit]:
        """What connecting changes."""

    def instructions(self) -> Section | None:
        """Lines in the user's own instructions to the agent, which are added on request only."""
        return None

    def removals(self, program: Program) -> list[Edit]:
        """What is taken back, also where connecting would change less by now."""
        return self.edits(program)

    def problems(self) -> list[str]:
        """Sentences about what keeps a connected agent from using all of it."""
        return []

    def own_folders(self) -> list[Path]:
        """Folders that go when our files in them are removed, where nothing else is in them."""
        return []

    def is_installed(self) -> bool:
        """Whether the agent is on this machine: its program, or its configuration."""
        return shutil.which(self.executable) is not None or self.folder.is_dir()


def folder_named(variable: str, default: str) -> Path:
    """The folder that an environment variable names, or `default` in the user's own."""
    moved = os.environ.get(variable)
    return Path(moved).expanduser() if moved else Path.home() / default


def mcp_member(path: Path, section: tuple[str, ...], server: dict[str, Any]) -> Member:
    """Our MCP server among those in `section` of a JSON file."""
    return Member(path=path, what=MCP_SERVER, keys=(*section, "coppice"), value=server)


def filled(name: str, values: Mapping[str, Any], indent: int | None = None) -> str:
    """A file of this package, with each of `values` as JSON in the place of its `"@NAME@"`."""
    text = (files("coppice.agents") / name).read_text(encoding="utf-8")
    for place, value in values.items():
        text = text.replace(f'"@{place}@"', json.dumps(value, indent=indent, ensure_ascii=False))
    return text
