"""The use case `coppice/preparePrompt`: the check before a prompt."""

from dataclasses import dataclass
from typing import Final

from coppice.errors import CancelledByHookError, ModelFailedError, NothingToCompactError, SummaryRejectedError
from coppice.protocol.compaction import CompactParams
from coppice.protocol.recovery import PreparePromptParams, PreparePromptResult
from coppice.protocol.usage import UsageState
from coppice.recovery.request_size import RequestSize
from coppice.service.compaction.ahead import BEGIN_SHARE
from coppice.service.compaction.compacting import Compacting
from coppice.service.core.context import Context
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.jobs import stop_if_cancelled
from coppice.service.core.progress import JobProgress, Progress
from coppice.service.core.workers import run_read
from coppice.service.notes.notes import Notes
from coppice.service.recovery.clearing import Clearing
from coppice.service.window.fitting import Fit
from coppice.service.window.measuring import measure
from coppice.service.window.usage import Counter, overhead_of, usage_state
from coppice.tokens.measuring import size_of_message
from coppice.tree.entries import CompactionEntry, ContextEditEntry
from coppice.tree.messages import UserContent, UserMessage

MOST_IN_A_ROW: Final = 2  # automatic compactions without a message between them (guess)
_NO_HELP: Final = (NothingToCompactError, SummaryRejectedError, ModelFailedError, CancelledByHookError)


@dataclass(frozen=True, slots=True)
class NextRequest:
    """What is about to be sent: the view, `prompt` after it, and `overhead_tokens` tokens of other things.

    With `edits_context` the provider clears old tool results itself.
    """

    conversation_id: str
    context_window: int | None = None
    prompt: str | list[UserContent] | None = None
    overhead_tokens: int = 0
    edits_context: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """`message` is why nothing was compacted; with `cannot_fit` the prompt alone is too long.

    `edit` is the context edit that was made first.
    """

    usage: UsageState
    entry: CompactionEntry | None = None
    edit: ContextEditEntry | None = None
    message: str | None = None
    cannot_fit: bool = False


@dataclass(frozen=True, slots=True)
class _Streak:
    """Automatic compactions in a row, the leaf after the last one, and whether that one made room."""

    count: int
    leaf_id: str
    regained: bool


@dataclass(frozen=True, slots=True)
class _Situation:
    path: ConversationPath
    measured: RequestSize
    usage: UsageState
    in_a_row: int
    prompt: int


