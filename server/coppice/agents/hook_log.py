"""The log of the hooks: a line for each answer and each failure. Imports little."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from coppice.directories import config_directory

_NAME: Final = "hooks.log"
_LINES: Final = 50  # lines that are kept (guess: a few weeks of failures)


def note(agent: str, text: str) -> None:
    """Adds a line about an agent."""
    file = log_file()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []
        line = " ".join(f"{now} {agent} {text}".split())
        file.write_text("\n".join([*lines[1 - _LINES :], line]) + "\n", encoding="utf-8")


def last_note(agent: str) -> str | None:
    """The newest line about an agent; None where there is none."""
    try:
        lines = log_file().read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((line for line in reversed(lines) if line.split()[1:2] == [agent]), None)


def log_file() -> Path:
    """Where the lines about the hooks of all agents are."""
    return config_directory() / "agents" / _NAME
