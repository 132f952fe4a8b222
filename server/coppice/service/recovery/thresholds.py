"""The use case `coppice/preparePrompt`: the check before a prompt."""

from dataclasses import dataclass
from typing import Final

from coppice.errors import CancelledByHookError, ModelFailedError, NothingToCompactError, SummaryRejectedError
from coppice.protocol.compaction import CompactParams
from coppice.protocol.recovery import PreparePromptParams, PreparePromptResult
from coppice.protocol.usage import UsageState
from coppice.recovery.headroom import Automatic
from coppice.service.compaction.compacting import Compacting
from coppice.service.core.context import Context
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.progress import JobProgress, Progress
from coppice.service.core.workers import run_read
from coppice.service.window.fitting import Fit
from coppice.service.window.measuring import Measured, measure
from coppice.service.window.usage import Counter, overhead_of, usage_state
from coppice.tokens.measuring import size_of_message
from coppice.tree.entries import CompactionEntry
from coppice.tree.messages import UserContent, UserMessage

_NO_HELP: Final = (NothingToCompactError, SummaryRejectedError, ModelFailedError, CancelledByHookError)


@dataclass(frozen=True, slots=True)
class NextRequest:
    """What is about to be sent: the view, `prompt` after it, and `overhead_tokens` tokens of other things."""

    conversation_id: str
    context_window: int | None = None
    prompt: str | list[UserContent] | None = None
    overhead_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    """`message` is why nothing was compacted; after `cannot_fit` the prompt alone is too long."""

    usage: UsageState
    entry: CompactionEntry | None = None
    message: str | None = None
    cannot_fit: str | None = None


@dataclass(frozen=True, slots=True)
class CompactionStreak:
    """The compactions in a row, and the leaf after the last one."""

    automatic: Automatic
    leaf_id: str


@dataclass(frozen=True, slots=True)
class _Situation:
    path: ConversationPath
    measured: Measured
    usage: UsageState
    streak: Automatic
    prompt: int

    @property
    def is_due(self) -> bool:
        return self.path.settings.compaction.enabled and self.measured.tokens > self.measured.view.threshold


class Thresholds:
    """The use case `coppice/preparePrompt`."""

    def __init__(self, context: Context, compacting: Compacting) -> None:
        self._context = context
        self._compacting = compacting
        self._streaks: dict[str, CompactionStreak] = {}

    async def prepare_prompt(self, params: PreparePromptParams, progress: Progress) -> PreparePromptResult:
        """Compacts when the view and the prompt are over the threshold, or reports why that does not help."""
        overhead_tokens = await run_read(self._overhead_tokens, params)
        request = NextRequest(params.conversation_id, params.context_window, params.prompt, overhead_tokens)
        done = await self.prepare(request, progress)
        return PreparePromptResult(
            compacted=done.entry is not None, entry=done.entry, usage=done.usage, message=done.message
        )

    def _overhead_tokens(self, params: PreparePromptParams) -> int:
        _, record = self._context.find(params.conversation_id)
        counter = Counter(self._context.settings.of(record.workspace_uri))
        return overhead_of(counter, params.system, params.tools, params.skills).total

    async def prepare(self, request: NextRequest, progress: Progress | JobProgress) -> Prepared:
        """The check for `request`, which with the progress of a job is a step of it."""
        conversation_id = request.conversation_id
        now = await run_read(self._situation, request)
        if now.measured.floor.pinned + now.prompt + request.overhead_tokens >= now.measured.view.window:
            return Prepared(now.usage, message=_too_large(now), cannot_fit=_too_large(now))
        if not now.is_due:
            return Prepared(now.usage)
        if refusal := _refusal(now):
            return Prepared(now.usage, message=refusal)
        view, floor = now.measured.view, now.measured.floor
        try:
            done = await self._compacting.compact(
                CompactParams(conversation_id=conversation_id),
                progress,
                "threshold",
                Fit(view.window, view.target(floor), floor.tail),
            )
        except _NO_HELP as error:
            return Prepared(now.usage, message=str(error))
        after = await run_read(self._situation, request)
        regained = after.measured.view.tokens <= view.target(floor)
        self._streaks[conversation_id] = CompactionStreak(now.streak.after(regained=regained), done.entry.id)
        return Prepared(after.usage, done.entry)

    def _situation(self, request: NextRequest) -> _Situation:
        path = self._context.path(request.conversation_id)
        window = request.context_window or path.settings.model.context_window
        message = UserMessage(content=request.prompt) if request.prompt is not None else None
        prompt = Counter(path.settings).tokens(size_of_message(message)) if message is not None else 0
        measured = measure(path, window, known_overhead_tokens=request.overhead_tokens, prompt=prompt)
        streak = _streak_now(path, self._streaks.get(request.conversation_id))
        return _Situation(path, measured, usage_state(path, window, request.overhead_tokens), streak, prompt)


def _streak_now(path: ConversationPath, streak: CompactionStreak | None) -> Automatic:
    """The streak as it counts now; there is none on another branch."""
    if streak is None or not path.contains(streak.leaf_id):
        return Automatic()
    return streak.automatic.since(new_work=path.has_reply_since(streak.leaf_id))


def _refusal(now: _Situation) -> str | None:
    """Why a compaction that is due would not help, with numbers and what to do."""
    view, floor = now.measured.view, now.measured.floor
    if floor.hard + now.prompt >= view.window:
        return _too_large(now)
    if not now.streak.allowed:
        return (
            f"Two compactions in a row have not made enough room: {now.measured.tokens:,} tokens, and a "
            f"compaction is due above {view.threshold:,}. {floor.suggest(view)}"
        )
    return None


def _too_large(now: _Situation) -> str:
    view, floor = now.measured.view, now.measured.floor
    return f"{floor.describe(view)} The window is {view.window:,}. {floor.suggest(view)}"