class Thresholds:
    """The use case `coppice/preparePrompt`."""

    def __init__(self, context: Context, compacting: Compacting, clearing: Clearing, notes: Notes) -> None:
        self._context = context
        self._compacting = compacting
        self._clearing = clearing
        self._notes = notes
        self._streaks: dict[str, _Streak] = {}

    async def prepare_prompt(self, params: PreparePromptParams, progress: Progress) -> PreparePromptResult:
        """Clears old tool results from the start share of the window on, and compacts where the view and the
        prompt are over the threshold, or reports why that does not help. Then the conversation is shown the
        notes of its workspace, where it does not have them as they are.
        """
        overhead_tokens = await run_read(self._overhead_tokens, params)
        request = NextRequest(params.conversation_id, params.context_window, params.prompt, overhead_tokens)
        done = await self.prepare(request, progress)
        usage = done.usage
        if not done.cannot_fit and await self._notes.show(params.conversation_id, usage.context_window):
            usage = (await run_read(self._situation, request)).usage
        return PreparePromptResult(
            compacted=done.entry is not None,
            entry=done.entry,
            context_edit=done.edit,
            usage=usage,
            message=done.message,
        )

    def _overhead_tokens(self, params: PreparePromptParams) -> int:
        _, record = self._context.find(params.conversation_id)
        counter = Counter(self._context.settings.of(record.workspace_uri))
        return overhead_of(counter, params.system, params.tools, params.skills).total

    async def prepare(self, request: NextRequest, progress: Progress | JobProgress) -> Prepared:
        """The check for `request`, which with the progress of a job is a step of it."""
        conversation_id, ahead = request.conversation_id, self._compacting.ahead
        now = await run_read(self._situation, request)
        measured = now.measured
        if measured.pinned + now.prompt + request.overhead_tokens >= measured.window:
            return Prepared(now.usage, message=_too_large(measured), cannot_fit=True)
        edit = None
        if not request.edits_context and (ahead.status(conversation_id) is None or _refusal(now)):
            edit = await self._clearing.make_room(now.path, measured.window, measured.request_tokens)
        if edit is not None:
            stop_if_cancelled()
            now = await run_read(self._situation, request)
            measured = now.measured
        is_enabled = now.path.settings.compaction.enabled
        fit = Fit(measured.window, measured.target, measured.tail)
        begins_at = BEGIN_SHARE * measured.threshold
        if is_enabled and begins_at < measured.request_tokens <= measured.threshold:
            await self._compact_ahead(now, fit, edits_context=request.edits_context)
        if not is_enabled or measured.request_tokens <= measured.threshold:
            return Prepared(now.usage, edit=edit)
        if refusal := _refusal(now):
            return Prepared(now.usage, message=refusal, edit=edit)
        try:
            done = await self._compacting.compact(
                CompactParams(conversation_id=conversation_id),
                progress,
                "threshold",
                fit,
            )
        except _NO_HELP as error:
            ahead.forget(conversation_id)  # so that results are cleared again
            return Prepared(now.usage, message=str(error), edit=edit)
        after = await run_read(self._situation, request)
        regained = after.measured.view_tokens <= measured.target
        self._streaks[conversation_id] = _Streak(now.in_a_row + 1, done.entry.id, regained)
        return Prepared(after.usage, done.entry, edit=edit)

    async def _compact_ahead(self, now: _Situation, fit: Fit, *, edits_context: bool) -> None:
        """Begins to write the summary, unless results will be cleared before the threshold is reached."""
        sizes, ahead = now.measured, self._compacting.ahead
        if not ahead.may_begin(now.path):
            return
        will_make_room, until = self._clearing.will_make_room, sizes.threshold
        if edits_context or not await run_read(
            will_make_room, now.path, sizes.window, sizes.request_tokens, until
        ):
            ahead.begin(now.path, fit)

    def _situation(self, request: NextRequest) -> _Situation:
        path = self._context.path(request.conversation_id)
        window = request.context_window or path.settings.model.context_window
        message = UserMessage(content=request.prompt) if request.prompt is not None else None
        prompt = Counter(path.settings).tokens(size_of_message(message)) if message is not None else 0
        measured = measure(path, window, known_overhead_tokens=request.overhead_tokens, prompt=prompt)
        in_a_row = _in_a_row(path, self._streaks.get(request.conversation_id))
        return _Situation(
            path, measured, usage_state(path, window, request.overhead_tokens), in_a_row, prompt
        )


def _in_a_row(path: ConversationPath, streak: _Streak | None) -> int:
    """How many there are now: none on another branch, and none once a model worked in the room they made."""
    if streak is None or not path.contains(streak.leaf_id):
        return 0
    return 0 if streak.regained and path.has_reply_since(streak.leaf_id) else streak.count


def _refusal(now: _Situation) -> str | None:
    """Why a compaction that is due would not help, with numbers and what to do."""
    measured = now.measured
    if measured.least_view + now.prompt >= measured.window:
        return _too_large(measured)
    if now.in_a_row >= MOST_IN_A_ROW:
        return (
            f"Two compactions in a row have not made enough room: {measured.request_tokens:,} tokens, and a "
            f"compaction is due above {measured.threshold:,}. {measured.suggest()}"
        )
    return None


def _too_large(measured: RequestSize) -> str:
    return f"{measured.describe()} The window is {measured.window:,}. {measured.suggest()}"
