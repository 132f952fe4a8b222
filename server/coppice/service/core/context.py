"""What the use cases share."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from coppice.compaction.asking.summarizer import WrittenSummary
from coppice.protocol.base import WireModel
from coppice.protocol.notifications import (
    CONVERSATION_CHANGED,
    USAGE_CHANGED,
    Change,
    ConversationChanged,
    UsageChanged,
)
from coppice.protocol.server_requests import ClientPort
from coppice.protocol.usage import UsageState
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.jobs import Jobs, uninterrupted
from coppice.service.core.progress import Progress, ProgressOf, no_progress
from coppice.service.core.settings_source import SettingsSource
from coppice.service.core.stores import Stores
from coppice.service.core.summarizers import Summarizers
from coppice.service.core.thread_work import ThreadWork, run_in_thread
from coppice.service.core.workers import run_read, run_write
from coppice.service.hooks.hooks import Asking, Hooks
from coppice.settings import Settings
from coppice.store.schema.records import Appended, ConversationRecord
from coppice.store.store import Store

Written = TypeVar("Written")


class Locks:
    """One lock a conversation, held around a write and never while anything long is awaited."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, conversation_id: str) -> asyncio.Lock:
        """The conversation's lock, which whoever comes first gets first."""
        return self._locks.setdefault(conversation_id, asyncio.Lock())


@dataclass(frozen=True)
class Context:
    """What all use cases share: stores, settings, the client's port, jobs and locks."""

    stores: Stores
    settings: SettingsSource
    client: ClientPort
    summarizers: Summarizers
    hooks: Hooks
    progress_of: ProgressOf = no_progress
    locks: Locks = field(default_factory=Locks)
    jobs: Jobs = field(default_factory=Jobs)
    before_writing: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    after_deleting: list[Callable[[str], None]] = field(default_factory=list)
    """Called with the id of a conversation that was deleted, by whoever holds something of it in memory."""
    unused_summaries: dict[str, list[WrittenSummary]] = field(default_factory=dict)
    """By conversation, those written and not taken since the server started, without their texts."""
    after_moving: list[Callable[[str], None]] = field(default_factory=list)
    """Called with the id of a conversation whose leaf is another one, also where another server moved it."""

    def find(self, conversation_id: str) -> tuple[Store, ConversationRecord]:
        """The store that holds a conversation, and its row. Reads the store.

        Raises UnknownConversationError.
        """
        store = self.stores.of_conversation(conversation_id)
        return store, store.conversation(conversation_id)

    def settings_of(self, record: ConversationRecord, request: Mapping[str, Any] | None = None) -> Settings:
        """The settings for a conversation, with the model that was chosen for it."""
        return self.settings.of(record.workspace_uri, request, record.choice)

    def path(
        self,
        conversation_id: str,
        leaf_id: str | None = None,
        *,
        request: Mapping[str, Any] | None = None,
    ) -> ConversationPath:
        """The path to `leaf_id`, by default to the leaf, with the settings that hold for its workspace.

        `request` are settings of the request's own. Reads the store. Raises UnknownConversationError and
        UnknownEntryError.
        """
        store, record = self.find(conversation_id)
        settings = self.settings_of(record, request)
        return ConversationPath.read(store, record, settings, leaf_id)

    def path_after(self, store: Store, done: Appended) -> ConversationPath:
        """The path to the leaf that an append left."""
        settings = self.settings_of(done.conversation)
        return ConversationPath(store, done.conversation, done.end, done.compaction, settings)

    def asking(self, path: ConversationPath, report: Callable[[str], None] = lambda _stage: None) -> Asking:
        """How hooks are asked about `path`."""
        return Asking(path.settings.hooks, path.all_entries, report)

    def did(self, method: str, params: WireModel, path: ConversationPath) -> None:
        """Notifies the client and calls the extensions' hooks, after what `method` names has happened."""
        self.client.notify(method, params)
        self.hooks.notify(method, params, self.asking(path))

    async def write(self, conversation_id: str, work: Callable[[], Written]) -> Written:
        """As `commit`, when everything is stored that happened before, the editor's file events for one."""
        await self._flush()
        return await self.commit(conversation_id, work)

    async def write_long(
        self,
        conversation_id: str,
        work: Callable[[ThreadWork], Written],
        progress: Progress,
        *,
        title: str,
    ) -> Written:
        """As `write`, for work that reads much before it stores anything. A cancel stops it at a check."""
        await self._flush()
        async with self.locks.of(conversation_id):
            return await run_in_thread(work, progress, title=title)

    async def commit(self, conversation_id: str, work: Callable[[], Written]) -> Written:
        """The result of `work`, which runs off the event loop under the conversation's lock.

        Once begun it ends: a cancel that comes meanwhile is too late.
        """

        async def locked() -> Written:
            async with self.locks.of(conversation_id):
                home = self.stores.home_of(conversation_id)
                if home is None:
                    home = (await run_read(self.stores.of_conversation, conversation_id)).url
                return await run_write(home, work)

        return await uninterrupted(locked())

    async def _flush(self) -> None:
        for store in self.before_writing:
            await store()

    def announce(self, conversation_id: str, leaf_id: str | None, *changes: Change) -> None:
        """Notifies the client of what changed in a conversation."""
        self.client.notify(
            CONVERSATION_CHANGED,
            ConversationChanged(conversation_id=conversation_id, leaf_id=leaf_id, changes=list(changes)),
        )
        if "leaf" in changes:
            for moved in self.after_moving:
                moved(conversation_id)

    def announce_usage(self, conversation_id: str, usage: UsageState) -> None:
        """Notifies the client of the size of the current view."""
        self.client.notify(USAGE_CHANGED, UsageChanged(conversation_id=conversation_id, usage=usage))


def now() -> str:
    """The time, as the wire and the store write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
