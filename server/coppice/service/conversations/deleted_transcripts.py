"""Which transcripts their agents have deleted, where nothing else can look like it."""

import os
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

from coppice.service.conversations.looking import FollowedTranscript
from coppice.settings import SourceSettings
from coppice.store.transcript_catalog import Reading


def deleted(transcripts: Collection[FollowedTranscript], settings: SourceSettings) -> Iterator[Reading]:
    """The readings of those that are deleted for sure.

    A disk that is not mounted and another folder of an agent look like a deletion: the transcript must have
    been in the folder that is looked at, in a part of it in which there are others.
    """
    roots: dict[str, Path] = {}
    parts: defaultdict[str, set[str | None]] = defaultdict(set)
    paths: set[str] = set()
    for each in transcripts:
        name = each.agent.name
        if name not in roots:
            roots[name] = each.agent.root(os.environ, settings.folders.get(name))
        if each.transcript is not None:
            parts[name].add(_part(each.reading.path, roots[name]))
            paths.add(each.reading.path)
    for each in transcripts:
        reading, name = each.reading, each.agent.name
        part = _part(reading.path, roots[name])
        if (
            each.transcript is None
            and reading.read_at is not None
            and not reading.forgotten
            and part is not None
            and part in parts[name]
            and _is_gone(reading, paths)
        ):
            yield reading


def _part(path: str, root: Path) -> str | None:
    """The file or folder in an agent's folder in which a transcript lies; None for another folder."""
    return Path(path).relative_to(root).parts[0] if Path(path).is_relative_to(root) else None


def _is_gone(reading: Reading, listed: Collection[str]) -> bool:
    """Whether the file is gone, or is a database that lists other sessions. Of the sub-agents in a file
    nobody knows whether they were not read.
    """
    if not os.path.lexists(reading.path):
        return True
    return reading.path in listed and "/" not in reading.key
