"""Everything a summary could say: the previous one carried forward, with the facts of the new span."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from coppice.compaction import lines
from coppice.compaction.facts.actions import Action, actions_of
from coppice.compaction.facts.constraints import Constraint, distinct, strength_of
from coppice.compaction.facts.decisions import Decision, with_later_applied
from coppice.compaction.facts.errors import is_still_open
from coppice.compaction.facts.extraction import Facts
from coppice.compaction.facts.progress import ASKED, TASK, FileWork
from coppice.compaction.facts.ranking import RankedIdentifier
from coppice.compaction.facts.sentences import clip, sentences_of
from coppice.compaction.summary import Summary, SummaryDecision
from coppice.tree.messages import Message

SUPERSEDED: Final = "Superseded: "
_NOTE_CHARS: Final = 700
_GOAL_CHARS: Final = 700
_COVERED: Final = 0.6
_SUBJECT_CHARS: Final = 160
_PASSING: Final = re.compile(
    r"(?:now |let me|i['’]?ll |i will |next,? |first,? )|现在|接下来|让我", re.IGNORECASE
)
_WORD: Final = re.compile(r"[A-Za-z0-9_./-]{3,}|[\u4e00-\u9fff]{2}")
_SCRATCH: Final = "Analysis"
_TURN_LABELS: Final = ("Request", "Done", "Doing", "Error", "Next")


@dataclass(slots=True)
class Draft:
    """A summary's material before it is fitted to a budget.

    Requests, constraints, milestones and decisions stand oldest first, files in the order of their last
    change; everything else the most useful first.
    """

    requests: list[str] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    files: list[FileWork] = field(default_factory=list)
    milestones: list[str] = field(default_factory=list)
    in_progress: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    decisions: list[SummaryDecision] = field(default_factory=list)
    next_steps: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    turn: list[str] = field(default_factory=list)
    identifiers: Sequence[RankedIdentifier] = ()


def draft_summary(
    previous: Summary, whole: Facts, earlier: Facts, turn: Facts | None, messages: Sequence[Message]
) -> Draft:
    """The material of a summary of `previous` and the new span.

    `whole` are the facts of everything new, `earlier` and `turn` those of its parts when a turn is split.
    `messages` are all of them, the kept ones too: they tell what was mended and finished since.
    """
    previous = _without_turn(previous)
    actions = actions_of(messages)
    evidence = [*earlier.progress.milestones]
    open_before = [text for text in previous.in_progress if not _is_outdated(text, earlier)]
    ended = [text for text in open_before if _is_covered(text, evidence)]
    files, milestones = _done(previous.done, earlier)
    return Draft(
        requests=_requests(previous.goal, earlier),
        constraints=_constraints(previous.constraints, whole),
        files=files,
        milestones=[*milestones, *(text for text in ended if text not in milestones)],
        in_progress=_distinct([*earlier.progress.in_progress, *(t for t in open_before if t not in ended)]),
        blocked=_distinct(
            [*map(lines.error_line_of, whole.open_errors), *_still_blocked(previous.blocked, actions)]
        ),
        decisions=_decisions(previous.decisions, whole),
        next_steps=_distinct(
            [
                *earlier.progress.next_steps,
                *(
                    t
                    for t in previous.next_steps
                    if not _is_outdated(t, earlier) and not _is_covered(t, evidence)
                ),
            ]
        ),
        commands=_commands(previous.context, whole),
        notes=_notes(previous),
        turn=_turn_lines(turn) if turn else [],
        identifiers=whole.identifiers,
    )


def _without_turn(previous: Summary) -> Summary:
    """`previous` with the split turn's early part told in the sections where it belongs by now."""
    parts: dict[str, list[str]] = {label: [] for label in (*_TURN_LABELS, "")}
    for line in previous.turn:
        label, colon, text = line.partition(": ")
        parts[label if colon and label in _TURN_LABELS else ""].append(
            text if colon and label in parts else line
        )
    return Summary(
        goal=(*previous.goal, *parts["Request"]),
        constraints=previous.constraints,
        done=(*previous.done, *parts["Done"]),
        in_progress=(*previous.in_progress, *parts["Doing"]),
        blocked=(*previous.blocked, *parts["Error"]),
        decisions=previous.decisions,
        next_steps=(*previous.next_steps, *parts["Next"]),
        context=(*previous.context, *parts[""]),
        other=previous.other,
    )


def _requests(goal: Sequence[str], facts: Facts) -> list[str]:
    before = [text.removeprefix(lines.THEN).removeprefix(lines.NOW) for text in goal]
    return _distinct(
        [clip(text, _GOAL_CHARS) for text in (*before, *(request.text for request in facts.requests))]
    )


