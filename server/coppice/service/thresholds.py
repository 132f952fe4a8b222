"""The use case `coppice/preparePrompt`: the check before a prompt."""

import asyncio
from dataclasses import dataclass
from typing import Final

from coppice.errors import ModelFailedError, NothingToCompactError, SummaryRejectedError
from coppice.recovery.headroom import Automatic
from coppice.service.compacting import Compacting
from coppice.service.context import Context
from coppice.service.fitting import Fit
from coppice.service.jobs import Progress
from coppice.service.measuring import Measured, measure
from coppice.service.messages.compaction import CompactParams
from coppice.service.messages.recovery import PreparePromptParams, PreparePromptResult
from coppice.service.messages.usage import UsageState
from coppice.service.path_reading import Path, read_path
from coppice.service.standing import replied_since, stands_behind
from coppice.service.usage import Counter, usage_state
from coppice.tokens.measuring import size_of_message
from coppice.tree.messages import UserMessage

_NO_HELP: Final = (NothingToCompactError, SummaryRejectedError, ModelFailedError)


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
        conversation_id = params.conversation_id
        now = await asyncio.to_thread(self._situation, params)
        if not now.is_due:
            return PreparePromptResult(compacted=False, usage=now.usage)
        if refusal := _refusal(now):
            return PreparePromptResult(compacted=False, usage=now.usage, message=refusal)
        view, floor = now.measured.view, now.measured.floor
        try:
            done = await self._compacting.compact(
                CompactParams(conversation_id=conversation_id),
                progress,
                "threshold",
                Fit(view.window, view.target(floor), floor.tail),
            )
        except _NO_HELP as error:
            return PreparePromptResult(compacted=False, usage=now.usage, message=str(error))
        after = await asyncio.to_thread(self._situation, params)
        regained = after.measured.view.tokens <= view.target(floor)
        self._rows[conversation_id] = _Row(now.row.after(regained=regained), done.entry.id)
        return PreparePromptResult(compacted=True, entry=done.entry, usage=after.usage)

    def _situation(self, params: PreparePromptParams) -> _Situation:
        store = self._context.stores.of_conversation(params.conversation_id)
        workspace = store.conversation(params.conversation_id).workspace_uri
        path = read_path(store, params.conversation_id, self._context.settings.of(workspace))
        window = params.context_window or path.settings.model.context_window
        said = UserMessage(content=params.prompt) if params.prompt is not None else None
        prompt = Counter(path.settings).tokens(size_of_message(said)) if said is not None else 0
        row = _row_now(path, self._rows.get(params.conversation_id))
        return _Situation(path, measure(path, window, prompt=prompt), usage_state(path, window), row, prompt)


def _row_now(path: Path, row: _Row | None) -> Automatic:
    """The row as it counts now. Whoever goes to another branch begins anew."""
    if row is None or not stands_behind(path, row.leaf_id):
        return Automatic()
    return row.automatic.since(new_work=replied_since(path, row.leaf_id))


def _refusal(now: _Situation) -> str | None:
    """Why a compaction that is due would not help, with numbers and what to do."""
    view, floor = now.measured.view, now.measured.floor
    if floor.hard + now.prompt >= view.window:
        return f"{floor.told(view)} The window is {view.window:,}. {floor.advice(view)}"
    if not now.row.allowed:
        return (
            f"Two compactions in a row have not made enough room: {now.measured.tokens:,} tokens, and a "
            f"compaction is due above {view.threshold:,}. {floor.advice(view)}"
        )
    return None
