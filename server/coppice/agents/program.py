"""How an agent starts Coppice."""

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

HOOK_MODULE: Final = "coppice.agents.hook"
HOOK_SECONDS: Final = 30
"""How long an agent waits for a hook. An idle one takes 60 to 155 ms."""

_MODULE: Final = ("-P", "-m")
"""Runs a module, but never one of the project's folder, in which agents start a program."""

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
        script = Path(sys.executable).with_name("coppice")
        words = (str(script),) if script.exists() else (sys.executable, *_MODULE, "coppice.cli")
        return cls(words, {name: os.environ[name] for name in _PASSED if os.environ.get(name)})

    def hook(self, agent: str, event: str | None = None) -> str:
        """The command line of an agent's hook, for a shell; with the event where the agent needs that."""
        return shlex.join([*self.hook_words(agent), *([] if event is None else [event])])

    def hook_words(self, agent: str) -> list[str]:
        """The command of an agent's hook; the event may follow."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        words = ["env", *variables] if variables else []
        return [*words, sys.executable, *_MODULE, HOOK_MODULE, agent]
