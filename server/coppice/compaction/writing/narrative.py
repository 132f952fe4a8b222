"""The narrative without a model: quotations in the sections of the format, chosen by their place.

What it states is what was written: the request, rules, the reports that ended turns, causes of failures,
approvals.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.summary import Summary, SummaryDecision, inert
from coppice.compaction.summary_parser import parse_summary
from coppice.compaction.text.lasting import lasting_sentences
from coppice.compaction.text.sentences import clip, ended, one_line, whole_sentences
from coppice.compaction.text.statements import statements_of
from coppice.compaction.writing.references import referenced
from coppice.protocol.ledger import LedgerMessage, Quotation, QuotationKind, WorkLedger
from coppice.protocol.state import WorkState

_GOAL_CHARS: Final = 400
"""Characters of a request under Goal; its whole text is among the user's messages."""
_FIRST_STATEMENTS: Final = 4
"""Statements of an older report that come before the rest of any report: people begin with what is done."""
_SHORT_RULES: Final = 1_000
"""Characters of a message of the application or a memory file; a longer one is among the messages only."""
_ANSWER_CHARS: Final = 80  # characters of an answer before each statement of the proposal
_FIRST_OF_REVIEW: Final = 6  # statements; a review of another agent may be overtaken
_DOCUMENT_ORDER: Final = {"brief": 1_000, "review": 2_000}
_RULES_SHARE: Final = 2
"""The room divided by this bounds the rules, so that what was done has a place."""
_PLAN: Final = re.compile(r"\b1[.)] .{1,300}\b2[.)] ")
_WORD: Final = re.compile(r"\w{3,}|[\u4e00-\u9fff]{2}")
_GLUE: Final = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "about",
        "this",
        "that",
        "please",
        "focus",
        "what",
        "was",
        "were",
        "are",
        "look",
        "from",
        "keep",
        "all",
    ]
)
_LINE: Final = "- [x] {}\n"
_ORDER: Final = (
    "goal",
    "constraints",
    "done",
    "in_progress",
    "blocked",
    "decisions",
    "next_steps",
    "context",
)


@dataclass(frozen=True, slots=True)
class Line:
    """One statement of a section. `order` is its place there."""

    section: str
    text: str
    order: float = 0.0


@dataclass(frozen=True, slots=True)
class Narrative:
    """The text, and how many of its lines match the focus that was asked for."""

    text: str
    matches: int


def offline_narrative(
    ledger: WorkLedger,
    now: WorkState,
    *,
    limit: int,
    count: CountTokens,
    focus: str | None,
    references: Mapping[str, str],
) -> Narrative:
    """The narrative in at most `limit` tokens; empty where not even the headings fit.

    `ledger` and `now` are as of the end of what the model will still see.
    """
    bare = Summary().render()
    wanted = focus_words(focus)
    lines = sorted(_lines(ledger, now, references), key=lambda line: not matches_focus(line.text, wanted))
    room = limit - count(bare)
    if room < 0:
        return Narrative("", 0)
    while room > 0:
        chosen = _chosen(lines, room, count)
        text = _summary(chosen).render()
        over = count(text) - limit
        if over <= 0:
            return Narrative(text, sum(matches_focus(line.text, wanted) for line in chosen))
        room -= over + 8
    return Narrative(bare, 0)


def focus_words(focus: str | None) -> frozenset[str]:
    """The words of a focus that lines are matched with."""
    return frozenset(_WORD.findall((focus or "").casefold())) - _GLUE


def matches_focus(text: str, wanted: frozenset[str]) -> bool:
    """Whether `text` has a word of the focus."""
    return bool(wanted) and not wanted.isdisjoint(_WORD.findall(text.casefold()))


