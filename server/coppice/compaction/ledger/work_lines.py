"""Where the work is, as statements: commits, changed files, checks, tasks, problems, and what comes next."""

from collections.abc import Iterator, Sequence
from typing import Final

from coppice.compaction.ledger.line import Line, Section, Writing
from coppice.compaction.phrases import Phrases
from coppice.compaction.text.names import names_in
from coppice.compaction.text.paths import folded
from coppice.compaction.text.sentences import ended, label, one_line, whole_sentences
from coppice.compaction.text.units import units_of
from coppice.protocol.ledger import ChangedFile, Commit, Event, Problem, Task

_DETAILED_COMMITS: Final = 6  # commits that are described; older ones get a line together (guess)
_BODY_CHARS: Final = 900  # characters of a commit's message (guess)
_FILES_SHOWN: Final = 8  # files in a list; older ones are counted by folder (guess)
_HASH: Final = 10  # characters of a commit's hash (git shows 7 or more)
_LEAST_HASH: Final = 7  # characters of a hash that a summary must have (git's shortest)


def work_lines(writing: Writing) -> Iterator[Line]:
    """The lines about the state, in no order."""
    yield from _commits(writing)
    yield from _routine(writing)
    yield from _state(writing)
    yield from _tasks(writing)
    yield from _problems(writing)


def _commits(writing: Writing) -> Iterator[Line]:
    commits = writing.ledger.commits
    for age, commit in enumerate(commits[: -_DETAILED_COMMITS - 1 : -1]):
        keys = (commit.hash[:_LEAST_HASH] or commit.subject,)
        text = _commit(writing.phrases, commit)
        yield Line("done", text, 90 - 3 * age, len(commits) - age, commit.entry_id, keys=keys)
    older = commits[:-_DETAILED_COMMITS]
    if older:
        stated = "; ".join(f"{commit.hash[:_HASH]} {commit.subject}".strip() for commit in older[-12:])
        yield Line("done", writing.phrases.earlier_commits.format(commits=stated), 60, 0)


def _commit(phrases: Phrases, commit: Commit) -> str:
    facts = [phrases.on_branch.format(branch=commit.branch)] if commit.branch else []
    facts.append(phrases.pushed if commit.pushed else phrases.not_pushed)
    head = phrases.committed.format(hash=commit.hash[:_HASH], subject=commit.subject)
    body = whole_sentences(" ".join(map(ended, units_of(commit.body))), _BODY_CHARS)
    return f"{one_line(head)} ({', '.join(facts)}). {body}".strip()


def _routine(writing: Writing) -> Iterator[Line]:
    """How steps were ended so far: the style of commit messages, and the commands around a commit."""
    phrases, ledger = writing.phrases, writing.ledger
    if ledger.commits:
        last = ledger.commits[-1]
        trailer = phrases.trailer.format(trailer=last.trailer) if last.trailer else ""
        text = phrases.commit_style.format(subject=last.subject, trailer=trailer)
        yield Line("context", text, 78, -1, verbatim=True)
    if len(ledger.routine) > 1:
        commands = " → ".join(f"`{command}`" for command in ledger.routine)
        yield Line("context", phrases.routine.format(commands=commands), 79, 0)


def _state(writing: Writing) -> Iterator[Line]:
    phrases, ledger = writing.phrases, writing.ledger
    if ledger.recent and not ledger.finished:
        events = (f"({n}) {_event(writing, event)}" for n, event in enumerate(ledger.recent, 1))
        text = phrases.recent.format(events="; ".join(events))
        yield Line("in_progress", text, 98, 2_000, verbatim=True)
    yield from _next_steps(writing)
    if ledger.uncommitted:
        checked = any(not check.stale for check in ledger.checks)
        where = phrases.on.format(branch=ledger.branch) if ledger.branch else ""
        text = phrases.uncommitted.format(where=where, files=_changed(writing, ledger.uncommitted))
        keys = tuple(writing.named(file.path) for file in ledger.uncommitted[-_FILES_SHOWN:])
        text = text if checked else f"{text} {phrases.unverified}"
        yield Line("in_progress", text, 97, 0, keys=keys)
    for place, check in enumerate(ledger.checks):
        text = (phrases.passed if check.passed else phrases.failed).format(command=check.command)
        text += f": {check.result}" if check.result else ""
        text = ended(f"{text} ({phrases.stale})" if check.stale else text)
        section: Section = "done" if check.passed else "in_progress"
        priority, keys = 84 - 3 * (len(ledger.checks) - place), (check.command,)
        yield Line(section, text, priority, 1_000 + place, check.entry_id, keys=keys)
    for place, job in enumerate(ledger.jobs):
        if job.state == "running":
            text = phrases.job_running.format(command=label(" && ".join(job.command.splitlines())), id=job.id)
            yield Line("in_progress", text, 88, 500 + place, job.entry_id, keys=(job.id,))


