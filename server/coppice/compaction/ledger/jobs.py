"""What was started in the background, and whether it has reported."""

import re
from dataclasses import replace
from typing import Final

from coppice.compaction.ledger.shell import result_of
from coppice.compaction.ledger.steps import Action, exit_code_in, strings_in
from coppice.compaction.text.sentences import clip
from coppice.compaction.words import pattern, raw
from coppice.protocol.ledger import Job, WorkLedger

_COMMAND_CHARS: Final = 200  # characters of a command (guess)
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
    if not action.commands or not _BACKGROUND.search(head):
        return False
    match = _ID.search(head)
    if match is None:
        return False
    ledger.jobs = [job for job in ledger.jobs if job.id != match[1]]
    ledger.jobs.append(Job(entry_id=action.entry, id=match[1], command="\n".join(action.commands)))
    return True


def reported(ledger: WorkLedger, action: Action) -> Action | None:
    """The action of a job's own command, when `action` brought its end; None otherwise."""
    job = _job_named(ledger, [*strings_in(action.arguments), *map(str, _numbers(action.arguments))])
    if job is None or _BACKGROUND.search(action.output[:_HEAD]) or "status>running" in action.output[:_HEAD]:
        return None
    code = exit_code_in(action.output)
    passed, line = result_of(action.output)
    if code is None and passed is None and not _FINISHED.search(action.output[:_HEAD]):
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
    for job in reversed(ledger.jobs):
        is_long = len(job.id) >= _LONG_ID
        if job.state == "running" and any(job.id == text or (is_long and job.id in text) for text in texts):
            return job
    return None


def _numbers(value: object) -> list[int]:
    return [item for item in value.values() if isinstance(item, int)] if isinstance(value, dict) else []


def label(job: Job) -> str:
    """The job's command on one line."""
    return clip(" && ".join(job.command.splitlines()), _COMMAND_CHARS)
