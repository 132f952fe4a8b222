"""Notifies the client of what other servers did on its stores, at a cost that has a bound."""

import asyncio
import contextlib
from typing import Final, cast

from coppice.errors import CoppiceError, UnknownConversationError
from coppice.protocol.notifications import Change
from coppice.service.core.context import Context
from coppice.service.core.shared_turns import SharedTurns
from coppice.service.core.workers import run_read
from coppice.service.window.usage import usage_state
from coppice.store.schema.records import StoredChange

WATCH_SECONDS: Final = 0.25  # seconds between two looks for changes of other servers; a reader sees no delay

NOTICE_SECONDS: Final = 0.02
"""Added to the pause for each conversation that was reported. To report one computes some 0.1 ms: with 64
windows that all write, all of them together use a third of a processor for it. With the same pause whatever
was changed, each write would cost as often as there are windows."""

LONGEST_SECONDS: Final = 5.0
"""The longest pause: the next look reports each conversation once, however often it was changed meanwhile."""

MOST_MEASURED: Final = 100
"""Conversations whose size is reported: those that the client asked about last. A client shows a few."""


def pause_after(reported: int) -> float:
    """Seconds until the next look, after one that reported so many conversations."""
    return min(WATCH_SECONDS + reported * NOTICE_SECONDS, LONGEST_SECONDS)


class ChangesElsewhere:
    """Looks into the store's change log from time to time."""

    def __init__(self, context: Context, shared: SharedTurns) -> None:
        self._context = context
        self._shared = shared
        self._asked: dict[str, None] = {}

    def note_asked(self, conversation_id: str) -> None:
        """The client asks about a conversation: its size is reported when another server changes it."""
        self._asked.pop(conversation_id, None)
        self._asked[conversation_id] = None
        if len(self._asked) > MOST_MEASURED:
            del self._asked[next(iter(self._asked))]

    async def watch(self) -> None:
        """Looks again and again, until it is cancelled."""
        reported = 0
        while True:
            await asyncio.sleep(pause_after(reported))
            reported = await self.look()

    async def look(self) -> int:
        """Reports what was changed since the last look; how many conversations that were."""
        reported = 0
        for store in await run_read(self._context.stores.watched):
            with contextlib.suppress(CoppiceError):
                for change in await run_read(store.changes):
                    reported += 1
                    await self._report(change)
        with contextlib.suppress(CoppiceError):
            await self._shared.follow()
        return reported

    async def _report(self, change: StoredChange) -> None:
        """Notifies the client first of what another server stored, then of what its turn does."""
        conversation_id = change.conversation_id
        kinds = [kind for kind in change.kinds if kind != "turn"]
        if kinds:
            self._context.announce(conversation_id, change.leaf_id, *cast("list[Change]", kinds))
        with contextlib.suppress(UnknownConversationError):
            if "leaf" in kinds and conversation_id in self._asked:
                path = await run_read(self._context.path, conversation_id)
                self._context.announce_usage(conversation_id, await run_read(usage_state, path))
            if len(kinds) < len(change.kinds):
                await self._shared.noticed(conversation_id)