def _next_steps(writing: Writing) -> Iterator[Line]:
    """The steps that follow from the state: finish, verify, commit, complete what was asked."""
    phrases, ledger = writing.phrases, writing.ledger
    asked = [each for each in ledger.requests if each.kind == "request" and each.withdrawn_by is None]
    stale = list(dict.fromkeys(check.command for check in reversed(ledger.checks) if check.stale))[:3]
    if ledger.finished and ledger.intent:
        yield Line("next_steps", phrases.asked.format(text=ledger.intent), 94, 0)
    if not ledger.finished and any(event.kind == "planned" for event in ledger.recent):
        yield Line("next_steps", phrases.go_on, 84, 1)
    if ledger.uncommitted and stale:
        commands = ", ".join(f"`{command}`" for command in stale)
        yield Line("next_steps", phrases.check_next.format(commands=commands), 83, 2)
    if ledger.uncommitted and ledger.commits:
        yield Line("next_steps", phrases.commit_next, 82, 3)
    if asked and not ledger.finished:
        phrase = phrases.complete if ledger.recent else phrases.begin
        text = phrase.format(text=whole_sentences(asked[-1].text, 240))
        yield Line("next_steps", text, 81, 4, asked[-1].entry_id, verbatim=True)


def _event(writing: Writing, event: Event) -> str:
    phrases = writing.phrases
    paths = [writing.named(path) for path in event.text.split(", ")]
    text = {
        "announced": phrases.announced,
        "planned": phrases.planned,
        "changed": phrases.tried_change if event.failed else phrases.changed,
        "ran": phrases.ran,
        "started": phrases.started,
        "read": phrases.read,
    }[event.kind].format(text=", ".join(paths) if event.kind in ("changed", "read") else event.text)
    if event.failed:
        return f"{text} {phrases.event_failed.format(error=event.result)}"
    if event.kind == "ran" and not event.result:
        return phrases.event_succeeded.format(text=text)
    return f"{text} ({event.result})" if event.result else text


def _changed(writing: Writing, files: Sequence[ChangedFile]) -> str:
    stated = [_file(writing, file) for file in reversed(files[-_FILES_SHOWN:])]
    older = folded([writing.named(file.path) for file in files[:-_FILES_SHOWN]], most=4)
    return ", ".join([*stated, *older])


def _file(writing: Writing, file: ChangedFile) -> str:
    phrases, path = writing.phrases, writing.named(file.path)
    if file.names and file.kind != "deleted":
        return phrases.with_names.format(path=path, names=", ".join(file.names[-4:]))
    return {"deleted": phrases.deleted, "created": phrases.created}.get(file.kind, "{path}").format(path=path)


def _tasks(writing: Writing) -> Iterator[Line]:
    phrases, tasks = writing.phrases, writing.ledger.tasks
    begun = [task.id for task in tasks if task.id and task.state in ("done", "in_progress")]
    states = {"in_progress": phrases.state_in_progress, "blocked": phrases.state_blocked}
    for place, task in enumerate(task for task in tasks if task.state != "done"):
        has_begun = bool(task.id) and any(each.startswith(f"{task.id}.") for each in begun)
        is_next = task.state == "open" and not has_begun
        state = states.get(task.state, phrases.state_open if is_next else phrases.state_begun)
        text = phrases.task_state.format(task=_task(task), state=state)
        section: Section = "next_steps" if is_next else "in_progress"
        priority, keys = 87 - place / 100 if is_next else 96, (task.id or task.title,)
        yield Line(section, text, priority, 100 + place, task.entry_id, keys=keys)
    done = [task for task in tasks if task.state == "done"]
    if done:
        stated = "; ".join(_task(task) for task in done[-12:])
        yield Line("done", phrases.tasks_done.format(tasks=stated), 70, 800)


def _problems(writing: Writing) -> Iterator[Line]:
    problems = writing.ledger.problems
    for place, problem in enumerate(problems):
        age, text = len(problems) - place, _problem(writing, problem)
        if problem.open:
            keys = tuple(names_in(problem.what))[:2] or (problem.what,)
            yield Line("blocked", text, 92 - age / 2, place, problem.entry_id, referable=True, keys=keys)
        elif problem.explanation or problem.fix:
            yield Line("context", text, 76 - age, place, problem.entry_id, referable=True)


def _problem(writing: Writing, problem: Problem) -> str:
    phrases = writing.phrases
    parts = [ended(phrases.problem.format(what=problem.what, error=problem.error))]
    if problem.explanation:
        parts.append(ended(problem.explanation))
    if problem.fix and not problem.open:
        fixed = phrases.fixed_in.format(files=", ".join(writing.named(path) for path in problem.fix[-3:]))
        if problem.code:
            fixed += " " + phrases.fixed_with.format(code=problem.code)
        parts.append(f"{fixed}.")
    return " ".join(parts)


def _task(task: Task) -> str:
    return f"{task.id} ({task.title})" if task.id and task.title else task.id or task.title
