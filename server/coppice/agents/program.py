"""How an agent starts Coppice."""

import os
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from coppice.agents.hook_log import log_file
from coppice.directories import config_directory

HOOK_MODULE: Final = "coppice.agents.hook"
HOOK_SECONDS: Final = 30
"""How long an agent waits for a hook. An idle one takes 60 to 155 ms."""

NO_HOOK: Final = "On Windows it gets no hook, a shell script: what a compaction lost is found by its tools."

_MODULE: Final = ("-E", "-P", "-m")
"""Runs a module, but never one of the project's folder, in which agents start a program. An empty part of
`PYTHONPATH` names that, too.
"""

_PASSED: Final = ("COPPICE_STORAGE_DIRECTORY", "COPPICE_CONFIG_DIRECTORY")


@dataclass(frozen=True)
class Program:
    """`words` is the command; `environment` what it needs of the user's environment, never a credential.

    Some agents give the programs that they start a few variables of theirs only.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def installed(cls) -> "Program":
        """This installation."""
        words = (sys.executable, *_MODULE, "coppice.cli")
        return cls(words, {name: os.environ[name] for name in _PASSED if os.environ.get(name)})

    def mcp_server(self, *arguments: str) -> dict[str, Any]:
        """How an agent starts `coppice mcp`, under the names that most have in their configuration."""
        words = [*self.words, "mcp", *arguments]
        environment = {"env": dict(self.environment)} if self.environment else {}
        return {"command": words[0], "args": words[1:], **environment}

    def values(self) -> dict[str, Any]:
        """What an extension of an agent needs to start it, by the names in the extension's text."""
        return {
            "COMMAND": list(self.words),
            "ENVIRONMENT": dict(self.environment),
            "LOG": str(log_file()),
        }

    def hook_words(self, agent: str) -> list[str]:
        """The command that answers an agent's events; the event may follow."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        words = ["env", *variables] if variables else []
        return [*words, sys.executable, *_MODULE, HOOK_MODULE, agent]


def hook_command(agent: str, event: str | None = None) -> str:
    """The command line of an agent's hook, for a shell; with the event where the script needs that.

    Some agents show it to the user, so it is short. Without the script a shell ends with 127; 2, with which
    `sh SCRIPT` ends, would stop Claude Code's compaction and Gemini's turn.
    """
    return shlex.join([str(hook_file(agent)), *([] if event is None else [event])])


def hook_file(agent: str) -> Path:
    """The script that the hooks of an agent run; its folder stays when Coppice is uninstalled."""
    return config_directory() / "agents" / f"{agent}-hook.sh"


def hook_pattern(agent: str) -> re.Pattern[str]:
    """Matches the command lines of an agent's hooks of ours, with any event: of every folder of Coppice's."""
    script = rf"agents[/\\]{re.escape(agent)}-hook\.sh"
    quoted = rf"""'(?:[^']|'"'"')*[/\\]{script}'"""
    plain = rf"(?<![\w@%+=:,./-])[\w@%+=:,./-]++(?<=/{script})"
    return re.compile(rf"(?:{quoted}|{plain})(?: \w+)?")
