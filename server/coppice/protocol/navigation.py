"""Messages that walk a conversation tree, summarize branches and mark entries."""

from typing import Annotated, Any, Literal

from pydantic import Field

from coppice.protocol.base import ConversationParams, LongParams, WireModel, WorkspaceUri
from coppice.protocol.conversations import Conversation, Limit, Name
from coppice.protocol.trees import EntryType
from coppice.tree.entries import BranchSummaryEntry, LabelEntry, PinEntry


class NavigatePreviewParams(ConversationParams):
    """The entry that a navigation would go to."""

    target_id: str


class NavigatePreviewResult(WireModel):
    """`entriesToSummarize` are the entries that would be left, oldest first; `tokens` is their size.

    `leafId` is the current leaf: navigating there is the way back.
    """

    common_ancestor_id: str | None
    entries_to_summarize: list[str]
    tokens: int
    leaf_id: str | None


class BranchFile(WireModel):
    """How a file differs where a branch ends from where it began. `path` is as the user is shown it.

    `added` and `removed` count lines; they are absent for what is no text. `onDisk` says how much of the
    difference the file has once the conversation is on the other branch.
    """

    path: Annotated[str, Field(min_length=1, max_length=4096)]
    kind: Literal["created", "changed", "deleted"]
    added: Annotated[int, Field(ge=0)] | None = None
    removed: Annotated[int, Field(ge=0)] | None = None
    on_disk: Literal["all", "part", "none"] | None = None


class NavigateParams(LongParams, ConversationParams):
    """With `summarize` the branch that is left is summarized for the one that is entered.

    The new leaf is the target; where that is a user's message, its parent, so that the message can be sent
    anew as another branch. A branch summary is appended there and is the leaf then.
    `instructions` are added to ours, or replace them with `replaceInstructions`. `label` names the
    summary, or the target where there is none.

    `branchFiles` is what the branch that is left changed in the files, from a client that records them (see
    `workspaceState` of `coppice/prompt`): the summary states it. Without it the summary names the files that
    tool calls changed.
    """

    target_id: str
    summarize: bool = False
    instructions: str | None = None
    replace_instructions: bool = False
    label: Name | None = None
    branch_files: Annotated[list[BranchFile], Field(max_length=10_000)] | None = None


class NavigateResult(WireModel):
    """`editorText` is the text of the target, when it is a user's message, without what was attached: it can
    be edited and sent again.

    `cancelled` is true when nothing changed, `aborted` when that was because somebody stopped it. `warnings`
    name the summarizers that failed before one succeeded, and the hooks that were skipped.
    """

    leaf_id: str | None
    editor_text: str | None = None
    summary_entry: BranchSummaryEntry | None = None
    cancelled: bool = False
    aborted: bool | None = None
    warnings: list[str] | None = None


class SummarizeParams(LongParams, ConversationParams):
    """The entries from `fromId` to `toId`, both included, of the path to `leafId`; by default all of it."""

    from_id: str | None = None
    to_id: str | None = None
    leaf_id: str | None = None
    instructions: str | None = None


class SummarizeResult(WireModel):
    """A summary that is stored nowhere; `tokens` is its size, `warnings` name summarizers that failed."""

    summary: str
    details: dict[str, Any]
    tokens: int
    summarizer: str
    warnings: list[str]


class ForkParams(LongParams, ConversationParams):
    """A new conversation of the path that ends `at` the entry, or `before` it."""

    entry_id: str
    position: Literal["before", "at"] = "at"
    name: Name | None = None


class ForkResult(WireModel):
    """`editorText` is the entry's text, when the fork ends before a user's message."""

    conversation: Conversation
    editor_text: str | None = None


class LabelParams(ConversationParams):
    """Without `label`, or with an empty one, the entry loses its name."""

    entry_id: str
    label: Name | None = None


class LabelResult(WireModel):
    """The entry that records the label."""

    entry: LabelEntry


class PinParams(ConversationParams):
    """With `pinned` the message is shown word for word in every later view; without, no longer."""

    entry_id: str
    pinned: bool


class PinResult(WireModel):
    """The entry that records the pin."""

    entry: PinEntry


class UndoCompactionParams(LongParams, ConversationParams):
    """By default the newest of the compactions and context edits that shape the current path's view."""

    compaction_id: str | None = None


class UndoCompactionResult(WireModel):
    """The leaf of the conversation without the compaction."""

    leaf_id: str | None


class SearchParams(LongParams):
    """In one conversation, in one workspace, or in every workspace folder."""

    query: Annotated[str, Field(min_length=1, max_length=1000)]
    conversation_id: str | None = None
    workspace_uri: WorkspaceUri | None = None
    limit: Limit = 50


class SearchHit(WireModel):
    """`snippet` is the place of the hit with its surroundings. `role` is that of a message. With `attached`
    the place is in a user's message, but an application put it there: a file, a selection, a reminder.
    """

    conversation_id: str
    entry_id: str
    type: EntryType
    role: str | None = None
    attached: bool | None = None
    snippet: str
    timestamp: str
    on_current_branch: bool


class SearchResult(WireModel):
    """The newest come first."""

    hits: list[SearchHit]
