"""Which compactions of a transcript were answered, where an agent has no event after one. Imports little."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Final

from coppice.directories import config_directory

_NAME: Final = "compactions.json"
_MOST: Final = 100  # transcripts that are remembered (guess: those at work)
_PIECE: Final = 2**20  # bytes that are looked at together (guess)


def is_new(transcript: Path, mark: bytes) -> bool:
    """Whether `mark` is in the part of the transcript that follows the newest one seen; it is seen then."""
    file = config_directory() / "agents" / _NAME
    seen: dict[str, int] = {}
    with suppress(OSError, ValueError):
        stored = json.loads(file.read_text(encoding="utf-8"))
        seen = {str(path): int(end) for path, end in stored.items()}
    end = _end_of_last(transcript, mark, seen.pop(str(transcript), 0))
    if end is None:
        return False
    newest = dict([*seen.items(), (str(transcript), end)][-_MOST:])
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_text(json.dumps(newest), encoding="utf-8")
    return True


def _end_of_last(transcript: Path, mark: bytes, start: int) -> int | None:
    """Where the last `mark` from `start` on ends; None where there is none."""
    end, before, place = None, b"", start
    with transcript.open("rb") as file:
        file.seek(start)
        while piece := file.read(_PIECE):
            text = before + piece
            last = text.rfind(mark)
            if last >= 0:
                end = place - len(before) + last + len(mark)
            before = text[1 - len(mark) :]
            place += len(piece)
    return end
