"""Which compactions of a transcript were answered, where an agent has no event after one. Imports little."""

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from coppice.directories import config_directory

_NAME: Final = "compactions.json"
_MOST: Final = 100
"""Transcripts that are remembered. At each event all are read: 14 kB, in 0.03 ms."""


class Compaction(NamedTuple):
    """A line of a transcript, up to `end` in bytes. `is_new` is unset where its `id` was answered before."""

    end: int
    id: str | None
    is_new: bool


def newest(transcript: Path, mark: bytes) -> Compaction | None:
    """The last complete line that has `mark`; None where none follows what was answered.

    The first group of `mark`, a regular expression, is the compaction's id. A transcript that is not there
    yet has none.
    """
    compaction = None
    answered = _answered()
    place = answered.get(str(transcript), 0)
    with suppress(FileNotFoundError), transcript.open("rb") as file:
        file.seek(place)
        for line in file:
            place += len(line)
            match = re.search(mark, line) if line.endswith(b"\n") else None
            if match is not None:
                id_ = match[1].decode(errors="replace") if match.groups() else None
                compaction = Compaction(place, id_, id_ is None or f"{transcript}#{id_}" not in answered)
    return compaction


def remember(transcript: Path, compaction: Compaction) -> None:
    """Records that the compactions up to this were answered. Raises ConfigurationError where that fails."""
    from coppice.agents.files import write  # noqa: PLC0415 - most events need none of it

    key, end = str(transcript), compaction.end
    fresh = {key: end} if compaction.id is None else {f"{key}#{compaction.id}": end, key: end}
    others = {path: place for path, place in _answered().items() if path not in fresh}
    remembered = [*others.items(), *fresh.items()][-_MOST:]
    write(_file(), json.dumps(dict(remembered)))


def _answered() -> dict[str, int]:
    with suppress(OSError, ValueError, TypeError, AttributeError, OverflowError):
        stored = json.loads(_file().read_text(encoding="utf-8"))
        return {str(path): max(0, int(end)) for path, end in stored.items()}
    return {}


def _file() -> Path:
    return config_directory() / "agents" / _NAME
