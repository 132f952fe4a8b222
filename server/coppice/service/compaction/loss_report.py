"""What the model no longer sees after a compaction, in the ledger's terms."""

from typing import Final

from coppice.compaction.ledger.lines import lines_of
from coppice.compaction.text.comparing import normalized
from coppice.compaction.text.names import names_in
from coppice.protocol.compaction import DroppedReport, LossReport, SummaryChanges, UnsupportedClaim
from coppice.protocol.ledger import WorkLedger
from coppice.service.compaction.preparing import Preparation
from coppice.service.compaction.summarizing import FinishedSummary
from coppice.service.window.breakdown import breakdown_of
from coppice.tree.view import ViewMessage, is_sent

MOST_FACTS: Final = 50
"""Facts of a kind that the report names."""
_MUST_PRIORITY: Final = 80
"""Facts of the ledger from this priority on are worth a report when the summary does not state them."""
_STATED: Final = 0.6
"""Share of a fact's words that one line of the summary holds when it states the fact (guess)."""


def loss_report(prepared: Preparation, summary: FinishedSummary) -> LossReport:
    """Counts what was cut off, by kind, and names the files that the summary does not.

    `changes` compares the facts with those of the summary before. CPU-bound: call it off the event loop.
    """
    files, request = summary.task.files, summary.task.request
    dropped = [*request.history, *request.turn_prefix]
    unsupported = [] if summary.from_hook else summary.written.details.get("unsupported", [])
    return LossReport(
        dropped=DroppedReport(
            entries=prepared.count_summarized(0, prepared.cut.first_kept),
            tokens=prepared.cut_off_tokens,
            by_kind=breakdown_of(
                [ViewMessage(None, message) for message in dropped if is_sent(message)], prepared.counter
            ),
        ),
        files=[path for path in (*files.read_files, *files.modified_files) if path not in summary.text],
        changes=_changes(prepared, summary),
        unsupported=[UnsupportedClaim.model_validate(each) for each in unsupported],
    )


def _changes(prepared: Preparation, summary: FinishedSummary) -> SummaryChanges:
    """Of the facts of the summary before: what this one keeps, drops and closes; and what it adds."""
    previous = prepared.path.compaction_entry()
    before = previous.summary if previous is not None else ""
    closed = _closed(summary.task.work)
    old = [line.lstrip("-[]x 0123456789.") for line in before.splitlines() if line.startswith(("- ", "1"))]
    kept = [line for line in old if line and _is_stated(line, summary.text)]
    gone = [line for line in old if line and line not in kept]
    settled = [line for line in gone if any(name in line for name in closed)]
    new = [
        line
        for line in _facts(summary.task.work)
        if _is_stated(line, summary.text) and not _is_stated(line, before)
    ]
    return SummaryChanges(
        kept=len(kept),
        added=new[:MOST_FACTS],
        dropped=[line for line in gone if line not in settled][:MOST_FACTS],
        closed=settled[:MOST_FACTS],
    )


def _closed(ledger: WorkLedger) -> list[str]:
    """What names the tasks that are done and the problems that are fixed."""
    done = [task.id or task.title for task in ledger.tasks if task.state == "done"]
    return [*done, *(problem.what for problem in ledger.problems if not problem.open)]


def _facts(ledger: WorkLedger) -> list[str]:
    lines = [line for line in lines_of(ledger) if line.priority >= _MUST_PRIORITY]
    return [line.text for line in sorted(lines, key=lambda line: -line.priority)]


def _is_stated(fact: str, text: str) -> bool:
    if fact in text:
        return True
    # Only a line that names one of its names can state it.
    names, words = list(names_in(fact)), _words(fact)
    return any(
        len(words & _words(line)) >= _STATED * len(words)
        for line in text.splitlines()
        if not names or any(name in line for name in names)
    )


def _words(text: str) -> set[str]:
    return set(normalized(text).split())
