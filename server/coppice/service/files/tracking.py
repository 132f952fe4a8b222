"""File tracking: events of an editor and its watcher become `file_activity` of the active conversation.

The active conversation of a workspace folder is the one that this client last opened, appended to, prompted
or navigated. Without one, nothing is recorded.
"""

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Mapping
from typing import Final

from coppice.errors import CoppiceError, UnknownConversationError, WorkTooLongError
from coppice.files.changes import Changes, chosen, unrecorded
from coppice.files.ledger import FileHistory
from coppice.files.paths import path_of_uri
from coppice.protocol.file_events import FileEvent
from coppice.service.core.context import Context, now
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.workers import run_long, run_read
from coppice.service.files.file_events import Active, Sorter, opened_last, without_folders
from coppice.service.files.git_updates import with_updates
from coppice.store.schema.records import LEAF, NewRecord
from coppice.tokens.size import Size
from coppice.tree.entries import FileActivityEntry, FileChange, GitUpdate
from coppice.tree.ids import new_entry_id

QUIET_SECONDS: Final = 0.5
"""Events are recorded when none has come for this long. See ADR 0012."""

LATEST_SECONDS: Final = 3.0
"""The longest time between an event and its recording while others keep coming. See ADR 0012."""

MOST_CHANGES: Final = 1_000
"""The most changes that one entry holds; a checkout of a branch may touch more files. See ADR 0012."""

_HISTORY_SECONDS: Final = 5.0
"""How long a recording waits for the files that a conversation knows: every write waits for the recording.
Those of 10,000 messages take a second."""

_log = logging.getLogger(__name__)


_ByUpdate = dict[GitUpdate | None, list[FileChange]]
_Histories = Mapping[str, FileHistory]


