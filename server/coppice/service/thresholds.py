"""The use case `coppice/preparePrompt`: the check before a prompt."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from coppice.errors import CancelledByHookError, ModelFailedError, NothingToCompactError, SummaryRejectedError
from coppice.recovery.headroom import Automatic
from coppice.service.compacting import Compacting
from coppice.service.context import Context
from coppice.service.fitting import Fit
from coppice.service.jobs import Progress, SharedProgress, Step
from coppice.service.measuring import Measured, measure
from coppice.service.messages.compaction import CompactParams, CompactResult
from coppice.service.messages.recovery import PreparePromptParams, PreparePromptResult
from coppice.service.messages.usage import UsageState
from coppice.service.path_reading import Path, read_path
from coppice.service.standing import replied_since, stands_behind
from coppice.service.usage import Counter, size_beside, usage_state
from coppice.tokens.measuring import size_of_message
from coppice.tree.entries import CompactionEntry
from coppice.tree.messages import UserContent, UserMessage

_NO_HELP: Final = (NothingToCompactError, SummaryRejectedError, ModelFailedError, CancelledByHookError)


@dataclass(frozen=True, slots=True)
class NextRequest:
    """What is about to be sent: the view, `prompt` behind it, and `beside` tokens of other things."""

    conversation_id: str
    context_window: int | None = None
    prompt: str | list[UserContent] | None = None
    beside: int = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    """`message` says why nothing was compacted; `cannot_fit` that the prompt is too long by itself."""

    usage: UsageState
    entry: CompactionEntry | None = None
    message: str | None = None
    cannot_fit: str | None = None


Compact = Callable[[CompactParams, Fit], Awaitable[CompactResult]]


@dataclass(frozen=True, slots=True)
class _Row:
    """The compactions in a row, and where the conversation stood after the last one."""

    automatic: Automatic
    leaf_id: str


@dataclass(frozen=True, slots=True)
class _Situation:
    path: Path
    measured: Measured
    usage: UsageState
    row: Automatic
    prompt: int

    @property
    def is_due(self) -> bool:
        return self.path.settings.compaction.enabled and self.measured.tokens > self.measured.view.threshold


class Thresholds:
    def __init__(self, context: Context, compacting: Compacting) -> None:
        self._context = context
        self._compacting = compacting
        self._rows: dict[str, _Row] = {}

    async def prepare_prompt(self, params: PreparePromptParams, progress: Progress) -> PreparePromptResult:
        """Compacts when the view and the prompt are over the threshold, or says why that does not help."""

        async def compact(wanted: CompactParams, fit: Fit) -> CompactResult:
            return await self._compacting.compact(wanted, progress, "threshold", fit)

        beside = await asyncio.to_thread(self._beside, params)
        request = NextRequest(params.conversation_id, params.context_window, params.prompt, beside)
        done = await self._prepare(request, compact)
        return PreparePromptResult(
            compacted=done.entry is not None, entry=done.entry, usage=done.usage, message=done.message
        )

    def _beside(self, params: PreparePromptParams) -> int:
        path = self._path(params.conversation_id)
        return size_beside(Counter(path.settings), params.system, params.tools).total

    async def prepare_within(self, request: NextRequest, progress: SharedProgress) -> Prepared:
        """The same within a job."""

        async def compact(wanted: CompactParams, fit: Fit) -> CompactResult:
            return await self._compacting.attempt(wanted, "threshold", Step(progress), fit)

        return await self._prepare(request, compact)

    async def _prepare(self, request: NextRequest, compact: Compact) -> Prepared:
        conversation_id = request.conversation_id
        now = await asyncio.to_thread(self._situation, request)
        if now.measured.floor.pinned + now.prompt + request.beside >= now.measured.view.window:
            return Prepared(now.usage, message=_too_large(now), cannot_fit=_too_large(now))
        if not now.is_due:
            return Prepared(now.usage)
        if refusal := _refusal(now):
            return Prepared(now.usage, message=refusal)
        view, floor = now.measured.view, now.measured.floor
        try:
            done = await compact(
                CompactParams(conversation_id=conversation_id),
                Fit(view.window, view.target(floor), floor.tail),
            )
        except _NO_HELP as error:
            return Prepared(now.usage, message=str(error))
        after = await asyncio.to_thread(self._situation, request)
        regained = after.measured.view.tokens <= view.target(floor)
        self._rows[conversation_id] = _Row(now.row.after(regained=regained), done.entry.id)
        return Prepared(after.usage, done.entry)

    def _situation(self, request: NextRequest) -> _Situation:
        path = self._path(request.conversation_id)
        window = request.context_window or path.settings.model.context_window
        said = UserMessage(content=request.prompt) if request.prompt is not None else None
        prompt = Counter(path.settings).tokens(size_of_message(said)) if said is not None else 0
        measured = measure(path, window, known_beside=request.beside, prompt=prompt)
        row = _row_now(path, self._rows.get(request.conversation_id))
        return _Situation(path, measured, usage_state(path, window, request.beside), row, prompt)

    def _path(self, conversation_id: str) -> Path:
        store = self._context.stores.of_conversation(conversation_id)
        workspace = store.conversation(conversation_id).workspace_uri
        return read_path(store, conversation_id, self._context.settings.of(workspace))


def _row_now(path: Path, row: _Row | None) -> Automatic:
    """The row as it counts now. Whoever goes to another branch begins anew."""
    if row is None or not stands_behind(path, row.leaf_id):
        return Automatic()
    return row.automatic.since(new_work=replied_since(path, row.leaf_id))


def _refusal(now: _Situation) -> str | None:
    """Why a compaction that is due would not help, with numbers and what to do."""
    view, floor = now.measured.view, now.measured.floor
    if floor.hard + now.prompt >= view.window:
        return _too_large(now)
    if not now.row.allowed:
        return (
            f"Two compactions in a row have not made enough room: {now.measured.tokens:,} tokens, and a "
            f"compaction is due above {view.threshold:,}. {floor.advice(view)}"
        )
    return None


def _too_large(now: _Situation) -> str:
    view, floor = now.measured.view, now.measured.floor
    return f"{floor.told(view)} The window is {view.window:,}. {floor.advice(view)}"
