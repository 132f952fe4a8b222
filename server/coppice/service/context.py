"""What the use cases share."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from weakref import WeakValueDictionary

from coppice.compaction.summarizer import Summarizer
from coppice.service.jobs import Jobs
from coppice.service.messages.base import WireModel
from coppice.service.settings_source import SettingsSource
from coppice.service.stores import Stores

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
    summarizer: Summarizer
    locks: Locks = field(default_factory=Locks)
    jobs: Jobs = field(default_factory=Jobs)


def now() -> str:
    """The time, as the wire and the store write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
