"""Messages that walk a conversation tree, summarize branches and mark entries."""

from typing import Annotated, Any, Literal

from pydantic import Field

from coppice.service.messages.base import ConversationParams, ProgressToken, WireModel
from coppice.service.messages.conversations import Conversation, Limit
from coppice.tree.entries import BranchSummaryEntry, LabelEntry, PinEntry


class NavigatePreviewParams(ConversationParams):
    target_id: str


class NavigatePreviewResult(WireModel):
    """`entriesToSummarize` are the entries that would be left, oldest first; `tokens` is their size.

    `leafId` is the current leaf: navigating there is the way back.
    """

    common_ancestor_id: str | None
    entries_to_summarize: list[str]
    tokens: int
    leaf_id: str | None


class NavigateParams(ConversationParams):
    """With `summarize` the branch that is left is summarized for the one that is entered.

    `instructions` are added to ours, or stand in their place with `replaceInstructions`. `label` names the
    summary, or the target where there is none.
    """

    target_id: str
    summarize: bool = False
    instructions: str | None = None
    replace_instructions: bool = False
    label: str | None = None
    work_done_token: ProgressToken | None = None


class NavigateResult(WireModel):
    """`editorText` is what the target said, when it was a person's: it can be edited and sent again.

    `cancelled` is true when nothing changed, `aborted` when that was because somebody stopped it. `warnings`
    tell who failed to write the summary before somebody did, and which hooks were passed over.
    """

    leaf_id: str | None
    editor_text: str | None = None
    summary_entry: BranchSummaryEntry | None = None
    cancelled: bool = False
    aborted: bool | None = None
    warnings: list[str] | None = None


class SummarizeParams(ConversationParams):
    """The entries from `fromId` to `toId`, both included, of the path to `leafId`; by default all of it."""

    from_id: str | None = None
    to_id: str | None = None
    leaf_id: str | None = None
    instructions: str | None = None
    work_done_token: ProgressToken | None = None


class SummarizeResult(WireModel):
    """A summary that is stored nowhere; `tokens` is its size, `warnings` tell who failed before."""

    summary: str
    details: dict[str, Any]
    tokens: int
    summarizer: str
    warnings: list[str]


class ForkParams(ConversationParams):
    """A new conversation of the path that ends `at` the entry, or `before` it."""

    entry_id: str
    position: Literal["before", "at"] = "at"
    name: str | None = None


class ForkResult(WireModel):
    """`editorText` is what the entry said, when the fork ends before a person's message."""

    conversation: Conversation
    editor_text: str | None = None


class LabelParams(ConversationParams):
    """Without `label`, or with an empty one, the entry loses its name."""

    entry_id: str
    label: str | None = None


class LabelResult(WireModel):
    entry: LabelEntry


class PinParams(ConversationParams):
    entry_id: str
    pinned: bool


class PinResult(WireModel):
    entry: PinEntry


class UndoCompactionParams(ConversationParams):
    """By default the newest compaction of the current path."""

    compaction_id: str | None = None


class UndoCompactionResult(WireModel):
    leaf_id: str | None


class SearchParams(WireModel):
    """In one conversation, in one workspace, or in every workspace folder."""

    query: Annotated[str, Field(min_length=1, max_length=1000)]
    conversation_id: str | None = None
    workspace_uri: str | None = None
    limit: Limit = 50


class SearchHit(WireModel):
    """`snippet` is the place of the hit with its surroundings."""

    conversation_id: str
    entry_id: str
    snippet: str
    timestamp: str
    on_current_branch: bool


class SearchResult(WireModel):
    hits: list[SearchHit]
