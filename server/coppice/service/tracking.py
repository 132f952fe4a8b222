"""File tracking: what an editor and its watcher tell becomes `file_activity` of the active conversation.

The active conversation of a workspace folder is the one that this client opened, appended to, prompted or
navigated last. Without one, nothing is recorded.
"""

import asyncio
import contextlib
import logging
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from coppice.errors import CoppiceError, UnknownConversationError
from coppice.files.changes import Changes, chosen, unrecorded
from coppice.files.paths import path_of_uri
from coppice.service.context import Context, now
from coppice.service.file_events import Active, FileEvent, Sorter, opened_last, without_folders
from coppice.service.path_reading import read_path
from coppice.store.records import LEAF, ConversationRecord, NewRecord, PathEnd
from coppice.store.store import Store
from coppice.tokens.size import Size
from coppice.tree.entries import FileActivityEntry, FileChange
from coppice.tree.ids import new_entry_id

QUIET_SECONDS: Final = 0.5
"""How long no event may come before those that came are recorded."""

LATEST_SECONDS: Final = 3.0
"""How long events may go on before those that came are recorded all the same."""

MOST_CHANGES: Final = 1_000
"""Changes that one entry holds; a branch checkout is no reason to remember every file."""

_log = logging.getLogger(__name__)


class Tracking:
    """Hears events on the event loop and never blocks it; a thread folds and stores them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._active: Active = {}
        self._heard: list[tuple[Active, FileEvent]] = []
        self._changes: dict[str, Changes] = {}
        self._sorter = Sorter(context.settings)
        self._recording = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._last = 0.0

    def hear(self, events: Iterable[FileEvent]) -> None:
        """Takes events in, in their order. They count for the conversations that are active now."""
        if self._active:
            active = self._active
            self._heard += [(active, event) for event in events]
            self._last = asyncio.get_running_loop().time()
            self._news.set()

    async def open(self, conversation_id: str) -> None:
        """The conversation is the active one of its workspace from now on. An unknown one is nothing."""
        if opened_last(self._active) == conversation_id:
            return
        with contextlib.suppress(CoppiceError):
            workspace = await asyncio.to_thread(self._workspace_of, conversation_id)
            others = {uri: known for uri, known in self._active.items() if uri != workspace}
            self._active = {**others, workspace: conversation_id}

    def close_folders(self, uris: Iterable[str]) -> None:
        """No conversation of these folders is active any more."""
        closed = set(uris)
        self._active = {uri: known for uri, known in self._active.items() if uri not in closed}

    async def record(self) -> None:
        """Stores what was heard until now; durable when it returns. It ends even if the caller is cancelled.

        What cannot be stored now is kept for the next time.
        """
        if self._tasks or self._heard or any(changes.news for changes in self._changes.values()):
            task = asyncio.create_task(self._record())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            await asyncio.shield(task)

    async def settle(self) -> None:
        """Records the last of it, and waits for what others began to record."""
        await self.record()
        await asyncio.gather(*self._tasks)

    async def keep_recording(self) -> None:
        """Records whenever it has become quiet, and now and then where it does not. Never ends."""
        loop = asyncio.get_running_loop()
        while True:
            await self._news.wait()
            wait, latest = QUIET_SECONDS, loop.time() + LATEST_SECONDS
            while wait > 0:
                await asyncio.sleep(wait)
                wait = min(self._last + QUIET_SECONDS, latest) - loop.time()
            self._news.clear()
            await self.record()

    async def _record(self) -> None:
        async with self._recording:
            heard, self._heard = self._heard, []
            if heard:
                await asyncio.to_thread(self._fold, heard)
            for conversation_id, changes in list(self._changes.items()):
                if changes.news:
                    await self._store(conversation_id, changes)

    def _fold(self, heard: list[tuple[Active, FileEvent]]) -> None:
        for conversation_id, event in self._sorter.sort(self._context.stores.folders, heard):
            self._changes.setdefault(conversation_id, Changes()).note(event)

    async def _store(self, conversation_id: str, changes: Changes) -> None:
        try:
            stored, leaf_id = await self._context.commit(
                conversation_id, lambda: self._append(conversation_id, changes)
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

    def _append(self, conversation_id: str, changes: Changes) -> tuple[bool, str | None]:
        """Whether there was something to store, and the leaf that it stands beside."""
        store = self._context.stores.of_conversation(conversation_id)
        record, end = store.conversation(conversation_id), store.end(conversation_id)
        changes.stand_behind(end.id if end is not None else None)
        told, omitted = unrecorded(changes.net(), _recorded(store, record, end)), changes.omitted
        if len(told) > MOST_CHANGES:
            told, left_out = chosen(told, MOST_CHANGES, self._known_files(store, record))
            omitted += left_out
        told = without_folders(told, path_of_uri(record.workspace_uri))
        if told:
            entry = _entry(told, omitted)
            store.append(
                conversation_id,
                [NewRecord(entry, Size())],
                parent_id=LEAF,
                modified_at=entry.timestamp,
            )
        changes.told()
        return bool(told), end.id if end is not None else None

    def _known_files(self, store: Store, record: ConversationRecord) -> Collection[str]:
        settings = self._context.settings.of(record.workspace_uri)
        return read_path(store, record.id, settings).ledger().histories

    def _workspace_of(self, conversation_id: str) -> str:
        store = self._context.stores.of_conversation(conversation_id)
        return store.conversation(conversation_id).workspace_uri

    def _forget(self, conversation_id: str) -> None:
        self._changes.pop(conversation_id, None)
        self._active = {uri: known for uri, known in self._active.items() if known != conversation_id}


def _recorded(store: Store, record: ConversationRecord, end: PathEnd | None) -> Iterator[FileChange]:
    """What is recorded behind the newest message already."""
    kinds = ["file_activity"]
    if end is None:
        beside = store.beside_root(record.id, kinds)
    else:
        beside = [entry for _, entry in store.attached(end, end.depth, end.depth, kinds)]
    return (change for entry in beside if isinstance(entry, FileActivityEntry) for change in entry.changes)


def _entry(changes: list[FileChange], omitted: int) -> FileActivityEntry:
    entry = FileActivityEntry(id=new_entry_id(), parent_id=None, timestamp=now(), changes=changes)
    return entry.model_copy(update={"omitted": omitted}) if omitted else entry
