"""The use case `coppice/recover`: a client's model request failed; what to do so that the turn goes on."""

import asyncio
from dataclasses import dataclass, replace
from typing import Final, cast

from coppice.errors import CancelledByHookError, ModelFailedError, NothingToCompactError, SummaryRejectedError
from coppice.recovery import decision
from coppice.recovery.decision import Compact, Decision, Fail, Retry, State, Truncate
from coppice.recovery.overflow import told_window
from coppice.service.compacting import JOB as COMPACTION
from coppice.service.compacting import TITLE, Compacting
from coppice.service.context import Context
from coppice.service.fitting import Fit
from coppice.service.jobs import Progress, SharedProgress, Step
from coppice.service.measuring import Measured, measure
from coppice.service.messages.compaction import CompactParams
from coppice.service.messages.recovery import RecoverParams, RecoverResult
from coppice.service.partly_read import partly_read, stand_before, stand_behind
from coppice.service.path_reading import Path, read_path
from coppice.service.refusals import why_no_overflow
from coppice.service.standing import replied_since, stands_behind
from coppice.service.truncating import Truncating
from coppice.service.turns import Turns
from coppice.tree.entries import MessageEntry

JOB: Final = "recovery"
LEAST_WINDOW: Final = 4_000
"""Tokens. A smaller window is not concluded from the size of a request that was refused."""


@dataclass(frozen=True, slots=True)
class _Memory:
    """What is known since the last successful reply: `leaf_id` is where the last round left the leaf.

    `beside` and `window` are concluded from what the provider said, in tokens.
    """

    state: State
    leaf_id: str | None
    beside: int
    window: int