class Tracking:
    """Receives events on the event loop without blocking it; a worker thread merges and stores them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._active: Active = {}
        self._events: list[tuple[Active, FileEvent]] = []
        self._changes: dict[str, Changes] = {}
        self._sorter = Sorter(context.settings)
        self._recording = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._has_events = asyncio.Event()
        self._last = 0.0

    def feed(self, events: Iterable[FileEvent]) -> None:
        """Adds events, in their order. They concern the conversations that are active at this moment."""
        if self._active:
            active = self._active
            self._events += [(active, event) for event in events]
            self._last = asyncio.get_running_loop().time()
            self._has_events.set()

    async def open(self, conversation_id: str) -> None:
        """Makes the conversation the active one of its workspace. An unknown id is ignored."""
        if opened_last(self._active) == conversation_id:
            return
        with contextlib.suppress(CoppiceError):
            _, record = await run_read(self._context.find, conversation_id)
            others = {uri: active for uri, active in self._active.items() if uri != record.workspace_uri}
            self._active = {**others, record.workspace_uri: conversation_id}

    def close_folders(self, uris: Iterable[str]) -> None:
        """Ends the activity of the conversations of these folders."""
        closed = set(uris)
        self._active = {uri: active for uri, active in self._active.items() if uri not in closed}

    async def record(self) -> None:
        """Stores the events so far; they are durable when it returns. Cancelling the caller does not stop it.

        Changes that cannot be stored are kept for the next call.
        """
        if self._tasks or self._events or any(changes.is_pending for changes in self._changes.values()):
            task = asyncio.create_task(self._record())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            await asyncio.shield(task)

    async def settle(self) -> None:
        """Records the remaining events, and waits for recordings that are in progress."""
        await self.record()
        await asyncio.gather(*self._tasks)

    async def keep_recording(self) -> None:
        """Records after `QUIET_SECONDS` without events, or after `LATEST_SECONDS`. Never returns."""
        loop = asyncio.get_running_loop()
        while True:
            await self._has_events.wait()
            wait, latest = QUIET_SECONDS, loop.time() + LATEST_SECONDS
            while wait > 0:
                await asyncio.sleep(wait)
                wait = min(self._last + QUIET_SECONDS, latest) - loop.time()
            self._has_events.clear()
            await self.record()

    async def _record(self) -> None:
        async with self._recording:
            events, self._events = self._events, []
            if events:
                await run_read(self._fold, events)
            for conversation_id, changes in list(self._changes.items()):
                if changes.is_pending:
                    await self._store(conversation_id, changes)

    def _fold(self, events: list[tuple[Active, FileEvent]]) -> None:
        for conversation_id, event in self._sorter.sort(self._context.stores.folders, events):
            self._changes.setdefault(conversation_id, Changes()).note(event)

    async def _store(self, conversation_id: str, changes: Changes) -> None:
        try:
            path = await run_read(self._context.path, conversation_id)
            changes_of, histories = await _split(path, changes)
            stored, leaf_id = await self._context.commit(
                conversation_id, lambda: self._append(conversation_id, changes, changes_of, histories)
            )
        except UnknownConversationError:
            self._forget(conversation_id)
        except CoppiceError as error:
            _log.warning("File changes could not be recorded yet: %s", error)
        else:
            if stored:
                self._context.announce(conversation_id, leaf_id, "entries")
            if conversation_id not in self._active.values():
                del self._changes[conversation_id]

    def _append(
        self, conversation_id: str, changes: Changes, changes_of: _ByUpdate, histories: _Histories
    ) -> tuple[bool, str | None]:
        """Whether there were changes to store, and the leaf that they are attached to."""
        path = self._context.path(conversation_id)
        changes.start_after(path.leaf_id)
        root = path_of_uri(path.conversation.workspace_uri)
        recorded = _recorded(path)
        entries = []
        omitted = changes.omitted
        # What git replaced comes first: the files that nobody followed were part of that, if there was any.
        for update, changed in sorted(changes_of.items(), key=lambda part: part[0] is None):
            news = unrecorded(changed, recorded.get(update, []))
            if len(news) > MOST_CHANGES:
                news, left_out = chosen(news, MOST_CHANGES, histories)
                omitted += left_out
            if news := without_folders(news, root):
                entries.append(_entry(news, omitted, update))
                omitted = 0
        if entries:
            path.store.append(
                conversation_id,
                [NewRecord(entry, Size()) for entry in entries],
                parent_id=LEAF,
                modified_at=entries[-1].timestamp,
            )
        changes.mark_recorded()
        return bool(entries), path.leaf_id

    def _forget(self, conversation_id: str) -> None:
        self._changes.pop(conversation_id, None)
        self._active = {uri: active for uri, active in self._active.items() if active != conversation_id}


async def _split(path: ConversationPath, changes: Changes) -> tuple[_ByUpdate, _Histories]:
    """The changes by the update that made them, and what the conversation knows of files where that matters.

    What became of files that the conversation has changed itself is no update's. The calls of its tools are
    stored before they run, so what happened is compared with a path that has them.
    """
    root = path_of_uri(path.conversation.workspace_uri)
    changed = await run_read(lambda: with_updates(changes.net(), root))
    matters = len(changed) > MOST_CHANGES or any(update is not None for update, _ in changed)
    histories = await _histories(path) if matters else {}
    changes_of: _ByUpdate = {}
    for update, change in changed:
        history = histories.get(change.path)
        is_own = history is not None and history.writes > 0
        changes_of.setdefault(None if is_own else update, []).append(change)
    return changes_of, histories


async def _histories(path: ConversationPath) -> _Histories:
    """None of them where to compute them takes too long."""
    try:
        async with asyncio.timeout(_HISTORY_SECONDS):
            return (await run_long(path.ledger)).histories
    except (TimeoutError, WorkTooLongError):
        _log.warning(
            "The files of %s took too long; changes are recorded without them.", path.conversation.id
        )
        return {}


def _recorded(path: ConversationPath) -> _ByUpdate:
    """The changes that are already recorded after the newest message, by the update that made them."""
    kinds, end = ["file_activity"], path.end
    if end is None:
        recorded = path.store.root_metadata(path.conversation.id, kinds)
    else:
        recorded = [entry for _, entry in path.store.attached(end, end.depth, end.depth, kinds)]
    changes_of: _ByUpdate = {}
    for entry in recorded:
        if isinstance(entry, FileActivityEntry):
            changes_of.setdefault(entry.git_update, []).extend(entry.changes)
    return changes_of


def _entry(changes: list[FileChange], omitted: int, update: GitUpdate | None) -> FileActivityEntry:
    entry = FileActivityEntry(id=new_entry_id(), parent_id=None, timestamp=now(), changes=changes)
    optional = {"omitted": omitted or None, "git_update": update}
    return entry.model_copy(update={name: value for name, value in optional.items() if value is not None})
