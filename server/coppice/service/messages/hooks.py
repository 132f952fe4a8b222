"""Messages of hooks: what is about to happen, and what a hook wants changed about it."""

from typing import Any, Literal

from coppice.service.messages.base import ConversationParams, WireModel
from coppice.service.messages.compaction import CompactionReason, CompactPreviewResult


class CompactionPreparation(CompactPreviewResult):
    """What a compaction is about to do; `text` is what it would summarize, as a summarizer is given it."""

    text: str


class WillCompactParams(ConversationParams):
    reason: CompactionReason
    preparation: CompactionPreparation
    instructions: str | None = None


class HookCompaction(WireModel):
    """A summary to store in place of ours, held to the same checks.

    `firstKeptEntryId` moves the cut to another entry of the view that a cut can stand before. `details` are
    kept in the entry; its file lists are always ours.
    """

    summary: str
    first_kept_entry_id: str | None = None
    details: dict[str, Any] | None = None


class WillCompactResult(WireModel):
    """With `cancel` nothing is compacted. `instructions` are added to those that were asked with."""

    cancel: bool = False
    compaction: HookCompaction | None = None
    instructions: str | None = None


class WillNavigateParams(ConversationParams):
    """`entriesToSummarize` are the entries that would be left, oldest first."""

    target_id: str
    old_leaf_id: str | None
    common_ancestor_id: str | None
    entries_to_summarize: list[str]
    user_wants_summary: bool


class HookSummary(WireModel):
    """A summary of the branch that is left, in place of ours; `details` are kept in its entry."""

    summary: str
    details: dict[str, Any] | None = None


class WillNavigateResult(WireModel):
    """With `cancel` the leaf stays. A `summary` is stored whether or not one was asked for.

    `instructions` are added to those that were asked with, or stand in their place and ours with
    `replaceInstructions`. `label` names the summary, or the target where there is none.
    """

    cancel: bool = False
    summary: HookSummary | None = None
    instructions: str | None = None
    replace_instructions: bool = False
    label: str | None = None


class WillForkParams(ConversationParams):
    entry_id: str
    position: Literal["before", "at"]


class WillForkResult(WireModel):
    """With `cancel` nothing is copied."""

    cancel: bool = False
