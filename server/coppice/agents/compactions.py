"""Which compactions of a transcript were answered, where an agent has no event after one. Imports little."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Final

from coppice.directories import config_directory

_NAME: Final = "compactions.json"
_MOST: Final = 100  # transcripts that are remembered (guess: those at work)


def newest(transcript: Path, mark: bytes) -> int | None:
    """Where the last complete line with `mark` ends, in bytes; None where none follows what was answered.

    A transcript that is not there yet has none.
    """
    end = None
    place = _answered().get(str(transcript), 0)
    with suppress(FileNotFoundError), transcript.open("rb") as file:
        file.seek(place)
        for line in file:
            place += len(line)
            if mark in line and line.endswith(b"\n"):
                end = place
    return end


def remember(transcript: Path, end: int) -> None:
    """Records that the compactions up to `end` were answered. Raises ConfigurationError where that fails."""
    from coppice.agents.files import write  # noqa: PLC0415 - most events need none of it

    others = {path: place for path, place in _answered().items() if path != str(transcript)}
    remembered = [*others.items(), (str(transcript), end)][-_MOST:]
    write(_file(), json.dumps(dict(remembered)))


def _answered() -> dict[str, int]:
    with suppress(OSError, ValueError, TypeError, AttributeError, OverflowError):
        stored = json.loads(_file().read_text(encoding="utf-8"))
        return {str(path): max(0, int(end)) for path, end in stored.items()}
    return {}


def _file() -> Path:
    return config_directory() / "agents" / _NAME
