"""A request to summarize messages apart from any compaction."""

from collections.abc import Sequence
from typing import TypeVar

from coppice.compaction.file_blocks import FILES_SHARE, file_blocks
from coppice.compaction.summarizer import Kind, SummaryRequest, WrittenSummary
from coppice.files.ledger import Ledger
from coppice.service.usage import Counter
from coppice.tree.entries import BranchSummaryEntry, CompactionEntry
from coppice.tree.messages import Message


def span_request(
    messages: Sequence[Message],
    ledger: Ledger,
    *,
    limit: int,
    counter: Counter,
    instructions: str | None = None,
    kind: Kind = "history",
) -> tuple[SummaryRequest, str]:
    """The request, and the file blocks to put behind its answer; both together stay within `limit` tokens."""
    blocks = file_blocks(
        ledger.read_files,
        ledger.modified_files,
        max_tokens=int(FILES_SHARE * limit),
        count_tokens=counter.count_text,
    )
    request = SummaryRequest(
        history=messages,
        turn_prefix=[],
        kept=[],
        previous_summary=None,
        instructions=instructions,
        max_tokens=max(1, limit - counter.count_text(blocks)),
        count_tokens=counter.count_text,
        modified_files=ledger.modified_files,
        kind=kind,
    )
    return request, blocks


def with_blocks(prose: str, blocks: str) -> str:
    """A summary's text with its file blocks, if there are any."""
    return "\n\n".join(filter(None, (prose.strip(), blocks)))


Signed = TypeVar("Signed", CompactionEntry, BranchSummaryEntry)


def signed(entry: Signed, written: WrittenSummary) -> Signed:
    """The entry with the model that wrote its summary, if one did."""
    model = written.details.get("model")
    return entry if model is None else entry.model_copy(update={"model": model})