def _lines(ledger: WorkLedger, now: WorkState, references: Mapping[str, str]) -> Iterator[Line]:
    """The statements, the most important first."""
    earlier = list(_earlier(ledger.earlier))
    asked = [each for each in ledger.messages if each.source == "user"]
    yield from _goal(asked, earlier, references)
    yield from (line for line in earlier if line.section == "constraints")
    yield from _rules(ledger.messages)
    yield from _under_way(ledger, now, references)
    reports = [each for each in reversed(ledger.quotations) if each.kind == "report"]
    yield from _reported(reports[:1], references, 0, _FIRST_STATEMENTS)
    yield from _announced(ledger.quotations, references)
    yield from (line for line in earlier if line.section not in ("goal", "constraints"))
    yield from _decisions(ledger.quotations, references)
    yield from _solved(ledger.quotations, references)
    yield from _documents(ledger.quotations, "brief", references, 1, None)
    yield from _written(now, references)
    yield from _reported(reports[:1], references, _FIRST_STATEMENTS, None)
    yield from _reported(reports[1:], references, 0, _FIRST_STATEMENTS, first=1)
    yield from _bodies(now, references)
    yield from _answers(ledger.quotations, references, overtaken=False)
    yield from _documents(ledger.quotations, "review", references, None, _FIRST_OF_REVIEW)
    yield from _answers(ledger.quotations, references, overtaken=True)


def _written(now: WorkState, references: Mapping[str, str]) -> Iterator[Line]:
    for place, each in enumerate(reversed(now.definitions)):
        text = f"Written in {each.path}: {', '.join(each.names)}"
        yield Line("context", referenced(text, each.entry_id, references), 500 + place)


def _bodies(now: WorkState, references: Mapping[str, str]) -> Iterator[Line]:
    for place, commit in enumerate(reversed(now.commits)):
        if commit.body:
            text = f"Commit {commit.hash} {commit.subject}: {one_line(commit.body)}"
            yield Line("done", referenced(text, commit.entry_id, references), 1_000 + place)


def _answers(
    quotations: list[Quotation], references: Mapping[str, str], *, overtaken: bool
) -> Iterator[Line]:
    """What ended turns in which nothing was changed, newest first: explanations, findings, proposals."""
    answers = [each for each in quotations if each.kind in ("answer", "proposal")]
    newest = quotations[-1] if quotations else None
    for place, each in enumerate(reversed(answers)):
        if each.overtaken != overtaken or (each is newest and each.kind == "proposal"):
            continue
        when = "before later changes" if overtaken else "explained"
        answered = f', and the user answered "{clip(each.about, _ANSWER_CHARS)}"' if each.about else ""
        texts = list(statements_of(each.text))
        if overtaken and texts:
            texts = [" ".join(map(ended, texts[:_FIRST_STATEMENTS]))]
        for number, text in enumerate(texts):
            stated = f"The assistant, {when}{answered if number == 0 else ''}: {text}"
            yield Line(
                "context", referenced(stated, each.entry_id, references), 3_000 + place + number / 1_000
            )


def _documents(
    quotations: list[Quotation],
    kind: QuotationKind,
    references: Mapping[str, str],
    newest: int | None,
    most: int | None,
) -> Iterator[Line]:
    """The statements of the `newest` documents, each under what showed it; a review that is overtaken is
    none.
    """
    documents = [each for each in reversed(quotations) if each.kind == kind]
    for place, each in enumerate(documents[:newest]):
        if each.kind == "review" and each.overtaken:
            continue
        for number, text in list(enumerate(statements_of(each.text)))[:most]:
            order = _DOCUMENT_ORDER[kind] + place + number / 1_000
            yield Line("context", referenced(f"{each.about}: {text}", each.entry_id, references), order)


def _announced(quotations: list[Quotation], references: Mapping[str, str]) -> Iterator[Line]:
    """What the unfinished turn announced and then changed files for, newest first."""
    announced = [each for each in quotations if each.kind == "announcement"][:-1]
    for place, each in enumerate(reversed([each for each in announced if each.about])):
        section = "in_progress" if _PLAN.search(each.text) else "done"  # of a list a part may be done
        text = f"Changed {each.about}, after: {each.text}"
        yield Line(section, referenced(text, each.entry_id, references), 100 + place)


def _goal(asked: list[LedgerMessage], earlier: list[Line], references: Mapping[str, str]) -> Iterator[Line]:
    yield from (line for line in earlier if line.section == "goal")
    if asked and not any(line.section == "goal" for line in earlier):
        yield Line("goal", whole_sentences(asked[0].text, _GOAL_CHARS))
    if len(asked) > 1 or (asked and any(line.section == "goal" for line in earlier)):
        text = f"Newest request: {whole_sentences(asked[-1].text, _GOAL_CHARS)}"
        yield Line("goal", referenced(text, asked[-1].entry_id, references), 1_000)


