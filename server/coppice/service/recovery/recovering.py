"""The use case `coppice/recover`: a client's model request failed; what to do so that the turn goes on."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from coppice.errors import (
    CancelledByHookError,
    ModelFailedError,
    NothingToCompactError,
    StaleLeafError,
    SummaryRejectedError,
)
from coppice.protocol.compaction import CompactParams
from coppice.protocol.recovery import RecoverParams, RecoverResult
from coppice.recovery import decision
from coppice.recovery.decision import Compact, Decision, Fail, Retry, State, Truncate
from coppice.recovery.overflow import reported_window
from coppice.recovery.request_size import RequestSize
from coppice.service.compaction.compacting import JOB as COMPACTION
from coppice.service.compaction.compacting import Compacting
from coppice.service.core.client_turns import Turns
from coppice.service.core.context import Context, now
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.jobs import stop_if_cancelled
from coppice.service.core.progress import JobProgress, Progress, StepProgress
from coppice.service.core.workers import run_read
from coppice.service.recovery.reported_errors import partly_read, why_no_overflow
from coppice.service.recovery.truncating import Truncating
from coppice.service.window.fitting import Fit
from coppice.service.window.measuring import measure
from coppice.tree.entries import MessageEntry

JOB: Final = "recovery"
TITLE: Final = "Recovering"
LEAST_WINDOW: Final = 4_000
"""Tokens. A smaller window is not concluded from the size of a request that was refused."""


@dataclass(slots=True)
class _Round:
    """One round at work, and what the next one knows unless a request succeeds in between.

    `leaf_id` is where the round has left the leaf. The window and `overhead_tokens` that it is `measured`
    with are concluded from the provider's error and counts.
    """

    conversation_id: str
    leaf_id: str | None
    state: State
    measured: RequestSize


class Recovering:
    """The use case `coppice/recover`."""

    def __init__(
        self, context: Context, compacting: Compacting, truncating: Truncating, turns: Turns
    ) -> None:
        self._context = context
        self._compacting = compacting
        self._truncating = truncating
        self._turns = turns
        self._rounds: dict[str, _Round] = {}
        turns.on_end = self.forget

    def forget(self, conversation_id: str) -> None:
        """The turn has ended; the next failure is a first one."""
        self._rounds.pop(conversation_id, None)

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
        counted, reply = (part.counted, part.entry) if part is not None else (0, None)

        def begin() -> _Round:
            asked = path.to(reply.parent_id) if reply is not None and reply.parent_id is not None else path
            return self._begin(asked, window, counted=counted)

        begun = await run_read(begin)
        waited = await self._context.jobs.settled(conversation_id, COMPACTION)

        async def work(shared: JobProgress) -> RecoverResult:
            if reply is not None and await self._move_leaf(path, reply.parent_id, reply.id):
                return await self._run_without(reply, path, begun, shared)
            return await self._run(begun, shared, already_compacted=waited)

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
                await self._move_leaf(path, reply.id, begun.leaf_id)
        return result if result.action == "retry" else result.model_copy(update={"leaf_id": reply.id})

    async def _move_leaf(self, path: ConversationPath, leaf_id: str | None, from_leaf_id: str | None) -> bool:
        """Moves the leaf from `from_leaf_id`; false when the conversation grew meanwhile."""
        conversation_id = path.conversation.id

        def move() -> None:
            path.store.set_leaf(conversation_id, leaf_id, expected_leaf_id=from_leaf_id, modified_at=now())

        try:
            await self._context.write(conversation_id, move)
        except StaleLeafError:
            return False
        self._context.announce(conversation_id, leaf_id, "leaf")
        return True

    async def recover_in_turn(
        self, conversation_id: str, window: int, progress: JobProgress, *, overhead_tokens: int, counted: int
    ) -> tuple[RecoverResult, RequestSize]:
        """A round for a request of the server's own turn, and how the next request measures after it.

        The request is known to have been too long for the model's `window`. `overhead_tokens` is what is
        known to be sent with the view. `counted` is the request's size by the provider's count, 0 where there
        is none. All in tokens.
        """
        path = await run_read(self._context.path, conversation_id)
        begun = await run_read(self._begin, path, window, overhead_tokens=overhead_tokens, counted=counted)
        result = await self._run(begun, StepProgress(progress), already_compacted=False)
        return result, begun.measured

    def _begin(
        self, path: ConversationPath, window: int, *, overhead_tokens: int = 0, counted: int = 0
    ) -> _Round:
        """A request that was refused was larger than the window, whatever the settings."""
        last_round, stated = self._known(path), window
        measured = measure(path, window, known_overhead_tokens=overhead_tokens)
        overhead_tokens = max(measured.overhead_tokens, counted - measured.view_tokens)
        if last_round is not None:
            overhead_tokens = max(last_round.measured.overhead_tokens, overhead_tokens)
            window = min(last_round.measured.window, window)
        refused = min(window, max(LEAST_WINDOW, measured.view_tokens + overhead_tokens))
        state = last_round.state if last_round is not None else State()
        measured = measure(path, refused, overhead_tokens=overhead_tokens, stated_window=stated)
        return _Round(path.conversation.id, path.leaf_id, state, measured)

    def _known(self, path: ConversationPath) -> _Round | None:
        """The last round. Forgotten after a successful reply, and by who goes to another branch."""
        last_round = self._rounds.get(path.conversation.id)
        if last_round is None or last_round.leaf_id is None:
            return last_round
        if path.contains(last_round.leaf_id) and not path.has_reply_since(last_round.leaf_id):
            return last_round
        self.forget(path.conversation.id)
        return None

    async def _run(self, turn: _Round, progress: JobProgress, *, already_compacted: bool) -> RecoverResult:
        try:
            ended = await self._decide(turn, progress, already_compacted=already_compacted)
        except BaseException:
            progress.end("Stopped")
            raise
        progress.end(ended.message or "The request can be tried again")
        return RecoverResult(
            action="retry" if isinstance(ended, Retry) else "fail",
            strategy=ended.strategy if isinstance(ended, Retry) else None,
            attempt=turn.state.attempt,
            leaf_id=turn.leaf_id,
            message=ended.message,
        )

    async def _decide(self, turn: _Round, progress: JobProgress, *, already_compacted: bool) -> Retry | Fail:
        turn.state, then = decision.overflowed(turn.state, turn.measured)
        if already_compacted:
            await self._look_again(turn)
            turn.state, then = decision.compacted(turn.state, turn.measured)
        self._rounds[turn.conversation_id] = turn
        while not isinstance(then, Retry | Fail):
            turn.state, then = await self._act(turn, then, progress)
            self._rounds[turn.conversation_id] = turn
            stop_if_cancelled()
        return then

    async def _act(
        self, turn: _Round, then: Compact | Truncate, progress: JobProgress
    ) -> tuple[State, Decision]:
        measured = turn.measured
        if isinstance(then, Truncate):
            done = await self._truncating.cut(
                turn.conversation_id, measured.window, overhead_tokens=measured.overhead_tokens
            )
            await self._look_again(turn)
            return decision.looked_for_results(turn.state, turn.measured, done.count, done.left_out)
        try:
            await self._compacting.compact(
                CompactParams(conversation_id=turn.conversation_id),
                progress,
                "overflow",
                Fit(measured.window, measured.target, measured.tail, then.halvings),
            )
        except NothingToCompactError:
            return decision.gave_up_compacting(turn.state, measured, "")
        except (SummaryRejectedError, ModelFailedError, CancelledByHookError) as error:
            return decision.gave_up_compacting(turn.state, measured, str(error))
        await self._look_again(turn)
        return decision.compacted(turn.state, turn.measured)

    async def _look_again(self, turn: _Round) -> None:
        path = await run_read(self._context.path, turn.conversation_id)
        measured = turn.measured
        again = partial(measure, path, measured.window, overhead_tokens=measured.overhead_tokens)
        turn.measured = await run_read(again, stated_window=measured.stated_window)
        turn.leaf_id = path.leaf_id
