"""The ledger written out: each fact as one statement, with the section it belongs to and how much it matters.

A priority orders statements by what a colleague who takes the work over needs first; its numbers only
compare. They were set by hand and checked with tests/benchmarks/takeover.py on sessions that rules were not
written for.
"""

from coppice.compaction.ledger.line import Line, Writing
from coppice.compaction.ledger.statement_lines import statement_lines
from coppice.compaction.ledger.work_lines import work_lines
from coppice.protocol.ledger import WorkLedger


def lines_of(ledger: WorkLedger) -> list[Line]:
    """All lines of `ledger`, in no order."""
    writing = Writing.of(ledger)
    return [*statement_lines(writing), *work_lines(writing)]