def _rules(messages: list[LedgerMessage]) -> Iterator[Line]:
    """Sentences of the user that last, and short messages of the application; the newest first."""
    for place, message in reversed(list(enumerate(messages))):
        if message.source in ("user", "answer", "refusal"):
            rules = lasting_sentences(message.text)
        elif len(message.text) <= _SHORT_RULES:
            rules = [f"({message.source} message) {text}" for text in statements_of(message.text)]
        else:
            rules = []
        for number, text in enumerate(rules):
            yield Line("constraints", text, place + number / 1_000)


def _under_way(ledger: WorkLedger, now: WorkState, references: Mapping[str, str]) -> Iterator[Line]:
    causes = {each.about: each for each in ledger.quotations if each.kind == "cause"}
    for check in reversed(now.checks):
        cause = causes.get(check.command)
        if not check.passed and cause is not None:
            text = f"`{check.command}`: {check.result} The assistant on it: {cause.text}"
            yield Line("blocked", referenced(text, cause.entry_id, references))
    newest = ledger.quotations[-1] if ledger.quotations else None
    if newest is not None and newest.kind == "announcement":
        done = f", and changed {newest.about}" if newest.about else ""
        text = f"Announced last{done}: {newest.text}"
        yield Line("in_progress", referenced(text, newest.entry_id, references))
    if newest is not None and newest.kind == "proposal" and ledger.finished:
        for number, text in enumerate(statements_of(newest.text)):
            stated = f"Proposed to the user, not answered: {text}" if number == 0 else text
            yield Line("next_steps", referenced(stated, newest.entry_id, references), number / 1_000)
    for number, task in enumerate(each for each in now.tasks if each.state in ("in_progress", "open")):
        yield Line("next_steps", task.title, 1 + number)


def _reported(
    reports: list[Quotation], references: Mapping[str, str], start: int, end: int | None, first: int = 0
) -> Iterator[Line]:
    for place, report in enumerate(reports, first):
        texts = list(statements_of(report.text))[start:end]
        if report.overtaken and texts:
            texts = [f"Reported before later changes: {' '.join(map(ended, texts))}"]
        for number, text in enumerate(texts, start):
            yield Line("done", referenced(text, report.entry_id, references), place + number / 1_000)


def _decisions(quotations: list[Quotation], references: Mapping[str, str]) -> Iterator[Line]:
    approvals = [each for each in quotations if each.kind == "approval"]
    for place, each in enumerate(reversed(approvals)):
        text = f"Asked: {each.text} The user: {each.about}"
        yield Line("decisions", referenced(text, each.entry_id, references), place)


def _solved(quotations: list[Quotation], references: Mapping[str, str]) -> Iterator[Line]:
    for place, each in enumerate(each for each in reversed(quotations) if each.kind == "solved"):
        text = f"`{each.about}` failed and passes again. Before: {each.text}"
        yield Line("context", referenced(text, each.entry_id, references), place)


def _earlier(text: str) -> Iterator[Line]:
    """The lines of an earlier summary by a model or a person."""
    if not text:
        return
    summary = parse_summary(text)
    for section in _ORDER:
        for place, line in enumerate(getattr(summary, section)):
            if isinstance(line, SummaryDecision):
                yield Line(section, f"{line.what}: {line.why}" if line.why else line.what, place)
            else:
                yield Line(section, line, place)
    for place, line in enumerate([*summary.turn, *summary.other_lines()]):
        yield Line("context", line, 500 + place)


def _chosen(lines: Iterable[Line], room: int, count: CountTokens) -> list[Line]:
    """The lines that fit, the most important first; rules have a part of the room at most."""
    taken: list[Line] = []
    seen: set[str] = set()
    rules = room // _RULES_SHARE
    for line in lines:
        key = f"{line.section if line.section == 'constraints' else ''}{line.text.casefold()}"
        cost = count(_LINE.format(inert(line.text)))
        limit = min(room, rules) if line.section == "constraints" else room
        if key in seen or cost > limit:
            continue
        seen.add(key)
        taken.append(line)
        room -= cost
        rules -= cost if line.section == "constraints" else 0
    return taken


def _summary(lines: list[Line]) -> Summary:
    texts: dict[str, tuple[str, ...]] = {}
    for line in sorted(lines, key=lambda each: each.order):
        texts[line.section] = (*texts.get(line.section, ()), line.text)
    decisions = tuple(map(SummaryDecision, texts.pop("decisions", ())))
    return Summary(decisions=decisions, **texts)  # type: ignore[arg-type]
