"""What the model no longer sees after a compaction."""

from typing import Final

from coppice.compaction.facts.constraints import constraints_in
from coppice.compaction.facts.passages import passages_of
from coppice.compaction.facts.ranking import rank_identifiers
from coppice.service.breakdown import breakdown_of
from coppice.service.messages.compaction import DroppedReport, LossReport
from coppice.service.preparing import Preparation
from coppice.service.summarizing import FinishedSummary
from coppice.tree.view import ViewMessage

MOST_FACTS: Final = 50


def loss_report(prepared: Preparation, summary: FinishedSummary) -> LossReport:
    """Counts what was cut off, by kind, and names the files and facts that the summary does not hold.

    Facts are the user's constraints, and of the exact identifiers the ones most likely to be needed again.
    CPU-bound: call it off the event loop.
    """
    counter = prepared.counter
    rows = prepared.rows[: prepared.cut.first_kept]
    files = [*summary.ledger.read_files, *summary.ledger.modified_files]
    return LossReport(
        dropped=DroppedReport(
            entries=prepared.history_messages + prepared.turn_prefix_messages,
            tokens=sum(counter.tokens(row.size) for row in rows if row.type != "compaction"),
            by_kind=breakdown_of([ViewMessage(None, message) for message in summary.dropped], counter),
        ),
        files=[path for path in files if path not in summary.text],
        not_carried=_not_carried(summary),
    )


def _not_carried(summary: FinishedSummary) -> list[str]:
    constraints = [constraint.text for constraint in constraints_in(summary.dropped)]
    ranked = [identifier.text for identifier in rank_identifiers(passages_of(summary.dropped))]
    return [fact for fact in (*constraints, *ranked[:MOST_FACTS]) if fact not in summary.text]
