"""The ledger written out: each fact as one statement, with the section it belongs to and how much it matters.

A priority orders statements by what a colleague who takes the work over needs first; its numbers only
compare. They were set by hand and checked with tests/benchmarks/takeover.py on sessions that rules were not
written for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from coppice.compaction.ledger.briefs import weight_of
from coppice.compaction.ledger.jobs import label
from coppice.compaction.ledger.statements import is_plan
from coppice.compaction.phrases import Phrases, phrases_for
from coppice.compaction.text.names import names_in
from coppice.compaction.text.paths import folded, without_common_root
from coppice.compaction.text.sentences import clip, ended, flowing, one_line, sentences_of, whole_sentences
from coppice.protocol.ledger import Brief, ChangedFile, Commit, Event, Problem, Request, Task, WorkLedger

Section = Literal[
    "goal", "constraints", "done", "in_progress", "blocked", "decisions", "next_steps", "context"
]

_FIRST_CHARS: Final = 1_600  # characters of the first and the newest requests (guess)
_LATER_CHARS: Final = 700  # characters of recent requests (guess)
_OLD_CHARS: Final = 200  # characters of older requests (guess)
_NEWEST_REQUESTS: Final = 2  # requests (guess)
_RECENT_REQUESTS: Final = 8
"""Requests that are quoted at length; of older ones the first sentences (guess)."""
_DETAILED_COMMITS: Final = 6  # commits that are described; older ones get a line together (guess)
_BODY_CHARS: Final = 900  # characters of a commit's message (guess)
_FILES_SHOWN: Final = 8  # files in a list; older ones are counted by folder (guess)
_HASH: Final = 10  # characters of a commit's hash (git shows 7 or more)
_LEAST_HASH: Final = 7  # characters of a hash that a summary must have (git's shortest)
_NEW_SHARE: Final = 0.9
"""Of all statements, from here on a plan is a next step; an older one was carried out or given up (guess)."""


@dataclass(frozen=True, slots=True)
class Line:
    """`order` is its place within its section; `entry` the entry that it is based on.

    Lines of one `group` are written together after its name. A `verbatim` line is written although
    another one says the same. A text that names all `keys` states the line.
    """

    section: Section
    text: str
    priority: float
    order: float
    entry: str = ""
    referable: bool = False
    group: str = ""
    verbatim: bool = False
    keys: tuple[str, ...] = ()


@dataclass(slots=True)
class LedgerLines:
    """Writes out one ledger. `names` are the paths as they read in the summary."""

    ledger: WorkLedger
    phrases: Phrases
    names: dict[str, str]

    @classmethod
    def of(cls, ledger: WorkLedger) -> "LedgerLines":
        """The lines of `ledger`, in the language of its requests, paths without their common root."""
        typed = [request.text for request in ledger.requests if request.kind == "request"]
        paths = [file.path for file in ledger.uncommitted]
        paths += [path for commit in ledger.commits for path in commit.files]
        paths += [path for problem in ledger.problems for path in problem.fix]
        return cls(ledger, phrases_for(typed), without_common_root(list(dict.fromkeys(paths))))

    def lines(self) -> Iterator[Line]:
        """All lines, in no order."""
        yield from self._requests()
        yield from self._rules()
        yield from self._commits()
        yield from self._routine()
        yield from self._state()
        yield from self._tasks()
        yield from self._problems()
        yield from self._briefs()
        yield from self._statements()
        yield from self._notes()

    def _requests(self) -> Iterator[Line]:
        asked = [request for request in self.ledger.requests if request.kind == "request"]
        continued = any(note.section == "goal" for note in self.ledger.notes)
        for place, request in enumerate(asked):
            if any(request.text in note.text for note in self.ledger.notes if note.section == "goal"):
                continue
            first, newest = place == 0 and not continued, place >= len(asked) - _NEWEST_REQUESTS
            age = len(asked) - place
            limit = (
                _FIRST_CHARS if first or newest else _LATER_CHARS if age <= _RECENT_REQUESTS else _OLD_CHARS
            )
            text = whole_sentences(request.text, limit)
            if request.withdrawn_by is not None:
                text = self.phrases.withdrawn.format(text=clip(text, 200), by=request.withdrawn_by)
            if place and place == len(asked) - 1:
                text = (self.phrases.last_request if self.ledger.finished else self.phrases.current).format(
                    text=text
                )
            elif not first:
                text = self.phrases.then.format(text=text)
            question = all(sentence.endswith(("?", "？")) for sentence in sentences_of(request.text))
            exact = any(char.isdigit() for char in request.text) or any(names_in(request.text))
            priority = 62 + 20 * (place + 1) / len(asked) - (16 if question else 0) + (6 if exact else 0)
            anchor = first or newest
            priority = 140 if anchor else priority
            yield Line("goal", text, priority, place, request.entry_id, verbatim=anchor)
        for place, request in enumerate(self.ledger.requests):
            if request.kind != "request":
                yield self._reply(request, place / len(self.ledger.requests))

    def _reply(self, request: Request, share: float) -> Line:
        phrases = self.phrases
        text = {
            "answer": phrases.answered,
            "approval": phrases.approved,
            "refusal": phrases.refused_because if request.text else phrases.refused,
        }[request.kind].format(about=request.about, text=request.text)
        priority = {"answer": 84, "approval": 80, "refusal": 74 if request.text else 50}[request.kind]
        return Line("decisions", text, priority + share, share, request.entry_id, referable=True)

    def _rules(self) -> Iterator[Line]:
        for place, rule in enumerate(self.ledger.rules):
            text = (
                self.phrases.source.format(source=rule.source, text=rule.text) if rule.source else rule.text
            )
            priority = (66 if rule.strong else 30) if rule.source else (135 if rule.strong else 52)
            own = not rule.source
            yield Line("constraints", text, priority + place / 1_000, place, rule.entry_id, verbatim=own)

    def _commits(self) -> Iterator[Line]:
        commits = self.ledger.commits
        for age, commit in enumerate(reversed(commits)):
            order = len(commits) - age
            if age < _DETAILED_COMMITS:
                text = self._commit(commit, with_body=True)
                keys = (commit.hash[:_LEAST_HASH] or commit.subject,)
                yield Line("done", text, 90 - 3 * age, order, commit.entry_id, keys=keys)
        older = commits[: max(0, len(commits) - _DETAILED_COMMITS)]
        if older:
            stated = "; ".join(f"{commit.hash[:_HASH]} {commit.subject}".strip() for commit in older[-12:])
            yield Line("done", self.phrases.earlier_commits.format(commits=stated), 60, 0)

    def _routine(self) -> Iterator[Line]:
        """How steps were ended so far: the style of commit messages, and the commands around a commit."""
        phrases, ledger = self.phrases, self.ledger
        if ledger.commits:
            last = ledger.commits[-1]
            trailer = phrases.trailer.format(trailer=last.trailer) if last.trailer else ""
            yield Line(
                "context",
                phrases.commit_style.format(subject=last.subject, trailer=trailer),
                78,
                -1,
                verbatim=True,
            )
        if len(ledger.routine) > 1:
            commands = " → ".join(f"`{command}`" for command in ledger.routine)
            yield Line("context", phrases.routine.format(commands=commands), 79, 0)

    def _commit(self, commit: Commit, *, with_body: bool) -> str:
        phrases = self.phrases
        where = phrases.pushed if commit.pushed else phrases.not_pushed
        facts = [phrases.on_branch.format(branch=commit.branch)] if commit.branch else []
        head = phrases.committed.format(hash=commit.hash[:_HASH], subject=commit.subject)
        text = f"{one_line(head)} ({', '.join([*facts, where])})."
        body = whole_sentences(flowing(commit.body), _BODY_CHARS) if with_body else ""
        return f"{text} {body}".strip()

    def _state(self) -> Iterator[Line]:
        phrases, ledger = self.phrases, self.ledger
        if ledger.recent and not ledger.finished:
            events = (f"({n}) {self._event(event)}" for n, event in enumerate(ledger.recent, 1))
            text = phrases.recent.format(events="; ".join(events))
            yield Line("in_progress", text, 98, 2_000, verbatim=True)
        yield from self._next_steps()
        if ledger.uncommitted:
            checked = any(not check.stale for check in ledger.checks)
            where = phrases.on.format(branch=ledger.branch) if ledger.branch else ""
            text = phrases.uncommitted.format(where=where, files=self._changed(ledger.uncommitted))
            keys = tuple(self.names.get(file.path, file.path) for file in ledger.uncommitted[-_FILES_SHOWN:])
            text = text if checked else f"{text} {phrases.unverified}"
            yield Line("in_progress", text, 97, 0, keys=keys)
        for place, check in enumerate(ledger.checks):
            text = (phrases.passed if check.passed else phrases.failed).format(command=check.command)
            text += f": {check.result}" if check.result else ""
            text += f" ({phrases.stale})" if check.stale else ""
            age = len(ledger.checks) - place
            yield Line(
                "done" if check.passed else "in_progress",
                f"{text}.",
                84 - 3 * age,
                1_000 + place,
                check.entry_id,
                keys=(check.command,),
            )
        for place, job in enumerate(ledger.jobs):
            if job.state == "running":
                text = phrases.job_running.format(command=label(job), id=job.id)
                yield Line("in_progress", text, 88, 500 + place, job.entry_id, keys=(job.id,))

    def _next_steps(self) -> Iterator[Line]:
        """The steps that follow from the state: finish, verify, commit, complete what was asked."""
        phrases, ledger = self.phrases, self.ledger
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

    def _event(self, event: Event) -> str:
        phrases = self.phrases
        paths = [self.names.get(path, path) for path in event.text.split(", ")]
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

    def _changed(self, files: Sequence[ChangedFile]) -> str:
        stated = []
        for file in reversed(files[-_FILES_SHOWN:]):
            path = self.names.get(file.path, file.path)
            if file.kind == "deleted":
                stated.append(self.phrases.deleted.format(path=path))
            elif file.names:
                stated.append(self.phrases.with_names.format(path=path, names=", ".join(file.names[-4:])))
            else:
                stated.append(
                    (self.phrases.created if file.kind == "created" else "{path}").format(path=path)
                )
        older = folded([self.names.get(file.path, file.path) for file in files[:-_FILES_SHOWN]], most=4)
        return ", ".join([*stated, *older])

    def _tasks(self) -> Iterator[Line]:
        phrases = self.phrases
        done = [task for task in self.ledger.tasks if task.state == "done"]
        begun = [task.id for task in self.ledger.tasks if task.id and task.state in ("done", "in_progress")]
        for place, task in enumerate(self.ledger.tasks):
            has_begun = bool(task.id) and any(each.startswith(f"{task.id}.") for each in begun)
            if task.state == "open" and not has_begun:
                yield Line(
                    "next_steps",
                    phrases.task_state.format(task=_task(task), state=phrases.state_open),
                    87 - place / 100,
                    100 + place,
                    task.entry_id,
                    keys=(task.id or task.title,),
                )
            elif task.state != "done":
                state = {
                    "open": phrases.state_begun,
                    "in_progress": phrases.state_in_progress,
                    "blocked": phrases.state_blocked,
                }[task.state]
                yield Line(
                    "in_progress",
                    phrases.task_state.format(task=_task(task), state=state),
                    96,
                    100 + place,
                    task.entry_id,
                    keys=(task.id or task.title,),
                )
        if done:
            stated = "; ".join(_task(task) for task in done[-12:])
            yield Line("done", phrases.tasks_done.format(tasks=stated), 70, 800)

    def _problems(self) -> Iterator[Line]:
        problems = self.ledger.problems
        for place, problem in enumerate(problems):
            age = len(problems) - place
            if problem.open:
                keys = tuple(names_in(problem.what))[:2] or (problem.what,)
                text = self._problem(problem)
                yield Line("blocked", text, 92 - age / 2, place, problem.entry_id, referable=True, keys=keys)
            elif problem.explanation or problem.fix:
                yield Line(
                    "context", self._problem(problem), 76 - age, place, problem.entry_id, referable=True
                )

    def _problem(self, problem: Problem) -> str:
        phrases = self.phrases
        parts = [ended(phrases.problem.format(what=clip(problem.what, 120), error=problem.error))]
        if problem.explanation:
            parts.append(ended(problem.explanation))
        if problem.fix and not problem.open:
            fixed = phrases.fixed_in.format(
                files=", ".join(self.names.get(path, path) for path in problem.fix[-3:])
            )
            if problem.code:
                fixed += " " + phrases.fixed_with.format(code=problem.code)
            parts.append(f"{fixed}.")
        return " ".join(parts)

    def _briefs(self) -> Iterator[Line]:
        states = {task.id: task.state for task in self.ledger.tasks if task.id}
        for place, brief in enumerate(self.ledger.briefs):
            state = states.get(brief.title.split(" ")[0].rstrip(":"), "in_progress")
            title = brief.title.partition(" [")[0]
            known = any(title.startswith(task.id) for task in self.ledger.tasks if task.id)
            base = {"in_progress": 71, "blocked": 71, "open": 60, "done": 50}[state]
            name = title.split(" ")[0].rstrip(":") if known else title
            label = (
                self.phrases.issue.format(id=name)
                if known
                else self.phrases.brief.format(title=clip(title, 60))
            )
            for number, line in enumerate(brief.lines):
                yield self._brief_line(brief, line, base, place * 100 + number, label)

    def _brief_line(self, brief: Brief, line: str, base: float, order: float, label: str) -> Line:
        weight = weight_of(line)
        part, colon, rest = line.partition(": ")
        group = f"{label}, {part}" if colon else label
        return Line(
            "context",
            rest if colon else line,
            base + 3 * weight,
            order - 10_000,
            brief.entry_id,
            group=group,
        )

    def _statements(self) -> Iterator[Line]:
        statements = self.ledger.statements
        for place, statement in enumerate(statements):
            share = (place + 1) / len(statements)
            text = statement.text
            group = self.phrases.reviewed.format(about=statement.about) if statement.kind == "review" else ""
            if statement.kind == "published":
                group = self.phrases.published.format(about=statement.about)
            elif statement.about and statement.kind not in ("comment", "review"):
                paths = ", ".join(self.names.get(path, path) for path in statement.about.split(", "))
                text = self.phrases.carried_out.format(text=text, paths=paths)
            elif statement.kind == "comment":
                text = self.phrases.commented.format(
                    about=self.names.get(statement.about, statement.about), text=text
                )
            section: Section = "context"
            if statement.kind == "decision":
                section = "decisions"
            elif statement.kind == "report":
                section = "done"
            elif statement.kind == "plan" and share > _NEW_SHARE and is_plan(text):
                section = "next_steps"
            yield Line(
                section,
                text,
                50
                + 7 * min(statement.score, 3)
                + 14 * share
                - (10 if share <= _NEW_SHARE and is_plan(text) else 0),
                10 + share,
                statement.entry_id,
                referable=not group,
                group=group,
            )

    def _notes(self) -> Iterator[Line]:
        for place, note in enumerate(self.ledger.notes):
            section: Section = note.section if note.section in _SECTIONS else "context"  # type: ignore[assignment]
            priority = {"goal": 139, "constraints": 135}.get(section, 64) - place / 100
            kept = section == "constraints" or (section == "goal" and place == 0)
            yield Line(section, note.text, priority, place / 1_000 - 1, verbatim=kept)


_SECTIONS: Final = frozenset(
    ("goal", "constraints", "done", "in_progress", "blocked", "decisions", "next_steps", "context")
)


def _task(task: Task) -> str:
    return f"{task.id} ({task.title})" if task.id and task.title else task.id or task.title
