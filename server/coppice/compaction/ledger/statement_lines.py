"""What was stated, as statements: requests, rules, briefs, the assistant's own words, earlier notes."""

from collections.abc import Iterator, Mapping
from typing import Final

from coppice.compaction.ledger.briefs import weight_of
from coppice.compaction.ledger.line import SECTIONS, Line, Section, Writing
from coppice.compaction.ledger.statements import is_plan
from coppice.compaction.phrases import Phrases
from coppice.compaction.text.names import names_in
from coppice.compaction.text.sentences import clip, sentences_of, whole_sentences
from coppice.protocol.ledger import Request, Statement, StatementKind

_FIRST_CHARS: Final = 1_600  # characters of the first and the newest requests (guess)
_LATER_CHARS: Final = 700  # characters of recent requests (guess)
_OLD_CHARS: Final = 200  # characters of older requests (guess)
_NEWEST_REQUESTS: Final = 2  # requests (guess)
_RECENT_REQUESTS: Final = 8
"""Requests that are quoted at length; of older ones the first sentences (guess)."""
_SECTIONS: Final[Mapping[StatementKind, Section]] = {"decision": "decisions", "report": "done"}
_NEW_SHARE: Final = 0.9
"""Of all statements, from here on a plan is a next step; an older one was carried out or given up (guess)."""


def statement_lines(writing: Writing) -> Iterator[Line]:
    """The lines about what was stated, in no order."""
    yield from _requests(writing)
    yield from _rules(writing)
    yield from _briefs(writing)
    yield from _statements(writing)
    yield from _notes(writing)


def _requests(writing: Writing) -> Iterator[Line]:
    phrases, ledger = writing.phrases, writing.ledger
    asked = [request for request in ledger.requests if request.kind == "request"]
    goals = [note.text for note in ledger.notes if note.section == "goal"]
    for place, request in enumerate(asked):
        if any(request.text in goal for goal in goals):
            continue
        age, first = len(asked) - place, place == 0 and not goals
        anchor = first or age <= _NEWEST_REQUESTS
        limit = _FIRST_CHARS if anchor else _LATER_CHARS if age <= _RECENT_REQUESTS else _OLD_CHARS
        text = whole_sentences(request.text, limit)
        if request.withdrawn_by is not None:
            text = phrases.withdrawn.format(text=clip(text, _OLD_CHARS), by=request.withdrawn_by)
        if place and age == 1:
            text = (phrases.last_request if ledger.finished else phrases.current).format(text=text)
        elif not first:
            text = phrases.then.format(text=text)
        question = 16 if all(each.endswith(("?", "？")) for each in sentences_of(request.text)) else 0
        exact = 6 if any(names_in(request.text)) else 0
        priority = 140 if anchor else 66 + 20 * (place + 1) / len(asked) - question + exact
        yield Line("goal", text, priority, place, request.entry_id, verbatim=anchor)
    for place, request in enumerate(ledger.requests):
        if request.kind != "request":
            yield _reply(phrases, request, place / len(ledger.requests))


def _reply(phrases: Phrases, request: Request, share: float) -> Line:
    phrase, priority = {
        "answer": (phrases.answered, 84),
        "approval": (phrases.approved, 80),
        "refusal": (phrases.refused_because, 74) if request.text else (phrases.refused, 50),
    }[request.kind]
    text = phrase.format(about=request.about, text=request.text)
    return Line("decisions", text, priority + share, share, request.entry_id, referable=True)


def _rules(writing: Writing) -> Iterator[Line]:
    for place, rule in enumerate(writing.ledger.rules):
        text = writing.phrases.source.format(source=rule.source, text=rule.text) if rule.source else rule.text
        priority = (66 if rule.strong else 30) if rule.source else (135 if rule.strong else 52)
        own = not rule.source
        yield Line("constraints", text, priority + place / 1_000, place, rule.entry_id, verbatim=own)


def _briefs(writing: Writing) -> Iterator[Line]:
    states = {task.id: task.state for task in writing.ledger.tasks if task.id}
    for place, brief in enumerate(writing.ledger.briefs):
        title = brief.title.partition(" [")[0]
        name = title.split(" ")[0].rstrip(":")
        if any(map(title.startswith, states)):
            label = writing.phrases.issue.format(id=name)
        else:
            label = writing.phrases.brief.format(title=clip(title, 60))
        base = {"in_progress": 71, "blocked": 71, "open": 60, "done": 50}[states.get(name, "in_progress")]
        for number, line in enumerate(brief.lines):
            part, colon, rest = line.partition(": ")
            group, text = (f"{label}, {part}", rest) if colon else (label, line)
            order = place * 100 + number - 10_000
            yield Line("context", text, base + 3 * weight_of(line), order, brief.entry_id, group=group)


def _statements(writing: Writing) -> Iterator[Line]:
    statements = writing.ledger.statements
    for place, statement in enumerate(statements):
        share = (place + 1) / len(statements)
        is_new, is_step = share > _NEW_SHARE, is_plan(statement.text)
        group, text = _framed(writing, statement)
        section: Section = _SECTIONS.get(statement.kind, "context")
        if statement.kind == "plan" and is_new and is_step:
            section = "next_steps"
        priority = 50 + 7 * min(statement.score, 3) + 14 * share - (10 if is_step and not is_new else 0)
        yield Line(section, text, priority, 10 + share, statement.entry_id, referable=not group, group=group)


def _framed(writing: Writing, statement: Statement) -> tuple[str, str]:
    """The group that a statement is written in, and its text with what it is about."""
    phrases, text = writing.phrases, statement.text
    about = ", ".join(map(writing.named, statement.about.split(", ")))
    match statement.kind:
        case "review":
            return phrases.reviewed.format(about=statement.about), text
        case "published":
            return phrases.published.format(about=statement.about), text
        case "comment":
            return "", phrases.commented.format(about=about, text=text)
    return "", phrases.carried_out.format(text=text, paths=about) if about else text


def _notes(writing: Writing) -> Iterator[Line]:
    for place, note in enumerate(writing.ledger.notes):
        section: Section = note.section if note.section in SECTIONS else "context"
        priority = {"goal": 139, "constraints": 135}.get(section, 64) - place / 100
        kept = section == "constraints" or (section == "goal" and place == 0)
        yield Line(section, note.text, priority, place / 1_000 - 1, verbatim=kept)
