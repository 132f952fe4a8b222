"""What the use cases share."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from coppice.service.hooks import Hooks
from coppice.service.jobs import Jobs, uninterrupted
from coppice.service.messages.base import WireModel
from coppice.service.messages.events import Change, ConversationChanged, UsageChanged
from coppice.service.messages.usage import UsageState
from coppice.service.settings_source import SettingsSource
from coppice.service.stores import Stores
from coppice.service.summarizers import Summarizers

CHANGED: Final = "coppice/conversationChanged"
USAGE_CHANGED: Final = "coppice/usageChanged"

Written = TypeVar("Written")
Emit = Callable[[str, WireModel], None]
"""Sends a notification: its method and its params. Called on the event loop only."""


class Locks:
    """One lock a conversation, held around a write and never while anything long is awaited."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, conversation_id: str) -> AsyncIterator[None]:
        lock = self._locks.setdefault(conversation_id, asyncio.Lock())
        async with lock:
            yield


@dataclass(frozen=True)
class Context:
    stores: Stores
    settings: SettingsSource
    emit: Emit
    summarizers: Summarizers
    hooks: Hooks
    locks: Locks = field(default_factory=Locks)
    jobs: Jobs = field(default_factory=Jobs)
    before_writing: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    async def write(self, conversation_id: str, work: Callable[[], Written]) -> Written:
        """As `commit`, when everything is stored that happened before, the editor's file events for one."""
        for store in self.before_writing:
            await store()
        return await self.commit(conversation_id, work)

    async def commit(self, conversation_id: str, work: Callable[[], Written]) -> Written:
        """What `work` gives, run off the event loop under the conversation's lock.

        Once begun it ends: a cancel that comes meanwhile is too late.
        """

        async def locked() -> Written:
            async with self.locks.of(conversation_id):
                return await asyncio.to_thread(work)

        return await uninterrupted(locked())

    def announce(self, conversation_id: str, leaf_id: str | None, *changes: Change) -> None:
        """Tells the client what changed in a conversation."""
        self.emit(
            CHANGED,
            ConversationChanged(conversation_id=conversation_id, leaf_id=leaf_id, changes=list(changes)),
        )

    def announce_usage(self, conversation_id: str, usage: UsageState) -> None:
        self.emit(USAGE_CHANGED, UsageChanged(conversation_id=conversation_id, usage=usage))


def now() -> str:
    """The time, as the wire and the store write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
