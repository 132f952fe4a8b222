"""What the model no longer sees after a compaction."""

from coppice.service.breakdown import breakdown_of
from coppice.service.messages.compaction import DroppedReport, LossReport
from coppice.service.preparing import Preparation
from coppice.service.summarizing import Summary
from coppice.tree.view import ViewMessage


def loss_report(prepared: Preparation, summary: Summary) -> LossReport:
    """Counts what was cut off, by kind, and the files whose names the summary does not hold."""
    counter = prepared.counter
    by_kind = breakdown_of([ViewMessage(None, message) for message in summary.dropped], counter)
    rows = prepared.rows[: prepared.cut.first_kept]
    files = [*summary.ledger.read_files, *summary.ledger.modified_files]
    return LossReport(
        dropped=DroppedReport(
            entries=prepared.history_messages + prepared.turn_prefix_messages,
            tokens=sum(counter.tokens(row.size) for row in rows if row.type != "compaction"),
            by_kind=by_kind,
        ),
        files=[path for path in files if path not in summary.text],
        not_carried=[],
    )
