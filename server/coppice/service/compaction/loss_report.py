"""What the model no longer sees after a compaction, and how the state has changed since the one before."""

from typing import Final

from coppice.compaction.facts.ledger import stored_ledger
from coppice.compaction.writing.state_lines import state_lines
from coppice.protocol.compaction import DroppedReport, LossReport, SummaryChanges, UnsupportedClaim
from coppice.protocol.state import WorkState
from coppice.service.compaction.preparing import Preparation
from coppice.service.compaction.summarizing import FinishedSummary
from coppice.service.core.listed_files import first_files
from coppice.service.window.breakdown import breakdown_of
from coppice.tree.view import ViewMessage, is_sent

MOST_FACTS: Final = 50
"""Facts of a kind that the report names."""


def loss_report(prepared: Preparation, summary: FinishedSummary) -> LossReport:
    """Counts what was cut off, by kind, and names the files that the summary does not.

    `changes` compares the state with that of the compaction before. CPU-bound: call it off the event loop.
    """
    files, request = summary.task.files, summary.task.request
    dropped = [*request.history, *request.turn_prefix]
    unnamed = [path for path in (*files.read_files, *files.modified_files) if path not in summary.text]
    listed = first_files(unnamed)
    unsupported = [] if summary.from_hook else summary.written.details.get("unsupported", [])
    return LossReport(
        dropped=DroppedReport(
            entries=prepared.count_summarized(0, prepared.cut.first_kept),
            tokens=prepared.cut_off_tokens,
            by_kind=breakdown_of(
                [ViewMessage(None, message) for message in dropped if is_sent(message)], prepared.counter
            ),
        ),
        files=listed,
        files_left_out=len(unnamed) - len(listed) or None,
        changes=_changes(prepared, summary),
        unsupported=[UnsupportedClaim.model_validate(each) for each in unsupported],
    )


def _changes(prepared: Preparation, summary: FinishedSummary) -> SummaryChanges:
    """The state compared with that of the compaction before, by its lines."""
    previous = prepared.path.compaction_entry()
    stored = stored_ledger(previous.details) if previous is not None else None
    before = list(state_lines(stored.state, {})) if stored is not None else []
    now = list(state_lines(summary.task.work.state, {}))
    settled = _settled(stored.state, summary.task.work.state) if stored is not None else []
    gone = [line for line in before if line not in now]
    closed = [line for line in gone if any(f"`{name}`" in line or name in line for name in settled)]
    return SummaryChanges(
        kept=len(before) - len(gone),
        added=[line for line in now if line not in before][:MOST_FACTS],
        dropped=[line for line in gone if line not in closed][:MOST_FACTS],
        closed=closed[:MOST_FACTS],
    )


def _settled(before: WorkState, now: WorkState) -> list[str]:
    """The checks that failed and fail no more, the tasks that were done, and the jobs that ended."""
    failing = {check.command for check in now.checks if not check.passed}
    done = {task.title for task in now.tasks if task.state == "done"}
    running = {job.id for job in now.jobs if job.state == "running"}
    return [
        *(check.command for check in before.checks if not check.passed and check.command not in failing),
        *(task.title for task in before.tasks if task.title in done),
        *(job.id for job in before.jobs if job.state == "running" and job.id not in running),
    ]
