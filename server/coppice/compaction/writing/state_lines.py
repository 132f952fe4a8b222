"""The state of the work as lines of a summary, the most important first."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.checking.stated import Statements
from coppice.compaction.facts.usage import LEFT_OUT
from coppice.compaction.text.sentences import in_quotes, one_line
from coppice.compaction.writing.references import referenced
from coppice.protocol.state import Check, Commit, Fact, Job, RanCommand, UsedCommand, WorkState
from coppice.tree.tags import escape_tags

HEADING: Final = "## State"
_ORIGIN: Final = (
    "Computed from commands and their outputs, also those after what is summarized; "
    "what they do not show is absent."
)
PUBLISHED: Final = "Written then with `"
"""Before the command that was given a text, in a narrative."""
_RAN: Final = "Ran with success: `"
_UNFINISHED: Final = {"in_progress": "Task in progress", "blocked": "Task blocked", "open": "Task not begun"}
_MOST_DONE: Final = 10  # done tasks that are named
_MOST_USED: Final = 10  # commands that were used repeatedly; the recorded sessions have 3 to 11
_MOST_LINES: Final = 40  # facts; a tenth of 4,000 tokens holds some 15
_MOST_FILES: Final = 30
"""Uncommitted files that are named, the newest; the others are counted."""


def state_section(
    state: WorkState,
    room: int,
    count: CountTokens,
    references: Mapping[str, str],
    stated: Statements | None = None,
) -> str:
    """The section in at most `room` tokens; empty where nothing is known, or nothing fits.

    What `stated` says exactly is left out.
    """
    text = f"{HEADING}\n{_ORIGIN}"
    lines = fitting_lines(state, room - count(text), count, references, stated)
    return "\n".join([text, *lines]) if lines else ""


def fitting_lines(
    state: WorkState,
    room: int,
    count: CountTokens,
    references: Mapping[str, str],
    stated: Statements | None = None,
) -> list[str]:
    """The lines that together have at most `room` tokens, the most important first."""
    lines = []
    for line in state_lines(state, references):
        if stated is not None and stated.say_exactly(line):
            continue
        cost = count(f"{line}\n")
        if cost <= room:
            lines.append(line)
            room -= cost
    return lines


def state_lines(state: WorkState, references: Mapping[str, str]) -> Iterator[str]:
    """Each fact as a list item, on one line, unable to close a tag. Of passed checks those after which the
    fewest files were changed, and at the end those of other purposes.
    """
    passed = [each for each in state.checks[::-1] if each.passed]
    run = {each.command for each in state.checks}
    fewest = min((len(each.changed_since) for each in passed), default=0)
    facts = [
        *_uncommitted(state),
        *((_check(each), each) for each in state.checks[::-1] if not each.passed),
        *(
            (f"In the background, no end seen: `{each.command}` (id {each.id})", each)
            for each in _running(state)
        ),
        *(
            (f"Failed, not repeated with success: `{each.command}`: {each.error}", each)
            for each in state.failures[::-1]
        ),
        *_tasks(state),
        *((_check(each), each) for each in passed if len(each.changed_since) == fewest),
        *((_commit(each, state.branch), each) for each in state.commits[::-1]),
        *((f"{_RAN}{each.command}`", each) for each in state.commands[::-1]),
        *(
            (_failed(each), each)
            for each in state.jobs[::-1]
            if each.state == "failed" and each.command not in run
        ),
        *_used(state),
        *((_check(each), each) for each in _outdated(passed, fewest)),
    ]
    for text, fact in facts[:_MOST_LINES]:
        yield f"- {escape_tags(one_line(referenced(text, fact.entry_id, references)))}"


def without_repeats(parts: str, narrative: str) -> str:
    """`parts` without the commands of which `narrative` says with what text they were run, if any other fact
    is left.
    """
    published = {_command_in(line, f"- [x] {PUBLISHED}") for line in narrative.split("\n")} - {None}
    lines = [line for line in parts.split("\n") if _command_in(line, f"- {_RAN}") not in published]
    return "\n".join(lines) if any(line.startswith("- ") for line in lines) else parts


def _command_in(line: str, beginning: str) -> tuple[str, ...] | None:
    """The words of the command after the beginning of a line, without a last one that is left out and its
    option, and the reference at its end; None in any other line.
    """
    if not line.startswith(beginning):
        return None
    words = line.removeprefix(beginning).partition("`")[0].split()
    if words[-1:] == [LEFT_OUT]:
        words.pop()
        if words and words[-1].startswith("-"):
            words.pop()
    return *words, line.rpartition(" ")[2] if line.endswith("]") else ""


def _outdated(passed: Sequence[Check], fewest: int) -> Iterator[Check]:
    """Of `passed`, newest first, the newest of each purpose of which none is as of the fewest changes."""
    purposes = {_purpose(each) for each in passed if len(each.changed_since) == fewest}
    for each in passed:
        if _purpose(each) not in purposes:
            purposes.add(_purpose(each))
            yield each


def _running(state: WorkState) -> list[Job]:
    return [job for job in state.jobs[::-1] if job.state == "running"]


def _used(state: WorkState) -> Iterator[tuple[str, Fact]]:
    """The commands that were used at least twice and that are not listed above, the most used first."""
    listed = {*map(_purpose, state.checks), *map(_purpose, state.commands)}
    others = [each for each in state.used[::-1] if each.times > 1 and _purpose(each) not in listed]
    if repeated := sorted(others, key=lambda each: -each.times)[:_MOST_USED]:
        yield f"Used repeatedly, as run last: {', '.join(f'`{each.command}`' for each in repeated)}", Fact()


def _purpose(fact: Check | RanCommand | UsedCommand) -> tuple[str, ...]:
    return tuple(fact.command.split(maxsplit=2)[:2])


def _failed(job: Job) -> str:
    result = f": {job.result}" if job.result else ""
    return f"Failed in the background: `{job.command}`{result}"


def _uncommitted(state: WorkState) -> Iterator[tuple[str, Fact]]:
    on = f"On branch {state.branch}" if state.branch else ""
    if not state.uncommitted:
        if on:
            yield on, Fact()
        return
    shown = sorted(state.uncommitted[-_MOST_FILES:], key=lambda file: file.path)
    names = ", ".join(each.path if each.kind == "changed" else f"{each.path} ({each.kind})" for each in shown)
    if len(shown) < len(state.uncommitted):
        names += f" and {len(state.uncommitted) - len(shown)} more"
    yield f"{on}; not committed: {names}" if on else f"Not committed: {names}", state.uncommitted[-1]


def _check(check: Check) -> str:
    outcome = "passes" if check.passed else "fails"
    outcome = outcome if not check.changed_since else "passed" if check.passed else "failed"
    since = f"; changed since: {', '.join(check.changed_since)}" if check.changed_since else ""
    return f"`{check.command}` {outcome}{f': {check.result}' if check.result else ''}{since}"


def _commit(commit: Commit, branch: str) -> str:
    where = [f"on {commit.branch}"] if commit.branch and commit.branch != branch else []
    where += ["pushed"] if commit.pushed else []
    subject = commit.subject if commit.hash or not commit.subject else in_quotes(commit.subject)
    named = " ".join(filter(None, ("Commit", commit.hash, subject)))
    return f"{named} ({', '.join(where)})" if where else named


def _tasks(state: WorkState) -> Iterator[tuple[str, Fact]]:
    for name, title in _UNFINISHED.items():
        for task in state.tasks:
            if task.state == name:
                yield f"{title} {task.id}: {task.title}" if task.id else f"{title}: {task.title}", task
    done = [task for task in state.tasks if task.state == "done"]
    if done:
        titles = "; ".join(f"{task.id} {task.title}".strip() for task in done[-_MOST_DONE:])
        yield f"Tasks done: {titles}", done[-1]
