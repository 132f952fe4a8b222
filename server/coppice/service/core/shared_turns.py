"""Turns as the servers on one store see them: each conversation has at most one, whichever server runs it."""

import asyncio
import contextlib
import os
import platform
import time
from typing import Final, Literal

from coppice.errors import ConversationBusyError, CoppiceError, UnknownConversationError
from coppice.operating_system import is_running
from coppice.protocol.notifications import TURN_CHANGED, TurnChanged
from coppice.service.core.context import Context, Locks
from coppice.service.core.workers import run_read
from coppice.store.schema.records import StoredTurn
from coppice.store.tree.turns import RunningTurns

KEEP_SECONDS: Final = 10.0
"""How often a server renews the mark of its turn in the store: a write of 5 ms, 0.05 % of the time."""

LOST_SECONDS: Final = 60
"""A turn whose mark is older is over: its server, or its machine, is gone. Six marks were missed then."""

BUSY: Final = "A turn of this conversation runs in another window or program. Wait until it ends, or stop it."


class SharedTurns:
    """The turns of this server, kept in the store, and those of others, as far as the client was notified."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._holder = f"{context.stores.server_id} {os.getpid()} {platform.node()}"
        self._held: dict[str, asyncio.Task[None]] = {}
        self._elsewhere: set[str] = set()
        self._locks = Locks()

    async def begin(self, conversation_id: str) -> None:
        """Raises ConversationBusyError while another server runs a turn. The same turn may begin twice."""

        def take() -> bool:
            turns = self._stored(conversation_id)
            current = turns.of(conversation_id)
            if current is not None and self._is_elsewhere(current):
                return False
            return turns.begin(conversation_id, self._holder, int(time.time()), instead_of=current)

        async with self._locks.of(conversation_id):
            if conversation_id in self._held:
                return
            if not await self._context.commit(conversation_id, take):
                raise _busy()
            self._held[conversation_id] = asyncio.create_task(self._keep(conversation_id))
            self._notify(conversation_id, "here")

    async def end(self, conversation_id: str) -> None:
        """Does nothing where none of this server's runs. What cannot be ended in the store is lost there."""

        def leave() -> bool:
            return self._stored(conversation_id).end(conversation_id, self._holder)

        async with self._locks.of(conversation_id):
            keeping = self._held.pop(conversation_id, None)
            if keeping is None:
                return
            keeping.cancel()
            with contextlib.suppress(CoppiceError):
                await self._context.commit(conversation_id, leave)
            self._notify(conversation_id, None)

    async def where(self, conversation_id: str) -> Literal["here", "elsewhere"] | None:
        """Where a turn runs. One that runs elsewhere is watched from now on."""
        if conversation_id in self._held:
            return "here"
        if await run_read(self._turn_elsewhere, conversation_id) is not None:
            self._elsewhere.add(conversation_id)
            return "elsewhere"
        return None

    async def refuse_elsewhere(self, conversation_id: str) -> None:
        """Raises ConversationBusyError while another server runs a turn."""
        if await self.where(conversation_id) == "elsewhere":
            raise _busy()

    async def stop_elsewhere(self, conversation_id: str) -> bool:
        """Asks the server that runs a turn to stop it; false when no other one runs any."""

        def ask() -> bool:
            turn = self._turn_elsewhere(conversation_id)
            return turn is not None and self._stored(conversation_id).ask_to_stop(conversation_id, turn)

        return conversation_id not in self._held and await self._context.commit(conversation_id, ask)

    async def noticed(self, conversation_id: str) -> None:
        """Another server began or ended a turn, or asks for this server's to be stopped."""
        if conversation_id not in self._held:
            await self._look(conversation_id)
        elif await run_read(self._is_to_stop, conversation_id):
            self._context.jobs.cancel(conversation_id)

    async def follow(self) -> None:
        """Looks whether the turns that run elsewhere still do: a server that was killed records no end."""
        for conversation_id in tuple(self._elsewhere):
            await self._look(conversation_id)

    async def close(self) -> None:
        """Ends what this server holds."""
        for conversation_id in tuple(self._held):
            await self.end(conversation_id)

    async def _look(self, conversation_id: str) -> None:
        was = conversation_id in self._elsewhere
        try:
            runs = await run_read(self._turn_elsewhere, conversation_id) is not None
        except UnknownConversationError:
            runs = False
        if runs == was or conversation_id in self._held:
            return
        if runs:
            self._elsewhere.add(conversation_id)
        else:
            self._elsewhere.discard(conversation_id)
        self._notify(conversation_id, "elsewhere" if runs else None)

    def _stored(self, conversation_id: str) -> RunningTurns:
        return self._context.stores.of_conversation(conversation_id).turns

    def _turn_elsewhere(self, conversation_id: str) -> StoredTurn | None:
        turn = self._stored(conversation_id).of(conversation_id)
        return turn if turn is not None and self._is_elsewhere(turn) else None

    def _is_to_stop(self, conversation_id: str) -> bool:
        turn = self._stored(conversation_id).of(conversation_id)
        return turn is not None and turn.holder == self._holder and turn.stop

    def _is_elsewhere(self, turn: StoredTurn) -> bool:
        return turn.holder != self._holder and not _is_lost(turn)

    async def _keep(self, conversation_id: str) -> None:
        def keep() -> None:
            self._stored(conversation_id).keep(conversation_id, self._holder, int(time.time()))

        while True:
            await asyncio.sleep(KEEP_SECONDS)
            with contextlib.suppress(CoppiceError):
                await self._context.commit(conversation_id, keep)

    def _notify(self, conversation_id: str, turn: Literal["here", "elsewhere"] | None) -> None:
        if turn != "elsewhere":
            self._elsewhere.discard(conversation_id)
        self._context.client.notify(TURN_CHANGED, TurnChanged(conversation_id=conversation_id, turn=turn))


def _busy() -> ConversationBusyError:
    return ConversationBusyError(BUSY, job="turn", elsewhere=True)


def _is_lost(turn: StoredTurn) -> bool:
    """Whether the server of a turn is gone: it has ended on this machine, or was not seen for long."""
    _, _, place = turn.holder.partition(" ")
    pid, _, machine = place.partition(" ")
    is_here = machine == platform.node() and pid.isdecimal()
    if is_here and not is_running(int(pid)):
        return True
    return time.time() - turn.seen > LOST_SECONDS
