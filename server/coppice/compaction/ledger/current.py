"""A ledger of the first part of a path, with what the rest of the path settled."""

from collections.abc import Iterable

from coppice.compaction.ledger.builder import LedgerBuilder
from coppice.protocol.ledger import WorkLedger
from coppice.tree.messages import Message


def settled_by(ledger: WorkLedger, later: Iterable[Message], root: str | None = None) -> WorkLedger:
    """`ledger` without what `later` messages finished: fixed problems, committed files, closed tasks, jobs.

    Paths below `root` are named from there. Of what happened later only the results of checks and the last
    events are added: a reader must not take for undone what was done.
    """
    now = LedgerBuilder(ledger.model_copy(deep=True), root).add_messages(later).ledger
    changed = {file.path for file in now.uncommitted}
    problems = {(each.what, each.error): each for each in now.problems}
    states = {task.id or task.title: task.state for task in now.tasks}
    jobs = {job.id: job for job in now.jobs}
    return ledger.model_copy(
        update={
            "uncommitted": [file for file in ledger.uncommitted if file.path in changed],
            "problems": [
                problems.get((each.what, each.error), each.model_copy(update={"open": False}))
                for each in ledger.problems
            ],
            "tasks": [
                task.model_copy(update={"state": states.get(task.id or task.title, "done")})
                for task in ledger.tasks
            ],
            "jobs": [jobs.get(job.id, job) for job in ledger.jobs],
            "checks": now.checks,
            "notes": now.notes,
            "finished": now.finished,
            "intent": now.intent,
            "recent": now.recent,
        }
    )
