"""The requests of a client: for each its name, the types of its params and result, and how it is run.

`coppice.service.methods` binds the work. The features of the language server, the commands of
`workspace/executeCommand`, the JSON Schema, the TypeScript types and the tables of docs/protocol.md are made
from this table.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Generic, TypeVar

from coppice.protocol import (
    compaction,
    conversations,
    history,
    ledger,
    model,
    navigation,
    notes,
    outline,
    prompt,
    recovery,
    trees,
    usage,
)
from coppice.protocol.base import ConversationParams, LongParams, WireModel

Params = TypeVar("Params", bound=WireModel)
Result = TypeVar("Result", bound=WireModel)
LongRunningParams = TypeVar("LongRunningParams", bound=LongParams)


@dataclass(frozen=True)
class Method(Generic[Params, Result]):
    """A request that is answered at once, or a `LongMethod`.

    With `flush_file_events`, every file event that came before the request is stored before it is worked on.
    With `activates_conversation` likewise, and the params' conversation becomes the active one of its
    workspace: later file events are recorded in it. `command` is the name of the request's twin in
    `workspace/executeCommand`, for editors that cannot send custom methods. With `large_result`, a result may
    be as long as a conversation: few are made at a time.
    """

    name: str
    params: type[Params]
    result: type[Result]
    _: KW_ONLY
    flush_file_events: bool = False
    activates_conversation: bool = False
    command: str | None = None
    large_result: bool = False


@dataclass(frozen=True)
class LongMethod(Method[LongRunningParams, Result]):
    """A request that reports progress and can be cancelled while it runs.

    `partial_result` is the type of the values that are sent on the params' `partialResultToken`.
    """

    _: KW_ONLY
    partial_result: Any = None


CREATE: Final = Method(
    "coppice/conversation/create",
    conversations.CreateParams,
    conversations.ConversationResult,
    command="coppice.server.newConversation",
)
LIST: Final = Method(
    "coppice/conversation/list",
    conversations.ListParams,
    conversations.ListResult,
    command="coppice.server.list",
)
GET: Final = Method(
    "coppice/conversation/get",
    conversations.GetParams,
    conversations.GetResult,
    activates_conversation=True,
)
RENAME: Final = Method(
    "coppice/conversation/rename", conversations.RenameParams, conversations.ConversationResult
)
SET_MODEL: Final = Method(
    "coppice/conversation/setModel", conversations.SetModelParams, conversations.ConversationResult
)
DELETE: Final = Method("coppice/conversation/delete", conversations.DeleteParams, conversations.DeleteResult)
IMPORT: Final = LongMethod(
    "coppice/conversation/import", conversations.ImportParams, conversations.ImportResult
)
UPDATE_SOURCES: Final = LongMethod(
    "coppice/sources/update", conversations.UpdateSourcesParams, conversations.UpdateSourcesResult
)
EXPORT: Final = LongMethod(
    "coppice/conversation/export",
    conversations.ExportParams,
    conversations.ExportResult,
    flush_file_events=True,
    large_result=True,
)
SEARCH: Final = LongMethod("coppice/conversation/search", navigation.SearchParams, navigation.SearchResult)
RECALL: Final = LongMethod("coppice/recall", history.RecallParams, history.RecallResult)
HISTORY_TOOLS: Final = Method("coppice/historyTools", history.HistoryToolsParams, history.HistoryToolsResult)
CALL_HISTORY_TOOL: Final = LongMethod(
    "coppice/callHistoryTool", history.CallHistoryToolParams, history.CallHistoryToolResult
)
APPEND: Final = Method("coppice/append", trees.AppendParams, trees.AppendResult, activates_conversation=True)
ENTRIES: Final = Method("coppice/entries", trees.EntriesParams, trees.EntriesResult, large_result=True)
TREE: Final = Method("coppice/tree", trees.TreeParams, trees.TreeResult, command="coppice.server.tree")
OUTLINE: Final = Method("coppice/outline", outline.OutlineParams, outline.OutlineResult)
BRANCH_END: Final = Method("coppice/branchEnd", outline.BranchEndParams, outline.BranchEndResult)
CONTEXT: Final = Method("coppice/context", trees.ContextParams, trees.ContextResult, large_result=True)
USAGE: Final = Method("coppice/usage", usage.UsageParams, usage.UsageState)
LEDGER: Final = LongMethod("coppice/ledger", ledger.LedgerParams, ledger.LedgerResult)
FILES: Final = Method(
    "coppice/files", trees.FilesParams, trees.FilesResult, flush_file_events=True, large_result=True
)
COMPACT_PREVIEW: Final = LongMethod(
    "coppice/compactPreview",
    compaction.CompactPreviewParams,
    compaction.CompactPreviewResult,
    flush_file_events=True,
)
COMPACT: Final = LongMethod(
    "coppice/compact",
    compaction.CompactParams,
    compaction.CompactResult,
    flush_file_events=True,
    command="coppice.server.compact",
)
UNDO_COMPACTION: Final = LongMethod(
    "coppice/undoCompaction",
    navigation.UndoCompactionParams,
    navigation.UndoCompactionResult,
    flush_file_events=True,
)
NAVIGATE_PREVIEW: Final = Method(
    "coppice/navigatePreview",
    navigation.NavigatePreviewParams,
    navigation.NavigatePreviewResult,
    flush_file_events=True,
)
NAVIGATE: Final = LongMethod(
    "coppice/navigate",
    navigation.NavigateParams,
    navigation.NavigateResult,
    activates_conversation=True,
    command="coppice.server.navigate",
)
SUMMARIZE: Final = LongMethod(
    "coppice/summarize",
    navigation.SummarizeParams,
    navigation.SummarizeResult,
    flush_file_events=True,
    command="coppice.server.summarize",
)
LABEL: Final = Method("coppice/label", navigation.LabelParams, navigation.LabelResult)
PIN: Final = Method("coppice/pin", navigation.PinParams, navigation.PinResult)
FORK: Final = LongMethod(
    "coppice/conversation/fork", navigation.ForkParams, navigation.ForkResult, flush_file_events=True
)
PREPARE_PROMPT: Final = LongMethod(
    "coppice/preparePrompt",
    recovery.PreparePromptParams,
    recovery.PreparePromptResult,
    activates_conversation=True,
)
RECOVER: Final = LongMethod(
    "coppice/recover", recovery.RecoverParams, recovery.RecoverResult, flush_file_events=True
)
TRUNCATE_TOOL_RESULTS: Final = Method(
    "coppice/truncateToolResults",
    recovery.TruncateToolResultsParams,
    recovery.TruncateToolResultsResult,
    flush_file_events=True,
)
CLEAR_TOOL_RESULTS: Final = Method(
    "coppice/clearToolResults",
    recovery.ClearToolResultsParams,
    recovery.ClearToolResultsResult,
    flush_file_events=True,
)
ADD_NOTE: Final = Method("coppice/note/add", notes.AddNoteParams, notes.NoteResult)
LIST_NOTES: Final = Method("coppice/note/list", notes.ListNotesParams, notes.ListNotesResult)
REPLACE_NOTE: Final = Method("coppice/note/replace", notes.ReplaceNoteParams, notes.NoteResult)
REMOVE_NOTE: Final = Method("coppice/note/remove", notes.RemoveNoteParams, notes.NoteResult)
BEGIN_TURN: Final = Method(
    "coppice/turn/begin", recovery.TurnParams, recovery.TurnResult, activates_conversation=True
)
END_TURN: Final = Method("coppice/turn/end", recovery.TurnParams, recovery.TurnResult, flush_file_events=True)
PROMPT: Final = LongMethod(
    "coppice/prompt",
    prompt.PromptParams,
    prompt.PromptResult,
    activates_conversation=True,
    partial_result=prompt.PromptUpdate,
)
ASK_NOW: Final = Method("coppice/askNow", ConversationParams, prompt.AskNowResult)
MODEL: Final = Method("coppice/model", model.ModelParams, model.ModelResult)
CANCEL: Final = Method("coppice/cancel", compaction.CancelParams, compaction.CancelResult)

METHODS: Final[dict[str, Method[Any, Any]]] = {
    each.name: each for each in list(globals().values()) if isinstance(each, Method)
}
"""Every method above, by its name, in the order of the documents."""

COMMANDS: Final[dict[str, Method[Any, Any]]] = {
    method.command: method for method in METHODS.values() if method.command is not None
}
"""The commands of `workspace/executeCommand`, each with its method."""
