"""Which transcripts of other agents there are, and which have changed since they were last looked at."""

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from coppice.errors import ImportFailedError
from coppice.files.paths import path_of_uri
from coppice.formats.lines import Places
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
        parts = _parts_of_sessions(readings)
        fresh: list[Reading] = []
        followed: dict[tuple[str, str], FollowedTranscript] = {}
        for key, transcript in transcripts.items():
            check()
            session = self._followed(transcript, readings.get(key), fresh)
            if session is not None:
                followed[key] = session
                followed |= self._parts(session, parts.get(key, []), fresh, check)
        self._is_first = False
        self._catalog.put(fresh)
        return [*followed.values()]

    def _followed(
        self, transcript: Transcript, last: Reading | None, fresh: list[Reading]
    ) -> FollowedTranscript | None:
        """None for a transcript of another workspace. `fresh` gets what was not looked at before."""
        agent = _AGENTS[transcript.agent]
        if last is None:
            if self._folder is not None and not agent.may_be_of(transcript, self._folder):
                self._watches[agent.name].ignore(transcript)
                return None
            last = _first_reading(agent, transcript)
            fresh.append(last)
        if self._workspace is not None and last.workspace != self._workspace:
            if transcript.part is None:
                self._watches[agent.name].ignore(transcript)
            return None
        place = (transcript.path, transcript.size, transcript.modified)
        if place != (last.path, last.size, last.modified):  # of thousands, few are
            last = replace(last, path=place[0], size=place[1], modified=place[2])
        return FollowedTranscript(agent, last, transcript)

    def _parts(
        self,
        session: FollowedTranscript,
        last: list[Reading],
        fresh: list[Reading],
        check: Callable[[], None],
    ) -> dict[tuple[str, str], FollowedTranscript]:
        """The sub-agents in the transcript of a session. `last` are those that the catalog has, where all are
        asked for: it is read only for what is new. Those of a forgotten session stay as they are.
        """
        agent, transcript = session.agent, session.transcript
        if transcript is None or transcript.part is not None:
            return {}
        as_recorded = session.is_current and all(each.stamp or each.forgotten for each in last)
        if as_recorded or session.reading.forgotten:
            return {
                (each.agent, each.key): FollowedTranscript(agent, each, _as_read(each, transcript))
                for each in last
            }
        try:
            read = agent.parts(transcript, lambda *_: check())
            parts = {(each.agent, each.key): each for each in read}
        except ImportFailedError:
            return {}
        readings = self._catalog.readings(parts) if parts else {}
        followed: dict[tuple[str, str], FollowedTranscript] = {}
        for key, part in parts.items():
            each = self._followed(part, readings.get(key), fresh)
            if each is None:
                continue
            if each.reading.stamp and not each.is_current:
                # The session may be recorded as read, and this part not: it is due until it is read.
                each = replace(each, reading=replace(each.reading, stamp=""))
                fresh.append(each.reading)
            followed[key] = each
        return followed

    @property
    def unlisted(self) -> dict[str, str]:
        """Files whose sessions could not be listed now, and why."""
        return {path: why for watch in self._watches.values() for path, why in watch.unlisted.items()}

    def look_again(self, followed: FollowedTranscript) -> None:
        """Gives a transcript that there is at the next look too, when more lines may be of it."""
        if followed.transcript is not None:
            transcript = replace(followed.transcript, places=None)
            self._again[followed.reading.agent, followed.reading.key] = transcript

    def _newest(self) -> dict[tuple[str, str], Transcript]:
        """Each once; where an agent has two files of a session, the newer."""
        newest: dict[tuple[str, str], Transcript] = {}
        for watch in self._watches.values():
            for each in watch.changed():
                key = (each.agent, each.key)
                if key not in newest or newest[key].modified < each.modified:
                    newest[key] = each
        return newest


def with_places(due: Iterable[FollowedTranscript], check: Callable[[], None]) -> Iterator[FollowedTranscript]:
    """`due`, each part of a file with its lines. Parts whose lines were not looked for yet follow one another
    by file, which is read once for them.
    """
    path, places = "", dict[str, Places | None]()
    for followed in due:
        transcript = followed.transcript
        if transcript is None or transcript.part is None or transcript.places is not None:
            yield followed
            continue
        if transcript.path != path:
            path, places = transcript.path, _places_of_parts(followed.agent, transcript, check)
        yield replace(followed, transcript=replace(transcript, places=places.get(transcript.key, ())))


def _places_of_parts(agent: Agent, part: Transcript, check: Callable[[], None]) -> dict[str, Places | None]:
    """By the keys of all parts of the file; none where it cannot be read, of which its reading tells."""
    session = replace(part, key=part.key.partition("/")[0], part=None)
    try:
        return {each.key: each.places for each in agent.parts(session, lambda *_: check())}
    except ImportFailedError:
        return {}


def not_there(
    catalog: TranscriptCatalog,
    there: list[FollowedTranscript],
    unlisted: dict[str, str],
    followed: Collection[str],
) -> list[FollowedTranscript]:
    """What was read of transcripts that are not `there`: deleted, or of one of which nobody knows, in a file
    that could not be listed or of an agent that is not `followed`.
    """
    names = {(each.reading.agent, each.reading.key) for each in there}
    return [
        FollowedTranscript(_AGENTS[each.agent], each, None)
        if each.path not in unlisted and each.agent in followed
        else _as_last_read(each, unlisted.get(each.path))
        for key, each in catalog.readings().items()
        if key not in names and each.agent in _AGENTS
    ]


def _as_last_read(reading: Reading, problem: str | None) -> FollowedTranscript:
    """As it was when it was read."""
    last = Transcript(reading.agent, reading.key, reading.path, reading.stamp, reading.size, reading.modified)
    return FollowedTranscript(_AGENTS[reading.agent], replace(reading, problem=problem), last)


def _parts_of_sessions(
    readings: Mapping[tuple[str, str], Reading],
) -> dict[tuple[str, str], list[Reading]]:
    """The readings of sub-agents in the transcripts of sessions, by those."""
    parts: dict[tuple[str, str], list[Reading]] = {}
    for each in readings.values():
        session, mark, _ = each.key.partition("/")
        if mark:
            parts.setdefault((each.agent, session), []).append(each)
    return parts


def _as_read(reading: Reading, session: Transcript) -> Transcript:
    """A part of a transcript, as it was when it was read."""
    part = reading.key.partition("/")[2]
    return replace(session, key=reading.key, stamp=reading.stamp, size=reading.size, part=part)


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
