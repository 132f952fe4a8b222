"""Messages of compaction, its progress and its end."""

from typing import Annotated, Any, Literal

from pydantic import Field

from coppice.protocol.base import ConversationParams, LongParams, WireModel
from coppice.protocol.usage import TokenBreakdown
from coppice.tree.entries import CompactionEntry

CompactionReason = Literal["manual", "threshold", "overflow"]
CompactionStatus = Literal["completed", "cancelled", "failed", "skipped"]


class CompactPreviewParams(LongParams, ConversationParams):
    """`settings` override the configured ones for this request: `{"compaction": {...}}`."""

    leaf_id: str | None = None
    settings: dict[str, Any] | None = None


class CompactPreviewResult(WireModel):
    """What a compaction would do. The two message fields and all token fields are counts.

    Each list has at most 1,000 paths, the first ones; `filesLeftOut` counts the others, which
    `coppice/files` lists. It is absent where there is none.
    """

    first_kept_entry_id: str
    messages_to_summarize: int
    turn_prefix_messages: int
    is_split_turn: bool
    tokens_before: int
    kept_tokens: int
    previous_summary: bool
    read_files: list[str]
    modified_files: list[str]
    files_left_out: int | None = None


class CompactParams(LongParams, ConversationParams):
    """`draft` writes nothing; `summary` is a draft's text as a person edited it."""

    instructions: str | None = None
    draft: bool = False
    summary: str | None = None
    settings: dict[str, Any] | None = None


class DroppedReport(WireModel):
    """What a compaction takes out of the view: numbers of entries and tokens, and tokens by kind."""

    entries: int
    tokens: int
    by_kind: TokenBreakdown


class SummaryChanges(WireModel):
    """A summary compared with the one before it: how many of its lines are kept, and which facts are new,
    no longer stated, and no longer stated because they were closed.
    """

    kept: int = 0
    added: list[str] = Field(default_factory=list)
    dropped: list[str] = Field(default_factory=list)
    closed: list[str] = Field(default_factory=list)


class UnsupportedClaim(WireModel):
    """A path, hash, reference, number with its unit or quotation in a model's summary that nothing shows; or
    a check's command, a branch, a commit or a clean working tree that the computed state contradicts.

    `text` is the claim, `statement` the line that it is in, at most 200 characters of it; `shown` is what the
    state shows instead.
    """

    kind: Literal["hash", "path", "reference", "number", "quotation", "check", "worktree", "branch", "commit"]
    text: str
    statement: str
    shown: str = ""


class LossReport(WireModel):
    """What the model no longer sees, and which exact claims of a model's summary are unsupported: they occur
    neither in what was summarized, nor in the facts, nor in the summary before, or the state contradicts
    them. They are reported only.

    `files` are the files that the summary does not name, at most 1,000; `filesLeftOut` counts further ones.
    """

    dropped: DroppedReport
    files: list[str]
    files_left_out: int | None = None
    changes: SummaryChanges = Field(default_factory=SummaryChanges)
    unsupported: list[UnsupportedClaim] = Field(default_factory=list)


class CompactResult(WireModel):
    """`summarizer` names who wrote the summary, `offline` for instance."""

    entry: CompactionEntry
    tokens_before: int
    tokens_after: int
    first_kept_entry_id: str
    summarizer: str
    duration_ms: Annotated[int, Field(ge=0)]
    warnings: list[str]
    report: LossReport


class CancelParams(ConversationParams):
    """The conversation whose jobs are to be stopped."""


class CancelResult(WireModel):
    """The kinds of the jobs that were stopped, `compaction` for instance."""

    cancelled: list[str]


class CompactionStarted(ConversationParams):
    """`compactionId` names this attempt, until its one `compactionEnded`."""

    compaction_id: str
    reason: CompactionReason


class CompactionEnded(ConversationParams):
    """Sent once for each `coppice/compactionStarted`, with its `compactionId`, however the attempt ended.

    With `willRetry` the request that was too long is sent again. With `fromHook` a hook wrote the summary.
    `error` is a sentence for a person.
    """

    compaction_id: str
    reason: CompactionReason
    status: CompactionStatus
    will_retry: bool = False
    tokens_before: int | None = None
    tokens_after: int | None = None
    first_kept_entry_id: str | None = None
    entry_id: str | None = None
    from_hook: bool | None = None
    error: str | None = None
