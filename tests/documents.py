"""The whole document of a summary, as a compaction stores it without file lists."""

from coppice.compaction.asking.summarizer import SummaryRequest
from coppice.compaction.writing.document import Parts, computed_parts
from coppice.protocol.ledger import WorkLedger
from coppice.summarizers.offline import ledger_for


def parts_of(request: SummaryRequest) -> Parts:
    """What is computed for a summary of `request.max_tokens`."""
    ledger: WorkLedger = ledger_for(request)
    return computed_parts(
        ledger,
        ledger.state,
        "",
        limit=request.max_tokens,
        count_tokens=request.count_tokens,
        references=request.references,
    )
