"""The entry of a compaction: what it holds, and how it is appended."""

from dataclasses import replace
from typing import Any, cast

from coppice.compaction.facts.ledger import ledger_details
from coppice.errors import StaleLeafError
from coppice.service.compaction.preparing import Preparation
from coppice.service.compaction.summarizing import FinishedSummary
from coppice.service.compaction.summary_parts import signature
from coppice.service.core.context import now
from coppice.service.core.conversation_path import ConversationPath
from coppice.store.schema.records import NewRecord, PathEnd
from coppice.tree.entries import CompactionEntry
from coppice.tree.ids import new_entry_id


def append_at_leaf(
    prepared: Preparation, summary: FinishedSummary, entry: CompactionEntry
) -> tuple[CompactionEntry, ConversationPath]:
    """Appends the compaction at the leaf, which may have grown meanwhile; the entry as stored, and the path.

    Raises StaleLeafError as `check_path` does.
    """
    store, conversation_id = prepared.path.store, prepared.path.conversation.id

    def append(path: ConversationPath) -> tuple[CompactionEntry, ConversationPath]:
        end = check_path(prepared, path)
        grown = entry.model_copy(update=_sizes(prepared, summary, end))
        record = NewRecord(grown, summary.size, summary.task.files.to_json())
        done = store.append(conversation_id, [record], expected_leaf_id=end.id, modified_at=entry.timestamp)
        return cast("CompactionEntry", store.entry(conversation_id, entry.id)), path.after(done)

    return prepared.path.retry_at_leaf(append)


def check_path(prepared: Preparation, path: ConversationPath) -> PathEnd:
    """The end of `path`, which goes on from what was prepared and was not compacted since.

    Raises StaleLeafError where it is another branch, or somebody else compacted it.
    """
    end = path.end
    if end is None or not path.contains(prepared.end.id) or end.compaction_key != prepared.end.compaction_key:
        raise StaleLeafError(
            "The conversation moved on to another branch or was compacted elsewhere while it was being "
            "summarized; nothing was changed. Compact it again if it is still too long.",
            leafId=path.leaf_id,
        )
    return end


def entry_of(prepared: Preparation, summary: FinishedSummary, reason: str) -> CompactionEntry:
    """The entry as it would be appended now. Reads the store."""
    return CompactionEntry(
        id=new_entry_id(),
        parent_id=prepared.end.id,
        timestamp=now(),
        summary=summary.text,
        first_kept_entry_id=prepared.first_kept.id,
        reason=reason,
        details={
            **summary.written.details,
            **summary.task.files.details(),
            "ledger": ledger_details(summary.task.work),
            "summarizer": summary.written.summarizer,
        },
        **_sizes(prepared, summary, prepared.end),
        **signature(summary.written, from_hook=summary.from_hook),
    )


def view_after(prepared: Preparation, summary: FinishedSummary, end: PathEnd) -> int:
    """The tokens of the view once the compaction is at `end`. Reads the store."""
    after: int = _sizes(prepared, summary, end)["tokens_after"]
    return after


def _sizes(prepared: Preparation, summary: FinishedSummary, end: PathEnd) -> dict[str, Any]:
    """The view's tokens before and after, with what was appended while the summary was written.

    Reads the store.
    """
    appended = prepared.counter.tokens(end.total - prepared.end.total)
    pinned = replace(prepared.path, end=end).pinned(prepared.first_kept.depth)
    kept_tokens = prepared.cut.kept_tokens + prepared.counter.pinned_tokens(pinned)
    after = prepared.counter.tokens(summary.size) + kept_tokens + appended
    return {"tokens_before": prepared.tokens_before + appended, "tokens_after": after}
