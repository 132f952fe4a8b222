"""The use case `coppice/recover`: a client's model request failed; what to do so that the turn goes on."""

from dataclasses import dataclass, replace
from typing import Final

from coppice.errors import CancelledByHookError, ModelFailedError, NothingToCompactError, SummaryRejectedError
from coppice.protocol.compaction import CompactParams
from coppice.protocol.recovery import RecoverParams, RecoverResult
from coppice.recovery import decision
from coppice.recovery.decision import Compact, Decision, Fail, Retry, State, Truncate
from coppice.recovery.overflow import reported_window
from coppice.service.compaction.compacting import JOB as COMPACTION
from coppice.service.compaction.compacting import Compacting
from coppice.service.core.client_turns import Turns
from coppice.service.core.context import Context
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.progress import JobProgress, Progress, StepProgress
from coppice.service.core.workers import run_read
from coppice.service.recovery.not_overflow import why_no_overflow
from coppice.service.recovery.silent_overflow import move_back_to, move_before, partly_read
from coppice.service.recovery.truncating import Truncating
from coppice.service.window.fitting import Fit
from coppice.service.window.measuring import Measured, measure
from coppice.tree.entries import MessageEntry

JOB: Final = "recovery"
TITLE: Final = "Recovering"
LEAST_WINDOW: Final = 4_000
"""Tokens. A smaller window is not concluded from the size of a request that was refused."""


@dataclass(frozen=True, slots=True)
class _Memory:
    """What is known since the last successful reply: `leaf_id` is where the last round left the leaf.

    `overhead_tokens` and `window` are concluded from the provider's error and counts, in tokens.
    """

    state: State
    leaf_id: str | None
    overhead_tokens: int
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

    `window` is the model's, `overhead_tokens` what is known to be sent with the view, both in
    tokens.
    `counted` is the request's size by the provider's count, 0 where there is none.
    """

    window: int
    overhead_tokens: int = 0
    counted: int = 0


@dataclass(frozen=True, slots=True)
class Recovery:
    """How a round ended, and the sizes then: of the next request and of the window, in tokens."""

    result: RecoverResult
    tokens: int
    window: int


class Recovering:
    """The use case `coppice/recover`."""

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
        path = await run_read(self._context.path, conversation_id)
        self._turns.refuse_another(conversation_id, params.turn_id)
        window = params.context_window or path.settings.model.context_window
        part = await run_read(partly_read, path, params.error, window)
        if part is None and (other := await run_read(why_no_overflow, path, params.error)):
            return RecoverResult(action="not-overflow", attempt=0, leaf_id=path.leaf_id, message=other)
        window = min(window, reported_window(params.error.message) or window)
        refused = Refused(window, counted=part.counted if part is not None else 0)
        reply = part.entry if part is not None else None
        begun = await run_read(lambda: self._begin(_before(path, reply), refused))
        waited = await self._context.jobs.settled(conversation_id, COMPACTION)

        async def work(shared: JobProgress) -> RecoverResult:
            if reply is None or not await move_before(self._context, path, reply):
                return await self._run(begun, shared, already_compacted=waited)
            return await self._run_without(reply, path, begun, shared)

        return await self._context.jobs.run(
            conversation_id, JOB, title=TITLE, progress=progress, work=work, joinable=True
        )

    async def _run_without(
        self, reply: MessageEntry, path: ConversationPath, begun: _Round, progress: JobProgress
    ) -> RecoverResult:
        """A round in which the request is made again that `reply` answered in part."""
        result: RecoverResult | None = None
        try:
            result = await self._run(begun, progress, already_compacted=False)
        finally:
            if result is None or result.action == "fail":
                await move_back_to(self._context, path, reply, begun.memory.leaf_id)
        return result if result.action == "retry" else result.model_copy(update={"leaf_id": reply.id})

    async def recover_in_turn(
        self, conversation_id: str, refused: Refused, progress: JobProgress
    ) -> Recovery:
        """A round for a request of the server's own turn that is known to have been too long."""
        path = await run_read(self._context.path, conversation_id)
        turn = await run_read(self._begin, path, refused)
        result = await self._run(turn, StepProgress(progress), already_compacted=False)
        return Recovery(result, turn.measured.tokens, turn.memory.window)

    def _begin(self, path: ConversationPath, refused: Refused) -> _Round:
        """A request that was refused was larger than the window, whatever the settings."""
        known = self._memory(path)
        window = refused.window
        measured = measure(path, window, known_overhead_tokens=refused.overhead_tokens)
        overhead_tokens = max(measured.floor.overhead_tokens, refused.counted - measured.view.tokens)
        if known is not None:
            overhead_tokens, window = max(known.overhead_tokens, overhead_tokens), min(known.window, window)
        window = min(window, max(LEAST_WINDOW, measured.view.tokens + overhead_tokens))
        state = known.state if known is not None else State()
        memory = _Memory(state, path.leaf_id, overhead_tokens, window)
        return _Round(path.conversation.id, memory, measure(path, window, overhead_tokens=overhead_tokens))

    def _memory(self, path: ConversationPath) -> _Memory | None:
        """Forgotten after a successful reply, and by who goes to another branch."""
        known = self._memories.get(path.conversation.id)
        if known is None or known.leaf_id is None:
            return known
        if path.contains(known.leaf_id) and not path.has_reply_since(known.leaf_id):
            return known
        self.forget(path.conversation.id)
        return None

    async def _run(self, turn: _Round, progress: JobProgress, *, already_compacted: bool) -> RecoverResult:
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

    async def _decide(self, turn: _Round, progress: JobProgress, *, already_compacted: bool) -> Retry | Fail:
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
        self, turn: _Round, then: Compact | Truncate, progress: JobProgress
    ) -> tuple[State, Decision]:
        state, view, floor = turn.memory.state, turn.measured.view, turn.measured.floor
        if isinstance(then, Truncate):
            done = await self._truncating.cut(
                turn.conversation_id, view.window, overhead_tokens=turn.memory.overhead_tokens
            )
            await self._look_again(turn)
            return decision.looked_for_results(
                state, turn.measured.view, turn.measured.floor, done.count, done.left_out
            )
        room = view.target(floor)
        try:
            await self._compacting.compact(
                CompactParams(conversation_id=turn.conversation_id),
                progress,
                "overflow",
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
        path = await run_read(self._context.path, turn.conversation_id)
        turn.measured = await run_read(
            measure, path, turn.memory.window, overhead_tokens=turn.memory.overhead_tokens
        )
        turn.memory = replace(turn.memory, leaf_id=path.leaf_id)


def _before(path: ConversationPath, reply: MessageEntry | None) -> ConversationPath:
    """The path to where the request was made that `reply` answers."""
    if reply is None or reply.parent_id is None:
        return path
    return path.to(reply.parent_id)