@dataclass(slots=True)
class _Round:
    """One round at work."""

    conversation_id: str
    memory: _Memory
    measured: Measured


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that a model did not take as a whole, within a job.

    `window` is the model's, `beside` what is sent beside the view as far as it is known, both in tokens.
    `counted` is how large the provider found the request, where it told.
    """

    window: int
    beside: int = 0
    counted: int = 0


@dataclass(frozen=True, slots=True)
class Recovery:
    """How a round ended, and the sizes then: of the next request and of the window, in tokens."""

    result: RecoverResult
    tokens: int
    window: int


class Recovering:
    def __init__(
        self, context: Context, compacting: Compacting, truncating: Truncating, turns: Turns
    ) -> None:
        self._context = context
        self._compacting = compacting
        self._truncating = truncating
        self._turns = turns
        self._memories: dict[str, _Memory] = {}
        turns.on_end = self.forget

    def forget(self, conversation_id: str) -> None:
        """The turn has ended; the next failure is a first one."""
        self._memories.pop(conversation_id, None)

    async def recover(self, params: RecoverParams, progress: Progress) -> RecoverResult:
        """Whoever asks while a recovery runs gets its result; a compaction that runs is waited for."""
        conversation_id = params.conversation_id
        path = await asyncio.to_thread(self._path, conversation_id)
        self._turns.refuse_another(conversation_id, params.turn_id)
        window = params.context_window or path.settings.model.context_window
        part = await asyncio.to_thread(partly_read, path, params.error, window)
        if part is None and (other := await asyncio.to_thread(why_no_overflow, path, params.error)):
            leaf_id = path.end.id if path.end is not None else None
            return RecoverResult(action="not-overflow", attempt=0, leaf_id=leaf_id, message=other)
        window = min(window, told_window(params.error.message) or window)
        refused = Refused(window, counted=part.counted if part is not None else 0)
        reply = part.entry if part is not None else None
        begun = await asyncio.to_thread(lambda: self._begin(_before(path, reply), refused))
        waited = await self._context.jobs.settled(conversation_id, COMPACTION)

        async def work(shared: SharedProgress) -> RecoverResult:
            if reply is None or not await stand_before(self._context, path, reply):
                return await self._run(begun, shared, already_compacted=waited)
            return await self._run_without(reply, path, begun, shared)

        result = await self._context.jobs.run(
            conversation_id, JOB, title=TITLE, progress=progress, work=work, joinable=True
        )
        return cast("RecoverResult", result)

    async def _run_without(
        self, reply: MessageEntry, path: Path, begun: _Round, progress: SharedProgress
    ) -> RecoverResult:
        """A round in which the request is made again that `reply` answered in part."""
        result: RecoverResult | None = None
        try:
            result = await self._run(begun, progress, already_compacted=False)
        finally:
            if result is None or result.action == "fail":
                await stand_behind(self._context, path, reply, begun.memory.leaf_id)
        return result if result.action == "retry" else result.model_copy(update={"leaf_id": reply.id})

    async def recover_within(
        self, conversation_id: str, refused: Refused, progress: SharedProgress
    ) -> Recovery:
        """The same within a job, for a request that is known to have been too long."""
        path = await asyncio.to_thread(self._path, conversation_id)
        turn = await asyncio.to_thread(self._begin, path, refused)
        result = await self._run(turn, Step(progress), already_compacted=False)
        return Recovery(result, turn.measured.tokens, turn.memory.window)

    def _path(self, conversation_id: str) -> Path:
        store = self._context.stores.of_conversation(conversation_id)
        workspace = store.conversation(conversation_id).workspace_uri
        return read_path(store, conversation_id, self._context.settings.of(workspace))

    def _begin(self, path: Path, refused: Refused) -> _Round:
        """A request that was refused was larger than the window, whatever the settings say."""
        known = self._memory(path)
        window = refused.window
        measured = measure(path, window, known_beside=refused.beside)
        beside = max(measured.floor.beside, refused.counted - measured.view.tokens)
        if known is not None:
            beside, window = max(known.beside, beside), min(known.window, window)
        window = min(window, max(LEAST_WINDOW, measured.view.tokens + beside))
        state = known.state if known is not None else State()
        memory = _Memory(state, path.end.id if path.end is not None else None, beside, window)
        return _Round(path.conversation.id, memory, measure(path, window, beside=beside))

    def _memory(self, path: Path) -> _Memory | None:
        """Forgotten after a successful reply, and by who goes to another branch."""
        known = self._memories.get(path.conversation.id)
        if known is None or known.leaf_id is None:
            return known
        if stands_behind(path, known.leaf_id) and not replied_since(path, known.leaf_id):
            return known
        self.forget(path.conversation.id)
        return None

    async def _run(self, turn: _Round, progress: SharedProgress, *, already_compacted: bool) -> RecoverResult:
        try:
            ended = await self._decide(turn, progress, already_compacted=already_compacted)
        except BaseException:
            progress.end("Stopped")
            raise
        state = turn.memory.state
        progress.end(ended.message or "The request can be tried again")
        return RecoverResult(
            action="retry" if isinstance(ended, Retry) else "fail",
            strategy=ended.strategy if isinstance(ended, Retry) else None,
            attempt=state.attempt,
            leaf_id=turn.memory.leaf_id,
            message=ended.message,
        )

    async def _decide(
        self, turn: _Round, progress: SharedProgress, *, already_compacted: bool
    ) -> Retry | Fail:
        view, floor = turn.measured.view, turn.measured.floor
        state, then = decision.overflowed(turn.memory.state, view, floor)
        if already_compacted:
            await self._look_again(turn)
            state, then = decision.compacted(state, turn.measured.view, turn.measured.floor)
        while True:
            turn.memory = replace(turn.memory, state=state)
            self._memories[turn.conversation_id] = turn.memory
            if isinstance(then, Retry | Fail):
                return then
            state, then = await self._act(turn, then, progress)

    async def _act(
        self, turn: _Round, then: Compact | Truncate, progress: SharedProgress
    ) -> tuple[State, Decision]:
        state, view, floor = turn.memory.state, turn.measured.view, turn.measured.floor
        if isinstance(then, Truncate):
            done = await self._truncating.attempt(
                turn.conversation_id, view.window, beside=turn.memory.beside
            )
            await self._look_again(turn)
            return decision.looked_for_results(state, turn.measured.view, turn.measured.floor, done.count)
        room = view.target(floor)
        try:
            await self._compacting.attempt(
                CompactParams(conversation_id=turn.conversation_id),
                "overflow",
                Step(progress),
                Fit(view.window, room, floor.tail, then.halvings),
                retry_below=room,
            )
        except NothingToCompactError:
            return decision.gave_up_compacting(state, view, floor, "")
        except (SummaryRejectedError, ModelFailedError, CancelledByHookError) as error:
            return decision.gave_up_compacting(state, view, floor, str(error))
        await self._look_again(turn)
        return decision.compacted(state, turn.measured.view, turn.measured.floor)

    async def _look_again(self, turn: _Round) -> None:
        path = await asyncio.to_thread(self._path, turn.conversation_id)
        turn.measured = await asyncio.to_thread(measure, path, turn.memory.window, beside=turn.memory.beside)
        turn.memory = replace(turn.memory, leaf_id=path.end.id if path.end is not None else None)


def _before(path: Path, reply: MessageEntry | None) -> Path:
    """The path to where the request was made that `reply` answers."""
    if reply is None or reply.parent_id is None:
        return path
    return read_path(path.store, path.conversation.id, path.settings, reply.parent_id)
