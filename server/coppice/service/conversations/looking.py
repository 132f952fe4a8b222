"""Which transcripts of other agents there are, and which have changed since they were last looked at."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from coppice.errors import ImportFailedError
from coppice.files.paths import path_of_uri
from coppice.service.core.stores import NO_FOLDER
from coppice.settings import SourceSettings
from coppice.sources.agent import Agent, Beginning, Transcript
from coppice.sources.registry import AGENTS
from coppice.store.transcript_catalog import Reading, TranscriptCatalog
from coppice.store.tree.location import canonical_uri

_AGENTS: Final = {agent.name: agent for agent in AGENTS}


@dataclass(frozen=True)
class FollowedTranscript:
    """A transcript that there is, or was: `transcript` is None for one that its agent has deleted."""

    agent: Agent
    reading: Reading
    transcript: Transcript | None

    @property
    def is_current(self) -> bool:
        """Whether nothing has come since the last reading."""
        return self.transcript is None or self.transcript.stamp == self.reading.stamp


class Look:
    """The transcripts of a `workspace`, or with None of all. Not thread-safe."""

    def __init__(self, workspace: str | None, settings: SourceSettings, catalog: TranscriptCatalog) -> None:
        self._workspace = workspace
        self._folder = None if workspace is None else path_of_uri(workspace)
        self._catalog = catalog
        self._watches = {
            agent.name: agent.watch(agent.root(os.environ, settings.folders.get(agent.name)))
            for agent in AGENTS
            if agent.name in settings.agents
        }
        self._is_first = True
        self.began = time.monotonic()
        self._again: dict[tuple[str, str], Transcript] = {}

    def changed(self, check: Callable[[], None]) -> list[FollowedTranscript]:
        """At first all; then those that are new or have changed, and those that are to be looked at again.

        `check` is called for each and may raise, after which the look is of no more use.
        """
        transcripts = self._again | self._newest()
        self._again = {}
        if not transcripts:
            return []
        readings = self._catalog.readings(None if self._is_first else transcripts)
        self._is_first = False
        followed: list[FollowedTranscript] = []
        fresh: list[Reading] = []
        for key, transcript in transcripts.items():
            check()
            agent = _AGENTS[transcript.agent]
            last = readings.get(key)
            if last is None:
                if self._folder is not None and not agent.may_be_of(transcript, self._folder):
                    self._watches[agent.name].ignore(transcript)
                    continue
                last = _first_reading(agent, transcript)
                fresh.append(last)
            if self._workspace is not None and last.workspace != self._workspace:
                self._watches[agent.name].ignore(transcript)
                continue
            place = (transcript.path, transcript.size, transcript.modified)
            if place != (last.path, last.size, last.modified):  # of thousands, few are
                last = replace(last, path=place[0], size=place[1], modified=place[2])
            followed.append(FollowedTranscript(agent, last, transcript))
        self._catalog.put(fresh)
        return followed

    @property
    def unlisted(self) -> dict[str, str]:
        """Files whose sessions could not be listed now, and why."""
        return {path: why for watch in self._watches.values() for path, why in watch.unlisted.items()}

    def look_again(self, followed: FollowedTranscript) -> None:
        """Gives a transcript that there is at the next look too."""
        if followed.transcript is not None:
            self._again[followed.reading.agent, followed.reading.key] = followed.transcript

    def _newest(self) -> dict[tuple[str, str], Transcript]:
        """Each once; where an agent has two files of a session, the newer."""
        newest: dict[tuple[str, str], Transcript] = {}
        for watch in self._watches.values():
            for each in watch.changed():
                key = (each.agent, each.key)
                if key not in newest or newest[key].modified < each.modified:
                    newest[key] = each
        return newest


def not_there(
    catalog: TranscriptCatalog, there: list[FollowedTranscript], unlisted: dict[str, str]
) -> list[FollowedTranscript]:
    """What was read of transcripts that are not `there`: deleted, or in a file of which nobody knows."""
    names = {(each.reading.agent, each.reading.key) for each in there}
    return [
        _unlisted(each, unlisted[each.path])
        if each.path in unlisted
        else FollowedTranscript(_AGENTS[each.agent], each, None)
        for key, each in catalog.readings().items()
        if key not in names and each.agent in _AGENTS
    ]


def _unlisted(reading: Reading, why: str) -> FollowedTranscript:
    """As it was when it was read."""
    last = Transcript(reading.agent, reading.key, reading.path, reading.stamp, reading.size, reading.modified)
    return FollowedTranscript(_AGENTS[reading.agent], replace(reading, problem=why), last)


def _first_reading(agent: Agent, transcript: Transcript) -> Reading:
    try:
        beginning = agent.beginning(transcript)
    except ImportFailedError:
        beginning = Beginning(None)
    return Reading(
        agent=transcript.agent,
        key=transcript.key,
        path=transcript.path,
        workspace=_workspace_of(beginning.cwd),
        parent=beginning.parent or transcript.parent,
    )


def _workspace_of(cwd: str | None) -> str:
    if cwd is None or not Path(cwd).is_absolute() or "\0" in cwd:
        return NO_FOLDER
    return canonical_uri(Path(cwd).as_uri())
