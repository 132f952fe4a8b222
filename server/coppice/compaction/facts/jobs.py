"""Commands that were started in the background, and whether they have reported."""

import re
from collections.abc import Iterable
from typing import Final

from coppice.compaction.actions.action import Action
from coppice.compaction.actions.outputs import exit_code_in
from coppice.compaction.text.sentences import label, one_line
from coppice.protocol.state import Job, JobState, WorkState

_MOST_JOBS: Final = 40  # of a conversation; the recorded ones have at most 9
_ID_NAMES: Final = (
    "bash_id",
    "task_id",
    "shell_id",
    "session_id",
    "process_id",
    "id",
    "sessionId",
    "taskId",
    "job_id",
)
_STATUS: Final = re.compile(
    r"<status>\s{0,4}(\w{1,20})\s{0,4}</status>|^\W{0,4}status\W{1,4}(\w{1,20})", re.MULTILINE | re.IGNORECASE
)
_NOTICE: Final = re.compile(r"<(?:task|shell|bash|job)-?id>\s{0,4}([A-Za-z0-9_-]{1,60})")
_STATES: Final[dict[str, JobState]] = {
    "completed": "finished", "finished": "finished", "exited": "finished", "success": "finished",
    "succeeded": "finished",
    "failed": "failed", "error": "failed", "killed": "stopped", "stopped": "stopped", "cancelled": "stopped",
}  # fmt: skip
_STOPS: Final = ("killshell", "killbash", "taskstop", "killtask", "stoptask")


class Jobs:
    """Follows background commands by the id that the tool gave them."""

    def __init__(self, state: WorkState) -> None:
        self._jobs = state.jobs
        self._running = {job.id: job for job in state.jobs if job.state == "running"}
        self.ended: dict[str, JobState] = {}
        """The jobs that the newest action ended."""

    def take(self, action: Action) -> None:
        """Takes in a start, a look at or an end of a job."""
        self.ended = {}
        if action.running:
            job = Job(entry_id=action.entry, id=action.running, command=label(action.lines[0]))
            self._jobs.append(job)
            self._running[job.id] = job
            del self._jobs[:-_MOST_JOBS]
            return
        named = (str(action.arguments[name]) for name in _ID_NAMES if name in action.arguments)
        affected = next((self._running[each] for each in named if each in self._running), None)
        if affected is None:
            return
        if re.sub(r"[^a-z]", "", action.tool.lower()).endswith(_STOPS) and not action.failed:
            self._end(affected, "stopped", "", action.entry)
        else:
            self._report(affected, action.output, action.entry, action.exit_code)

    def adopt(self, jobs: Iterable[Job]) -> None:
        """Takes over running jobs of a branch that was left."""
        for job in jobs:
            if job.state == "running" and job.id not in self._running:
                self._jobs.append(job)
                self._running[job.id] = job

    def notice(self, text: str, entry: str) -> None:
        """Takes in a message of the harness about a job."""
        for match in _NOTICE.finditer(text[:20_000]):
            job = self._running.get(match[1])
            if job is not None:
                self._report(job, text[match.start() : match.start() + 2_000], entry)

    def _report(self, job: Job, text: str, entry: str, exit_code: int | None = None) -> None:
        head = f"{text[:1_000]}\n{text[-300:]}"
        status, code = _STATUS.search(head), exit_code_in(head)
        state = _STATES.get((status[1] or status[2]).lower()) if status else None
        if code is not None and (state or not status):
            state = "failed" if code else "finished"
        elif exit_code is not None and not status:
            state = "failed" if exit_code else "finished"
        if state is not None:
            lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("<")]
            self._end(job, state, one_line(lines[-1])[:160] if lines else "", entry)

    def _end(self, job: Job, state: JobState, result: str, entry: str) -> None:
        job.state, job.result, job.entry_id = state, result, entry
        del self._running[job.id]
        self.ended[job.id] = state
