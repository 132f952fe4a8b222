"""Follows the transcripts of other agents: which there are, and bringing the stored ones up to date."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from coppice.errors import CoppiceError, UnknownConversationError
from coppice.protocol.conversations import DeleteParams, UpdateSourcesParams, UpdateSourcesResult
from coppice.protocol.notifications import Change
from coppice.service.conversations.conversations import Conversations
from coppice.service.conversations.deleted_transcripts import deletions
from coppice.service.conversations.looking import FollowedTranscript, Look, not_there, with_places
from coppice.service.conversations.transcript_storing import HEADER_ID, SETTLED_SECONDS, TranscriptStorer
from coppice.service.core.context import Context
from coppice.service.core.progress import NoProgress, Progress
from coppice.service.core.stores import NO_FOLDER
from coppice.service.core.thread_work import ThreadWork, run_in_thread
from coppice.service.core.workers import run_long, run_read
from coppice.settings import data_directory
from coppice.sources.agent import conversation_id_of
from coppice.store.engines.choosing import is_missing
from coppice.store.schema.records import ConversationRecord
from coppice.store.store import Store
from coppice.store.transcript_catalog import Reading, TranscriptCatalog
from coppice.store.tree.location import canonical_uri

_SAVED_TOGETHER: Final = 100
"""Readings that are recorded in one transaction; after a crash so many are repeated. Of the 7 ms of processor
time for a hundred the transaction itself takes 2."""

_STORED_TOGETHER: Final = 20
"""Transcripts that are stored in one transaction, at 6 ms each: others who write wait for some 0.1 s."""

_COMPLETE_SECONDS: Final = 600.0
"""After which everything is looked at anew, for what others did to the catalog. 10,000 compute 0.3 s."""

_SHORT: Final = 64 * 1024
"""Bytes of a transcript up to which it is stored together with others: some 30 ms of work."""


@dataclass
class Updated:
    """What an update did: the ids of conversations that got entries, by whether they are new; problems."""

    created: list[str] = field(default_factory=list)
    extended: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    read: int = 0


@dataclass(frozen=True)
class Forgotten:
    """How many conversations were deleted, and whether nothing of them is left in the files of the stores."""

    count: int
    is_erased: bool


@dataclass
class _Storers:
    """What stores the transcripts of each workspace; `missing` says of a URL whether its store was there."""

    context: Context
    thread: ThreadWork
    missing: dict[str, bool]
    _made: dict[str, TranscriptStorer] = field(default_factory=dict)

    def of(self, followed: FollowedTranscript) -> TranscriptStorer:
        """Raises CoppiceError where the store cannot be opened."""
        workspace = followed.reading.workspace or NO_FOLDER
        if workspace not in self._made:
            store = self.context.stores.of_workspace(workspace)
            settings = self.context.settings.of(workspace)
            is_new = self.missing.get(store.url, False)
            self._made[workspace] = TranscriptStorer(store, workspace, settings, self.thread, is_new=is_new)
        return self._made[workspace]


class Following:
    """The transcripts of the agents that the user's settings name. Nothing is ever written to them."""

    def __init__(self, context: Context, conversations: Conversations) -> None:
        self._context = context
        self._conversations = conversations
        self._lock = threading.Lock()
        self._looks: dict[str | None, tuple[Look, tuple[object, ...]]] = {}
        self._looked_for_deleted: float | None = None

    async def update(self, workspace_uri: str | None, progress: Progress | None = None) -> Updated:
        """Stores what is new in the transcripts of a workspace, or with None of all, the newest first.

        Each transcript is a conversation of the workspace in whose folder its session began. What an agent
        deleted stays stored, unless the user's settings say otherwise; what was deleted here is not stored
        again.
        """
        return await self._updated(
            None if workspace_uri is None else [workspace_uri], progress or NoProgress()
        )

    async def _updated(self, workspaces: Sequence[str] | None, progress: Progress) -> Updated:
        updated = await run_in_thread(
            lambda thread: self._update(workspaces, thread), progress, title="Reading transcripts"
        )
        changes: list[tuple[list[str], Change]] = [
            (updated.created, "created"),
            (updated.extended, "entries"),
        ]
        for ids, kind in changes:
            for conversation_id in ids:
                self._context.announce(conversation_id, None, kind)
        if self._context.settings.of().sources.forget_deleted:
            updated.problems += await self._forget_deleted()
        progress.end(f"{updated.read:,} transcripts read")
        return updated

    async def update_sources(self, params: UpdateSourcesParams, progress: Progress) -> UpdateSourcesResult:
        """`update` for a client: of one workspace, or of every workspace folder."""
        folders = [params.workspace_uri] if params.workspace_uri else self._context.stores.folders
        updated = await self._updated(folders, progress)
        return UpdateSourcesResult(
            read=updated.read,
            created=len(updated.created),
            extended=len(updated.extended),
            problems=updated.problems,
        )

    async def transcripts(self) -> list[FollowedTranscript]:
        """All transcripts that there are, and those that were read and are deleted or are not listed."""
        settings = self._context.settings.of().sources
        look = Look(None, settings, self._catalog)
        there = await run_in_thread(lambda thread: look.changed(thread.check), title="Listing transcripts")
        return there + await run_read(not_there, self._catalog, there, look.unlisted, settings.agents)

    async def forget(self, *, agent: str | None = None, conversation_id: str | None = None) -> Forgotten:
        """Deletes a conversation, or with None all that are stored of an agent's transcripts, or of all.

        What is forgotten is not read again. Raises UnknownConversationError for a `conversation_id` that is
        not there.
        """
        readings = await run_read(self._catalog.readings)
        chosen = {
            conversation_id_of(each.agent, each.key): each
            for each in readings.values()
            if each.read_at is not None and not each.forgotten and agent in (None, each.agent)
        }
        ids = [*chosen] if conversation_id is None else [conversation_id]
        touched: dict[str, Store] = {}
        deleted = 0
        for id_ in ids:
            try:
                store = await run_read(self._context.stores.of_conversation, id_)
                await self._conversations.delete(DeleteParams(conversation_id=id_))
            except UnknownConversationError:
                if conversation_id is not None:
                    raise
                continue
            touched[store.url] = store
            deleted += 1
        forgotten = [
            Reading(each.agent, each.key, "", forgotten=True) for id_ in ids if (each := chosen.get(id_))
        ]
        await run_long(self._catalog.put, forgotten)
        erased = [await run_long(store.erase) for store in touched.values()]
        return Forgotten(deleted, is_erased=all(erased))

    async def _forget_deleted(self) -> list[str]:
        """Deletes the conversations of transcripts that their agents have deleted, where nothing was added.

        Their readings go too: a transcript that is there again is stored again. What failed is told.
        """
        now = time.monotonic()
        last = self._looked_for_deleted
        if last is not None and now - last < _COMPLETE_SECONDS:
            return []
        self._looked_for_deleted = now
        problems: list[str] = []
        touched: dict[str, Store] = {}
        for reading, is_gone in deletions(await self.transcripts(), self._context.settings.of().sources):
            id_ = conversation_id_of(reading.agent, reading.key)
            try:
                store = await run_read(self._context.stores.of_conversation, id_)
                record = await run_read(store.conversation, id_)
                condition = partial(_is_left, reading, is_gone)
                # Nothing that runs for it is stopped where it stays.
                if condition(record) and await self._conversations.delete_if(id_, condition):
                    touched[store.url] = store
                    await run_long(self._catalog.remove, reading)
            except UnknownConversationError:
                continue
            except CoppiceError as error:
                problems.append(f"A conversation whose transcript was deleted could not be removed: {error}")
        for store in touched.values():
            try:
                await run_long(store.erase)
            except CoppiceError as error:
                problems.append(f"What was removed is still in the files of the store: {error}")
        return problems

    @property
    def _catalog(self) -> TranscriptCatalog:
        return TranscriptCatalog(Path(data_directory(self._context.settings.of())))

    def _update(self, workspaces: Sequence[str] | None, thread: ThreadWork) -> Updated:
        updated = Updated()
        for workspace in [None] if workspaces is None else dict.fromkeys(map(canonical_uri, workspaces)):
            look = self._look(workspace)
            self._update_from(look, updated, thread)
            with self._lock:
                self._looks[workspace] = (look, self._basis(workspace))
        return updated

    def _update_from(self, look: Look, updated: Updated, thread: ThreadWork) -> None:
        missing: dict[str, bool] = {}
        places: dict[str, str] = {}
        lacking: dict[tuple[str, str], frozenset[str]] = {}
        done: list[Reading] = []
        due: list[FollowedTranscript] = []
        for followed in look.changed(thread.check):
            if self._is_due(followed, places, missing):
                due.append(followed)
            elif self._lacks_id(followed, lacking):
                due.append(replace(followed, reading=replace(followed.reading, checkpoint=None)))
            elif followed.reading.held:
                look.look_again(followed)
        unlisted = [f"{Path(path).name}: {why}" for path, why in look.unlisted.items()]
        updated.problems += [each for each in unlisted if each not in updated.problems]
        due.sort(key=lambda followed: followed.reading.modified, reverse=True)
        storers = _Storers(self._context, thread, missing)
        read = 0
        try:
            for group in _groups(with_places(due, thread.check)):
                thread.report(f"{read:,} of {len(due):,}", read * 100 // len(due))
                readings = self._read_group(group, storers)
                read += len(group)
                for followed, reading in zip(group, readings, strict=True):
                    _count(updated, followed, reading)
                    if reading.held or not replace(followed, reading=reading).is_current:
                        look.look_again(followed)
                done += readings
                if len(done) >= _SAVED_TOGETHER:
                    self._catalog.put(done)
                    done = []
        finally:
            self._catalog.put(done)

    def _is_due(self, followed: FollowedTranscript, places: dict[str, str], missing: dict[str, bool]) -> bool:
        """`places` has the URL of each workspace's store, `missing` which of them did not exist."""
        reading = followed.reading
        if reading.forgotten:
            return False
        workspace = reading.workspace or NO_FOLDER
        if workspace not in places:
            places[workspace] = self._context.stores.url_of(workspace)
        url = places[workspace]
        gone = missing.setdefault(url, is_missing(url))
        settled = reading.held and time.time() - reading.modified > SETTLED_SECONDS
        return not followed.is_current or gone or settled or reading.store != url

    def _lacks_id(self, followed: FollowedTranscript, lacking: dict[tuple[str, str], frozenset[str]]) -> bool:
        """Whether what an earlier version stored is without the id by which the agent knows the session.
        `lacking` has the conversations of each workspace and format that are. The first look of a process
        opens each store for it that has a session of such an agent, in 8 ms of processor time.
        """
        transcript, reading = followed.transcript, followed.reading
        if transcript is None or not transcript.id_in_header:
            return False
        if reading.read_at is None or reading.problem is not None or reading.forgotten:
            return False
        place = (reading.workspace or NO_FOLDER, followed.agent.format)
        if place not in lacking:
            lacking[place] = frozenset()
            with suppress(CoppiceError):  # the next look comes to it
                store = self._context.stores.of_workspace(place[0])
                lacking[place] = store.conversations_without(HEADER_ID, place[1])
        return transcript.conversation_id in lacking[place]

    def _read_group(self, group: list[FollowedTranscript], storers: _Storers) -> list[Reading]:
        """In one transaction if there are several; one by one where that fails."""
        if len(group) > 1:
            with suppress(CoppiceError):
                store = storers.of(group[0]).store
                with store.together():
                    readings = [self._read(followed, storers) for followed in group]
                store.note_entries()
                return readings
        return [self._read(followed, storers) for followed in group]

    def _read(self, followed: FollowedTranscript, storers: _Storers) -> Reading:
        transcript, last = followed.transcript, followed.reading
        assert transcript is not None  # noqa: S101 - `_update` asks for nothing else
        try:
            return storers.of(followed).stored(transcript, followed.agent.format, last)
        except CoppiceError as error:
            return replace(last, problem=str(error))

    def _look(self, workspace: str | None) -> Look:
        """One that nobody else has meanwhile: the last, where only agents can have changed anything since."""
        with self._lock:
            look, basis = self._looks.pop(workspace, (None, None))
        if (
            look is None
            or time.monotonic() - look.began > _COMPLETE_SECONDS
            or basis != self._basis(workspace)
        ):
            return Look(workspace, self._context.settings.of().sources, self._catalog)
        return look

    def _basis(self, workspace: str | None) -> tuple[object, ...]:
        """What a look relies on: the settings, the store and whether it is missing, the catalog."""
        url = self._context.stores.url_of(workspace or NO_FOLDER)
        return self._context.settings.of().sources, url, is_missing(url), self._catalog.identity


def _is_left(reading: Reading, is_gone: Callable[[], bool], record: ConversationRecord) -> bool:
    """Whether nothing was added to what was read of a transcript, and it is not there again."""
    return (record.entry_count, record.leaf_id) == (reading.entries, reading.leaf) and is_gone()


def _groups(due: Iterable[FollowedTranscript]) -> Iterator[list[FollowedTranscript]]:
    """`due` in their order: short transcripts of one workspace that follow one another together."""
    group: list[FollowedTranscript] = []
    for followed in due:
        if group and not (
            len(group) < _STORED_TOGETHER
            and group[0].reading.workspace == followed.reading.workspace
            and max(group[0].reading.size, followed.reading.size) <= _SHORT
        ):
            yield group
            group = []
        group.append(followed)
    if group:
        yield group


def _count(updated: Updated, followed: FollowedTranscript, reading: Reading) -> None:
    updated.read += 1
    if reading.problem is not None:
        name = Path(reading.path).name
        updated.problems.append(f"{name}: {reading.problem}")
    elif reading.read_at is None:
        return  # it has no message yet
    elif followed.reading.read_at is None:
        updated.created.append(conversation_id_of(reading.agent, reading.key))
    elif reading.entries > followed.reading.entries:
        updated.extended.append(conversation_id_of(reading.agent, reading.key))
