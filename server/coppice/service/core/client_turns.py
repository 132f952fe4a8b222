"""The use cases `coppice/turn/begin` and `coppice/turn/end`: a client's own agent loop runs."""

import asyncio
import uuid
from collections.abc import Callable
from typing import Final

from coppice.errors import ConversationBusyError
from coppice.protocol.recovery import AbortTurnParams, AbortTurnResult, TurnParams, TurnResult
from coppice.protocol.server_requests import ABORT_TURN
from coppice.service.core.context import Context, Locks
from coppice.service.core.shared_turns import SharedTurns
from coppice.service.core.workers import run_read

JOB: Final = "turn"
"""A turn that the server runs is a job; a turn that a client runs is only known by its id."""

TURN_RUNS: Final = "A turn of this conversation runs. Wait until it ends, or stop it."


class Turns:
    """At most one turn a conversation, whichever server on the store runs it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.shared = SharedTurns(context)
        self._running: dict[str, str] = {}
        self._locks = Locks()
        self.on_end: Callable[[str], None] = lambda _conversation_id: None

    async def begin(self, params: TurnParams) -> TurnResult:
        """Raises ConversationBusyError while another turn, or a job, runs. The same turn begins once."""
        conversation_id = params.conversation_id
        await run_read(self._context.stores.of_conversation, conversation_id)
        running = self._running.get(conversation_id)
        if running is not None and running != params.turn_id:
            raise ConversationBusyError(
                "A turn is running in this conversation. End it before you begin another one.", turnId=running
            )
        if running is None:
            self._context.jobs.refuse_if_busy(conversation_id)
            running = self._running[conversation_id] = params.turn_id or uuid.uuid4().hex
            try:
                await self.shared.begin(conversation_id)
            except BaseException:
                self._running.pop(conversation_id, None)  # it may have been ended meanwhile
                raise
        return TurnResult(turn_id=running)

    async def end(self, params: TurnParams) -> TurnResult:
        """A turn that has ended stays ended, and another one that runs by now goes on."""
        conversation_id = params.conversation_id
        await run_read(self._context.stores.of_conversation, conversation_id)
        running = self._running.get(conversation_id)
        if running is not None and params.turn_id in (None, running):
            await self._ended(conversation_id)
        return TurnResult(turn_id=params.turn_id or running)

    def refuse_if_running(self, conversation_id: str) -> None:
        """Raises ConversationBusyError while a client's turn runs."""
        running = self._running.get(conversation_id)
        if running is not None:
            raise ConversationBusyError(
                "A turn of the client's own is running here. End it (coppice/turn/end) first.",
                turnId=running,
            )

    async def refuse_if_turn_runs(self, conversation_id: str) -> None:
        """Raises ConversationBusyError while a turn runs: the client's, the server's, or another server's."""
        self.refuse_if_running(conversation_id)
        if await self.shared.where(conversation_id) is not None:
            raise ConversationBusyError(TURN_RUNS)

    async def refuse_if_busy(self, conversation_id: str) -> None:
        """Raises ConversationBusyError while a job runs here, or another server runs a turn."""
        self._context.jobs.refuse_if_busy(conversation_id)
        await self.shared.refuse_elsewhere(conversation_id)

    def refuse_another(self, conversation_id: str, turn_id: str | None) -> None:
        """Raises ConversationBusyError when a turn runs and `turn_id` names another one."""
        running = self._running.get(conversation_id)
        if turn_id is not None and running is not None and running != turn_id:
            raise ConversationBusyError("Another turn is running in this conversation.", turnId=running)

    async def make_way(self, conversation_id: str) -> None:
        """Stops the server's own turn, or has the client abort its one, if one runs.

        Raises ConversationBusyError when the client cannot be asked, refuses, or does not answer in time, and
        while another server runs a turn.
        """
        await self.shared.refuse_elsewhere(conversation_id)
        await self._context.jobs.stop_running(conversation_id, JOB)
        async with self._locks.of(conversation_id):
            turn_id = self._running.get(conversation_id)
            if turn_id is None:
                return
            if not await self._aborted(conversation_id, turn_id):
                raise ConversationBusyError(
                    "A turn is running in this conversation. End it (coppice/turn/end), then compact.",
                    turnId=turn_id,
                )
            if self._running.get(conversation_id) == turn_id:
                await self._ended(conversation_id)

    async def _aborted(self, conversation_id: str, turn_id: str) -> bool:
        client = self._context.client
        if ABORT_TURN not in client.answers:
            return False
        patience = self._context.settings.of().hooks.timeout_seconds
        wanted = AbortTurnParams(conversation_id=conversation_id, turn_id=turn_id)
        try:
            async with asyncio.timeout(patience):
                answer = await client.ask(ABORT_TURN, wanted)
            return AbortTurnResult.model_validate(answer).aborted
        except Exception:  # noqa: BLE001 - however the client fails to answer, it has not aborted
            return False

    async def _ended(self, conversation_id: str) -> None:
        self._running.pop(conversation_id, None)
        self.on_end(conversation_id)
        await self.shared.end(conversation_id)
