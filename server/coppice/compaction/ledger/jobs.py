"""What was started in the background, and whether it has reported."""

import re
from dataclasses import replace
from typing import Final

from coppice.compaction.ledger.shell import result_of
from coppice.compaction.ledger.steps import Action, exit_code_in, strings_in
from coppice.compaction.words import pattern, raw
from coppice.protocol.ledger import Job, WorkLedger

_HEAD: Final = 600
"""Characters of an output in which a tool reports that it left a command running (guess)."""
_LONG_ID: Final = 5
"""Characters from which an id is looked for within texts; a shorter one is in many of them."""
_BACKGROUND: Final = pattern("BACKGROUND")
_ID: Final = re.compile(
    rf"\b{raw('JOB_ID')}(?: {raw('JOB_ID')})?[\"'`:=# ]{{1,4}}([A-Za-z0-9_-]{{1,40}})", re.IGNORECASE
)
_FINISHED: Final = pattern("FINISHED")


def started_job(ledger: WorkLedger, action: Action) -> bool:
    """Takes in a command that a tool left running; False when it did not."""
    head = action.output[:_HEAD]
    match = _ID.search(head) if action.commands and _BACKGROUND.search(head) else None
    if match is None:
        return False
    ledger.jobs = [job for job in ledger.jobs if job.id != match[1]]
    ledger.jobs.append(Job(entry_id=action.entry, id=match[1], command="\n".join(action.commands)))
    return True


def reported(ledger: WorkLedger, action: Action) -> Action | None:
    """The action of a job's own command, when `action` brought its end; None otherwise."""
    numbers = (str(value) for value in action.arguments.values() if isinstance(value, int))
    job, head = _job_named(ledger, [*strings_in(action.arguments), *numbers]), action.output[:_HEAD]
    if job is None or _BACKGROUND.search(head) or "status>running" in head:
        return None
    code = exit_code_in(action.output)
    passed, line = result_of(action.output)
    if code is None and passed is None and not _FINISHED.search(head):
        return None
    _finish(job, failed=bool(code) or passed is False, line=line)
    return replace(action, commands=(job.command,), failed=bool(code), exit_code=code)


def notified(ledger: WorkLedger, text: str) -> None:
    """Takes in a notice of the harness that a job ended."""
    for job in ledger.jobs:
        if job.state == "running" and job.id in text and _FINISHED.search(text):
            _finish(job, failed=bool(exit_code_in(text)), line="")


def _finish(job: Job, *, failed: bool, line: str) -> None:
    job.state = "failed" if failed else "finished"
    job.result = line


def _job_named(ledger: WorkLedger, texts: list[str]) -> Job | None:
    running = [job for job in reversed(ledger.jobs) if job.state == "running"]
    whole = "\n".join(texts)
    return next((job for job in running if job.id in (whole if len(job.id) >= _LONG_ID else texts)), None)
