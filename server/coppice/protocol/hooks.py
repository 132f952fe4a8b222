"""Messages of hooks: what is about to happen, what a hook wants changed about it, and what has happened."""

from typing import Annotated, Any, Literal

from pydantic import Field

from coppice.protocol.base import ConversationParams, ProgressToken, WireModel
from coppice.protocol.compaction import CompactionReason, CompactPreviewResult
from coppice.tree.entries import BranchSummaryEntry, CompactionEntry, Entry


class HookModel(WireModel):
    """A client's hook sends this on the request's `partialResultToken` before it asks a model.

    From then on it has `hooks.modelTimeoutSeconds` to answer, and progress names `model`.
    """

    model: Annotated[str, Field(max_length=200)]


class CompactionSizes(WireModel):
    """The sizes that the compaction works with, in tokens.

    They are the settings' own, fitted to the window. A hook's summary may have at most `maxSummaryTokens`.
    """

    context_window: int
    reserve_tokens: int
    keep_recent_tokens: int
    max_summary_tokens: int


class CompactionPreparation(CompactPreviewResult):
    """What a compaction is about to do.

    `historyEntries` are to be summarized, and `turnPrefixEntries`, the early part of a turn whose later part
    is kept; `historyText` and `turnPrefixText` are the same as a summarizer is given them. Entries that are
    only about the conversation are among them. `previousSummaryText` is the summary that the new one has to
    carry forward. `text` is all of these texts, each in its tags.
    """

    text: str
    history_entries: list[Entry]
    history_text: str
    turn_prefix_entries: list[Entry]
    turn_prefix_text: str
    previous_summary_text: str | None = None
    sizes: CompactionSizes


class WillCompactParams(ConversationParams):
    """The branch's other entries can be read with `coppice/entries`."""

    reason: CompactionReason
    preparation: CompactionPreparation
    instructions: str | None = None
    partial_result_token: ProgressToken | None = None


class HookCompaction(WireModel):
    """A summary to store in place of ours, held to the same checks.

    `firstKeptEntryId` moves the cut to another entry of the view at which a cut is allowed. `details`, any
    JSON, are kept in the entry: the properties of an object among its own, every other value as
    `hookDetails`. The file lists are always the server's.
    """

    summary: str
    first_kept_entry_id: str | None = None
    details: Any = None


class WillCompactResult(WireModel):
    """With `cancel` nothing is compacted. `instructions` are added to those that were asked with."""

    cancel: bool = False
    compaction: HookCompaction | None = None
    instructions: str | None = None


class WillNavigateParams(ConversationParams):
    """`entriesToSummarize` are the ids of the entries that would be left, oldest first.

    `entries` are the newest of them, as many as a summarizer would be given, and `text` is their text.
    """

    target_id: str
    old_leaf_id: str | None
    common_ancestor_id: str | None
    entries_to_summarize: list[str]
    entries: list[Entry]
    text: str
    user_wants_summary: bool
    partial_result_token: ProgressToken | None = None


class HookSummary(WireModel):
    """A summary of the branch that is left, in place of ours; `details` are kept as a compaction's are."""

    summary: str
    details: Any = None


class WillNavigateResult(WireModel):
    """With `cancel` the leaf stays. A `summary` is stored whether or not one was asked for.

    `instructions` are added to those that were asked with, or replace them and ours with
    `replaceInstructions`. `label` names the summary, or the target where there is none.
    """

    cancel: bool = False
    summary: HookSummary | None = None
    instructions: str | None = None
    replace_instructions: bool = False
    label: str | None = None


class WillForkParams(ConversationParams):
    """Sent before the path to an entry, or to the one `before` it, is copied into a new conversation."""

    entry_id: str
    position: Literal["before", "at"]


class WillForkResult(WireModel):
    """With `cancel` nothing is copied."""

    cancel: bool = False


class DidCompactParams(ConversationParams):
    """For extensions: a compaction was stored. With `from_hook` a hook wrote its summary."""

    reason: CompactionReason
    entry: CompactionEntry
    tokens_before: int
    tokens_after: int
    from_hook: bool


class DidNavigateParams(ConversationParams):
    """The leaf moved. `summaryEntry` is the summary of the branch that was left, `fromHook` a hook's."""

    old_leaf_id: str | None
    leaf_id: str | None
    summary_entry: BranchSummaryEntry | None = None
    from_hook: bool


class DidForkParams(ConversationParams):
    """A path of the conversation was copied into the new one `forkId`."""

    entry_id: str
    position: Literal["before", "at"]
    fork_id: str