def _constraints(before: Sequence[str], facts: Facts) -> list[Constraint]:
    stated = [Constraint(text, strength_of(text) is not False) for text in before]
    return distinct([*stated, *facts.constraints])


def _done(before: Sequence[str], facts: Facts) -> tuple[list[FileWork], list[str]]:
    works: dict[str, FileWork] = {}
    milestones: list[str] = []
    for text in before:
        if text.startswith(lines.ALSO_CHANGED):
            for path in text.removeprefix(lines.ALSO_CHANGED).split():
                works.setdefault(path, FileWork(path)).note("edited")
        elif work := lines.parse_file_line(text):
            works[work.path] = work
        else:
            milestones.append(text)
    for work in facts.progress.files:
        known = works.pop(work.path, None) or FileWork(work.path)
        for verb, count in work.verbs.items():
            known.note(verb, count)
        known.names = {**known.names, **work.names}
        works[work.path] = known
    families = {_family(text) for text in facts.progress.milestones} - {""}
    milestones = [text for text in milestones if _family(text) not in families]
    return list(works.values()), _distinct([*milestones, *facts.progress.milestones])


def _family(milestone: str) -> str:
    """What a newer outcome replaces: the same test run, the last push."""
    if milestone == "Pushed":
        return milestone
    return (
        milestone.partition("` passed: ")[0]
        if milestone.startswith("`") and "` passed: " in milestone
        else ""
    )


def _still_blocked(before: Sequence[str], actions: Sequence[Action]) -> list[str]:
    kept = []
    for text in before:
        command = lines.command_in_error_line(text)
        if command is None or is_still_open(command, text, actions):
            kept.append(text)
    return kept


def _decisions(before: Sequence[SummaryDecision], facts: Facts) -> list[SummaryDecision]:
    known = [
        Decision(
            decision.what.removeprefix(SUPERSEDED),
            decision.why,
            superseded_by=decision.why if decision.what.startswith(SUPERSEDED) else "",
        )
        for decision in before
    ]
    told = []
    for decision in with_later_applied([*known, *facts.decisions]):
        if decision.superseded_by:
            by = decision.superseded_by.removeprefix("replaced by: ")
            told.append(SummaryDecision(f"{SUPERSEDED}{decision.what}", f"replaced by: {by}"))
        else:
            told.append(SummaryDecision(decision.what, decision.why))
    return told


def _commands(context: Sequence[str], facts: Facts) -> list[str]:
    before = [
        command
        for text in context
        if text.startswith(lines.COMMANDS)
        for command in lines.parse_commands_line(text)
    ]
    return _distinct([*facts.commands, *before])


def _notes(previous: Summary) -> list[str]:
    own = [
        clip(text, _NOTE_CHARS)
        for text in previous.context
        if not lines.is_index_line(text) and not text.startswith(lines.COMMANDS)
    ]
    by_heading: dict[str, list[str]] = {}
    for heading, text in previous.other:
        by_heading.setdefault(heading, []).append(text)
    scratch = by_heading.pop(_SCRATCH, [])
    foreign = [lines.note_line(heading, texts, _NOTE_CHARS) for heading, texts in by_heading.items()]
    foreign += [lines.note_line(_SCRATCH, scratch, _NOTE_CHARS)] if scratch else []
    return _distinct([*own, *foreign])


def _turn_lines(facts: Facts) -> list[str]:
    told = [f"Request: {request.text}" for request in facts.requests[:2]]
    told += [f"Doing: {text}" for text in facts.progress.in_progress]
    told += [f"Done: {lines.file_line(work)}" for work in reversed(facts.progress.files)]
    told += [f"Done: {text}" for text in facts.progress.milestones]
    told += [f"Next: {text}" for text in facts.progress.next_steps]
    return _distinct(told)


def _is_outdated(text: str, facts: Facts) -> bool:
    """Whether a line about the state of work says nothing any more, now that the work went on."""
    if text.startswith(ASKED):
        return bool(facts.requests) or facts.progress.finished
    if text.startswith(TASK):
        return text.removeprefix(TASK).partition(":")[0] in facts.progress.closed_tasks
    return bool(_PASSING.match(text))


def _is_covered(text: str, evidence: Iterable[str]) -> bool:
    """Whether some line of `evidence` names most of what `text` is about."""
    first = next(sentences_of(text), text)
    words = {word.casefold() for word in _WORD.findall(clip(first, _SUBJECT_CHARS))}
    return bool(words) and any(
        len(words & {word.casefold() for word in _WORD.findall(line)}) >= _COVERED * len(words)
        for line in evidence
    )


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text.strip()))
