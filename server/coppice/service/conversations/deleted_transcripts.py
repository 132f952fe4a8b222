"""Which transcripts their agents have deleted."""

import os
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path

from coppice.service.conversations.looking import FollowedTranscript
from coppice.settings import SourceSettings
from coppice.store.transcript_catalog import Reading


def deletions(
    transcripts: Collection[FollowedTranscript], settings: SourceSettings
) -> Iterator[tuple[Reading, Callable[[], bool]]]:
    """The readings of those that are deleted, each with what tells whether its file is still gone.

    A disk that is not mounted and another folder of an agent look like a deletion: the transcript must have
    been in the agent's folder that is looked at, with others beside it that are there.
    """
    roots: dict[str, Path] = {}
    beside: set[str] = set()
    for each in transcripts:
        name = each.agent.name
        if name not in roots:
            roots[name] = each.agent.root(os.environ, settings.folders.get(name))
        if each.transcript is not None:
            beside |= {each.reading.path, _folder(each.reading.path)}
    for each in transcripts:
        reading = each.reading
        if (
            each.transcript is None
            and reading.read_at is not None
            and not reading.forgotten
            and Path(reading.path).is_relative_to(roots[each.agent.name])
            and _is_gone(reading, beside)
        ):
            yield reading, partial(_is_gone, reading, beside)


def _folder(path: str) -> str:
    return str(Path(path).parent)


def _is_gone(reading: Reading, beside: Collection[str]) -> bool:
    """Whether the file is gone from a folder that has others, or is a database that lists other sessions. Of
    the sub-agents in a file nobody knows whether they were not read.
    """
    try:
        os.lstat(reading.path)
    except (FileNotFoundError, NotADirectoryError):
        return _folder(reading.path) in beside
    except OSError:
        return False
    return reading.path in beside and "/" not in reading.key
