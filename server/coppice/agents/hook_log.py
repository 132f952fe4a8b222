"""The log of the adapters: a line for each compaction and each failure. Imports little.

A line is the time, the agent, a kind with a colon, and a text. The extension of Pi and the engine of Hermes
write such lines themselves.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from coppice.directories import config_directory

Kind = Literal["compaction", "branch", "failure"]

_NAME: Final = "hooks.log"
_LINE: Final = re.compile(r"(?P<at>\S+) (?P<agent>\S+) (?P<kind>\w+): (?P<text>.*)")
_LINES: Final = 50  # lines that stay (guess: a few weeks of compactions)


@dataclass(frozen=True)
class Note:
    """`at` is an ISO 8601 time."""

    at: str
    kind: str
    text: str


def note(agent: str, kind: Kind, text: str) -> None:
    """Adds a line about an agent."""
    file = log_file()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []
        line = " ".join(f"{now} {agent} {kind}: {text}".split())
        file.write_text("\n".join([*lines[1 - _LINES :], line]) + "\n", encoding="utf-8")


def notes(agent: str) -> list[Note]:
    """The lines about an agent, oldest first."""
    try:
        lines = log_file().read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    matches = (_LINE.fullmatch(line) for line in lines)
    return [
        Note(each["at"], each["kind"], each["text"]) for each in matches if each and each["agent"] == agent
    ]


def log_file() -> Path:
    """Where the lines about all agents are."""
    return config_directory() / "agents" / _NAME
