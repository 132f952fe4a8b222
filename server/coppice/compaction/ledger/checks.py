"""Test, build and lint runs with their last result, and what failed, why, and how it was fixed."""

import re
from typing import Final

from coppice.compaction.ledger.shell import Stage, error_line, is_check, is_looking, result_of, stages_of
from coppice.compaction.ledger.steps import Action
from coppice.compaction.ledger.versions import same_path
from coppice.compaction.text.sentences import label
from coppice.compaction.words import any_of
from coppice.protocol.ledger import Check, Problem, WorkLedger

_MOST_FIXES: Final = 6  # files named as the fix of a problem (guess)
_CLAUSE: Final = r"(?:where|when|if|which|that|and|or|of)\b"
_COUNTED: Final = re.compile(
    rf"(?<![\w,.-])(?:\d[\d,]{{0,15}}|no) (?:(?!{_CLAUSE})\w+ )?{any_of('COUNTED')}", re.IGNORECASE
)


def note_run(ledger: WorkLedger, action: Action) -> Problem | None:
    """Takes in what `action`'s commands tried and how that ended; a new problem comes back."""
    found = None
    for command in action.commands:
        stages = [stage for stage in stages_of(command) if not is_looking(stage)]
        if not stages:
            continue
        passed, line = result_of(action.output)
        checks = [stage for stage in stages if is_check(stage)]
        if not checks and passed is not None and _COUNTED.search(line) and stages[-1].program != "git":
            checks = stages[-1:]
        failed = action.failed or (passed is False and bool(checks))
        if checks:
            _note_check(ledger, action, checks, passed=not failed, line=line)
        what = checks or stages
        if failed:
            found = _failed(ledger, action, what, line if passed is False else "")
        else:
            _worked(ledger, what)
    return found


def note_failed_change(ledger: WorkLedger, action: Action) -> None:
    """Takes in a change that a tool could not make; the next one to that file settles it."""
    path = action.changes[0].path
    what = label(f"{action.tool} {path}")
    ledger.problems = [each for each in ledger.problems if each.what != what]
    ledger.problems.append(
        Problem(entry_id=action.entry, what=what, error=error_line(action.output), is_change=True)
    )


def note_changed(ledger: WorkLedger, paths: list[str], code: str) -> None:
    """Takes in that files were changed: results are stale, and open problems may have been fixed by it.

    `code` is what the change added, where that is short.
    """
    if not paths:
        return
    for check in ledger.checks:
        check.stale = True
    gone = [each for each in ledger.problems if each.open and each.is_change and _is_about(each, paths)]
    for problem in ledger.problems:
        if problem.open and problem not in gone:
            problem.fix = [*(path for path in problem.fix if path not in paths), *paths][-_MOST_FIXES:]
            problem.code = "" if code.endswith("…") else code
    ledger.problems = [problem for problem in ledger.problems if problem not in gone]


def _is_about(problem: Problem, paths: list[str]) -> bool:
    return any(same_path(problem.what.rpartition(" ")[2], path) for path in paths)


def _note_check(ledger: WorkLedger, action: Action, checks: list[Stage], *, passed: bool, line: str) -> None:
    """A line of several checks that passes proves each; of one that fails, nobody knows which part did.

    The result of what was checked before and is a part of it is replaced, unless it passed and this failed.
    """
    texts = [_text([stage]) for stage in checks] if passed else [_text(checks)]
    ledger.checks = [
        check
        for check in ledger.checks
        if check.command not in texts
        and not ((passed or not check.passed) and _checks_all_of(check.command, checks))
    ]
    for text in dict.fromkeys(texts):
        result = line if text == texts[-1] else ""
        ledger.checks.append(Check(entry_id=action.entry, command=text, passed=passed, result=result))


def _failed(ledger: WorkLedger, action: Action, stages: list[Stage], line: str) -> Problem:
    what = _text(stages)
    error = error_line(action.output) or line
    for earlier in ledger.problems:
        if earlier.open and not earlier.is_change and _tries_again(earlier.what, stages):
            earlier.open = earlier.error == error
    ledger.problems = [each for each in ledger.problems if (each.what, each.error) != (what, error)]
    problem = Problem(entry_id=action.entry, what=what, error=error)
    ledger.problems.append(problem)
    return problem


def _worked(ledger: WorkLedger, stages: list[Stage]) -> None:
    for problem in ledger.problems:
        if problem.open and not problem.is_change and _tries_again(problem.what, stages):
            problem.open = False


def _checks_all_of(command: str, stages: list[Stage]) -> bool:
    return all(any(_covers(stage, other) for stage in stages) for other in stages_of(command))


def _tries_again(what: str, stages: list[Stage]) -> bool:
    """Whether one of `stages` tries what the problem's command tried, and of a check no less."""
    before = stages_of(what)
    return any(_covers(stage, other) for stage in stages for other in before)


def _covers(stage: Stage, other: Stage) -> bool:
    """Whether both have the same program and subcommand; a check also has to check all that `other` does."""
    (kind, targets), (kind_before, targets_before) = _parts(stage), _parts(other)
    same = kind[: len(kind_before)] == kind_before[: len(kind)]
    if not same or not is_check(stage):
        return same
    return len(kind) <= len(kind_before) and (not targets or set() < targets_before <= targets)


def _parts(stage: Stage) -> tuple[tuple[str, ...], frozenset[str]]:
    """The program with at most two words after it, and the paths that it is given."""
    words = [word for word in stage.arguments if not word.startswith("-") and not re.search(r"\s", word)]
    paths = frozenset(word for word in words if "/" in word or "." in word)
    return (stage.program, *[word for word in words if word not in paths][:2]), paths


def _text(stages: list[Stage]) -> str:
    return label(" && ".join(dict.fromkeys(stage.text for stage in stages)))
