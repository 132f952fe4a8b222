"""A ledger of the first part of a path, with what the rest of the path settled."""

from collections.abc import Iterable

from coppice.compaction.ledger.builder import LedgerBuilder
from coppice.protocol.ledger import WorkLedger
from coppice.tree.messages import Message


def settled_by(ledger: WorkLedger, later: Iterable[Message], root: str | None = None) -> WorkLedger:
    """`ledger` without what `later` messages finished: fixed problems, committed files, closed tasks, jobs.

    Paths below `root` are named from there. Of what happened later only the last events are added: a reader
    must not take for undone what was done.
    """
    now = LedgerBuilder(ledger.model_copy(deep=True), root).add_messages(later).ledger
    changed = {file.path for file in now.uncommitted}
    open_problems = {(each.what, each.error) for each in now.problems if each.open}
    states = {task.id or task.title: task.state for task in now.tasks}
    jobs = {job.id: job for job in now.jobs}
    stale = {check.command: check for check in now.checks}
    return ledger.model_copy(
        update={
            "uncommitted": [file for file in ledger.uncommitted if file.path in changed],
            "problems": [
                each
                if not each.open or (each.what, each.error) in open_problems
                else each.model_copy(update={"open": False})
                for each in ledger.problems
            ],
            "tasks": [
                task.model_copy(update={"state": states.get(task.id or task.title, "done")})
                for task in ledger.tasks
            ],
            "jobs": [jobs.get(job.id, job) for job in ledger.jobs],
            "checks": [stale.get(check.command, check) for check in ledger.checks],
            "notes": now.notes,
            "finished": now.finished,
            "intent": now.intent,
            "recent": now.recent,
        }
    )
