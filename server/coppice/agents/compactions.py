"""Which compactions of a transcript were answered, where an agent has no event after one. Imports little."""

import json
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from coppice.directories import config_directory

_NAME: Final = "compactions.json"
_MAX_LINE: Final = 32 * 2**20
"""Bytes of a line that are looked at; readers of transcripts leave longer ones out."""
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
    yet has none. Raises OSError where it is no regular file: one that another program names may never end.
    """
    compaction = None
    answered = _answered()
    place = answered.get(str(transcript), 0)
    with suppress(FileNotFoundError), _opened(transcript) as file:
        file.seek(place)
        while line := file.readline(_MAX_LINE):
            place += len(line)
            match = re.search(mark, line) if line.endswith(b"\n") else None
            if match is not None:
                id_ = match[1].decode(errors="replace") if match.groups() else None
                compaction = Compaction(place, id_, id_ is None or f"{transcript}#{id_}" not in answered)
    return compaction


def _opened(transcript: Path) -> BinaryIO:
    if not stat.S_ISREG(transcript.stat().st_mode):
        raise OSError(0, f"{transcript} is not a regular file")
    return transcript.open("rb")


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
