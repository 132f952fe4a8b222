"""The log of the adapters: a line for each compaction and each failure. Imports little.

A line is the time, the agent, a kind with a colon, and a text. The extension of Pi and the engine of Hermes
write such lines themselves.
"""

import os
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
_MAX_BYTES: Final = 64 * 1024
"""Of the log, after which it becomes the older one in place of that: some 500 lines."""


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
    line = " ".join(f"{now} {agent} {kind}: {text}".split())
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_full(file):
            _rotate(file)
        # One write at the end of the file: lines of several processes do not mix, and none replaces another.
        with file.open("ab", buffering=0) as log:
            log.write(f"{line}\n".encode("utf-8", "replace"))


def _rotate(file: Path) -> None:
    """Makes the log the older one, unless another process did since it was full."""
    from coppice.operating_system import lock_in_turn, open_lock_file  # noqa: PLC0415 - imports much, rarely

    held = None
    try:
        with suppress(OSError):  # on Windows there are no such locks
            held = open_lock_file(file.with_name(f"{file.name}.lock"))
            lock_in_turn(held, wait=True)
        with suppress(OSError):
            if _is_full(file):
                file.replace(_older(file))
    finally:
        if held is not None:
            os.close(held)


def _is_full(file: Path) -> bool:
    return file.exists() and file.stat().st_size > _MAX_BYTES


def notes(agent: str) -> list[Note]:
    """The lines about an agent, oldest first."""
    lines: list[str] = []
    for file in (_older(log_file()), log_file()):
        with suppress(OSError):
            lines += file.read_text(encoding="utf-8", errors="replace").splitlines()
    matches = (_LINE.fullmatch(line) for line in lines)
    return [
        Note(each["at"], each["kind"], each["text"]) for each in matches if each and each["agent"] == agent
    ]


def log_file() -> Path:
    """Where the lines about all agents are."""
    return config_directory() / "agents" / _NAME


def _older(file: Path) -> Path:
    return file.with_name(f"{file.name}.1")
