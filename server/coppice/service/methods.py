"""The methods of the protocol: what each takes, gives and calls."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from coppice.service.jobs import Progress
from coppice.service.messages import compaction, conversations, navigation, prompt, recovery, trees, usage
from coppice.service.messages.base import WireModel
from coppice.service.service import Service

Work = Callable[[Service, Any, Progress], Awaitable[Any]]


@dataclass(frozen=True)
class Method:
    """A `long` one tells its progress. `partial_result` is the type of what its `partialResultToken` is told.

    One that `looks` at files, or that `opens` its conversation, finds all file events stored that came
    before it. What is opened is the active conversation of its workspace from then on.
    """

    name: str
    params: type[WireModel]
    result: type[WireModel]
    work: Work
    long: bool = False
    partial_result: Any = None
    looks: bool = False
    opens: bool = False

    async def call(self, service: Service, params: Any, progress: Progress) -> WireModel:
        """The result. Raises CoppiceError and can be cancelled."""
        if self.looks or self.opens:
            await service.tracking.record()
        if self.opens:
            await service.tracking.open(params.conversation_id)
        result: WireModel = await self.work(service, params, progress)
        return result


_ALL: Final = (
    Method(
        "coppice/conversation/create",
        conversations.CreateParams,
        conversations.ConversationResult,
        lambda service, params, _: service.conversations.create(params),
    ),
    Method(
        "coppice/conversation/list",
        conversations.ListParams,
        conversations.ListResult,
        lambda service, params, _: service.conversations.list_all(params),
    ),
    Method(
        "coppice/conversation/get",
        conversations.GetParams,
        conversations.GetResult,
        lambda service, params, _: service.conversations.get(params),
        opens=True,
    ),
    Method(
        "coppice/conversation/rename",
        conversations.RenameParams,
        conversations.ConversationResult,
        lambda service, params, _: service.conversations.rename(params),
    ),
    Method(
        "coppice/conversation/delete",
        conversations.DeleteParams,
        conversations.DeleteResult,
        lambda service, params, _: service.conversations.delete(params),
    ),
    Method(
        "coppice/conversation/import",
        conversations.ImportParams,
        conversations.ImportResult,
        lambda service, params, _: service.portability.import_(params),
    ),
    Method(
        "coppice/conversation/export",
        conversations.ExportParams,
        conversations.ExportResult,
        lambda service, params, _: service.portability.export(params),
        looks=True,
    ),
    Method(
        "coppice/conversation/search",
        navigation.SearchParams,
        navigation.SearchResult,
        lambda service, params, _: service.searching.search(params),
    ),
    Method(
        "coppice/append",
        trees.AppendParams,
        trees.AppendResult,
        lambda service, params, _: service.trees.append(params),
        opens=True,
    ),
    Method(
        "coppice/entries",
        trees.EntriesParams,
        trees.EntriesResult,
        lambda service, params, _: service.trees.entries(params),
    ),
    Method(
        "coppice/tree",
        trees.TreeParams,
        trees.TreeResult,
        lambda service, params, _: service.trees.tree(params),
    ),
    Method(
        "coppice/context",
        trees.ContextParams,
        trees.ContextResult,
        lambda service, params, _: service.views.context(params),
    ),
    Method(
        "coppice/usage",
        usage.UsageParams,
        usage.UsageState,
        lambda service, params, _: service.views.usage(params),
    ),
    Method(
        "coppice/files",
        trees.FilesParams,
        trees.FilesResult,
        lambda service, params, _: service.views.files(params),
        looks=True,
    ),
    Method(
        "coppice/compactPreview",
        compaction.CompactPreviewParams,
        compaction.CompactPreviewResult,
        lambda service, params, _: service.compacting.preview(params),
        looks=True,
    ),
    Method(
        "coppice/compact",
        compaction.CompactParams,
        compaction.CompactResult,
        lambda service, params, progress: service.compacting.compact(params, progress),
        long=True,
        looks=True,
    ),
    Method(
        "coppice/undoCompaction",
        navigation.UndoCompactionParams,
        navigation.UndoCompactionResult,
        lambda service, params, _: service.undoing.undo_compaction(params),
        looks=True,
    ),
    Method(
        "coppice/navigatePreview",
        navigation.NavigatePreviewParams,
        navigation.NavigatePreviewResult,
        lambda service, params, _: service.navigating.preview(params),
        looks=True,
    ),
    Method(
        "coppice/navigate",
        navigation.NavigateParams,
        navigation.NavigateResult,
        lambda service, params, progress: service.navigating.navigate(params, progress),
        long=True,
        opens=True,
    ),
    Method(
        "coppice/summarize",
        navigation.SummarizeParams,
        navigation.SummarizeResult,
        lambda service, params, progress: service.spans.summarize(params, progress),
        long=True,
        looks=True,
    ),
    Method(
        "coppice/label",
        navigation.LabelParams,
        navigation.LabelResult,
        lambda service, params, _: service.marking.label(params),
    ),
    Method(
        "coppice/pin",
        navigation.PinParams,
        navigation.PinResult,
        lambda service, params, _: service.marking.pin(params),
    ),
    Method(
        "coppice/conversation/fork",
        navigation.ForkParams,
        navigation.ForkResult,
        lambda service, params, _: service.forking.fork(params),
        long=True,
        looks=True,
    ),
    Method(
        "coppice/preparePrompt",
        recovery.PreparePromptParams,
        recovery.PreparePromptResult,
        lambda service, params, progress: service.thresholds.prepare_prompt(params, progress),
        long=True,
        opens=True,
    ),
    Method(
        "coppice/recover",
        recovery.RecoverParams,
        recovery.RecoverResult,
        lambda service, params, progress: service.recovering.recover(params, progress),
        long=True,
        looks=True,
    ),
    Method(
        "coppice/truncateToolResults",
        recovery.TruncateToolResultsParams,
        recovery.TruncateToolResultsResult,
        lambda service, params, _: service.truncating.truncate(params),
        looks=True,
    ),
    Method(
        "coppice/turn/begin",
        recovery.TurnParams,
        recovery.TurnResult,
        lambda service, params, _: service.turns.begin(params),
        opens=True,
    ),
    Method(
        "coppice/turn/end",
        recovery.TurnParams,
        recovery.TurnResult,
        lambda service, params, _: service.turns.end(params),
        looks=True,
    ),
    Method(
        "coppice/prompt",
        prompt.PromptParams,
        prompt.PromptResult,
        lambda service, params, progress: service.prompting.prompt(params, progress),
        long=True,
        partial_result=prompt.PromptUpdate,
        opens=True,
    ),
    Method(
        "coppice/cancel",
        compaction.CancelParams,
        compaction.CancelResult,
        lambda service, params, _: service.compacting.cancel(params),
    ),
)

METHODS: Final[dict[str, Method]] = {method.name: method for method in _ALL}
