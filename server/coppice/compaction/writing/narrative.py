"""The narrative without a model: quotations in the sections of the format, chosen by their place.

What it states is what was written: the request, rules, the reports that ended turns, causes of failures,
approvals.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.facts.user import is_bare_command, request_in
from coppice.compaction.summary import Summary, SummaryDecision
from coppice.compaction.text.answers import is_bare
from coppice.compaction.text.comparing import words_in
from coppice.compaction.text.lasting import lasting_sentences
from coppice.compaction.text.sentences import (
    clip,
    ended,
    in_quotes,
    one_line,
    whole_sentences,
)
from coppice.compaction.text.statements import statements_of
from coppice.compaction.writing.choosing import Line, chosen_lines
from coppice.compaction.writing.earlier import FOREIGN_SHARE, before, earlier_lines, quoted_foreign
from coppice.compaction.writing.quoted_lines import (
    ASKED_CHARS,
    commit_bodies,
    decisions,
    documents,
    ended_turns,
    overtaken_replies,
    publications,
    questions_in,
    reasons,
)
from coppice.compaction.writing.references import referenced
from coppice.protocol.ledger import LedgerMessage, Quotation, WorkLedger
from coppice.protocol.state import WorkState

_GOAL_CHARS: Final = 400
"""Characters of a request under Goal; its whole text is among the user's messages."""
_MOST_REPLIES: Final = 8
"""Reports, and answers, the newest: so that the length of a summary does not grow with the conversation."""
_MOST_DOCUMENTS: Final = 3  # the newest
_TITLE_STATEMENTS: Final = 1  # of an older document
_SHORT_RULES: Final = 1_000
"""Characters of a message of the application or a memory file; a longer one is among the messages only."""
_QUOTED: Final = "The earlier summary, as it was written{}:"


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
    lines = list(_lines(ledger, now, references, wanted))
    lines.sort(key=lambda line: not matches_focus(line.text, wanted))
    room = limit - count(bare)
    if room < 0:
        return Narrative("", 0)
    quoted = quoted_foreign(ledger, room // FOREIGN_SHARE, count)
    dated = before(ledger.earlier_before_commit)
    above = [Line("context", _QUOTED.format(dated), math.inf)] if quoted else []
    while room > 0:
        chosen = [*chosen_lines(lines, room - count(quoted), count), *above]
        text = "\n".join(filter(None, (_summary(chosen).render(), quoted)))
        over = count(text) - limit
        if over <= 0:
            return Narrative(text, sum(matches_focus(line.text, wanted) for line in chosen))
        room -= over + 8
    return Narrative(bare, 0)


def focus_words(focus: str | None) -> frozenset[str]:
    """The words of a focus that lines are matched with."""
    return frozenset(words_in(focus or "")) - {"focus"}


def matches_focus(text: str, wanted: frozenset[str]) -> bool:
    """Whether `text` has a word of the focus."""
    return bool(wanted) and not wanted.isdisjoint(words_in(text))


def _lines(
    ledger: WorkLedger, now: WorkState, references: Mapping[str, str], wanted: frozenset[str]
) -> Iterator[Line]:
    """The statements, the most important first."""
    earlier = list(earlier_lines(ledger))
    quotations = ledger.quotations
    yield from _goal(ledger, earlier, references)
    yield from (line for line in earlier if line.section == "constraints")
    yield from _rules(ledger.messages, references)
    yield from _under_way(ledger, now, references)
    current = _newest([each for each in quotations if not each.overtaken], wanted)
    overtaken = _newest([each for each in quotations if each.overtaken], wanted)
    reports = current["report"]
    yield from ended_turns(reports[:1], references)
    yield from (line for line in earlier if line.section not in ("goal", "constraints"))
    yield from decisions(ledger, references)
    shown = [each for each in quotations[::-1] if each.kind == "brief"]
    yield from documents(shown[:1], references)
    yield from ended_turns(reports[1:], references, first=1)
    yield from commit_bodies(now, references)
    yield from publications(quotations, references)
    yield from reasons(quotations, references)
    yield from ended_turns(current["answer"], references, first=3_000)
    yield from documents(shown[1:_MOST_DOCUMENTS], references, first=3_500, most=_TITLE_STATEMENTS)
    yield from overtaken_replies([*overtaken["report"], *overtaken["answer"]], references)


def _newest(quotations: list[Quotation], wanted: frozenset[str]) -> dict[str, list[Quotation]]:
    """By kind the newest few, newest first; those that match the focus come before the others."""
    kinds: dict[str, list[Quotation]] = {"report": [], "answer": []}
    newest_first = quotations[::-1]
    for each in sorted(newest_first, key=lambda each: not matches_focus(each.text, wanted)):
        if each.kind in kinds and len(kinds[each.kind]) < _MOST_REPLIES:
            kinds[each.kind].append(each)
    return kinds


def _goal(ledger: WorkLedger, earlier: list[Line], references: Mapping[str, str]) -> Iterator[Line]:
    asked = [each for each in ledger.messages if each.source == "user"]
    goals = [line for line in earlier if line.section == "goal"]
    yield from goals
    if asked and not goals:
        first = "First request: " if asked[1:] else ""
        yield Line("goal", f"{first}{whole_sentences(request_in(asked[0].text), _GOAL_CHARS)}")
    if asked[0 if goals else 1 :]:
        replied = ", replied to" if ledger.replied else ""
        answered = _answered(ledger, asked[-1])
        requests = asked if answered else [each for each in asked if not is_bare(each.text)]
        newest = (requests or asked)[-1]
        text = f"Newest request{replied}: {whole_sentences(request_in(newest.text), _GOAL_CHARS)}"
        if answered:
            text = f"{ended(text)}{answered}"
        yield Line("goal", referenced(text, newest.entry_id, references), 1_000)


def _answered(ledger: WorkLedger, message: LedgerMessage) -> str:
    """The question that the user's newest message answers, after it; empty where it answers none."""
    approved = [each for each in ledger.quotations if each.kind == "approval"][-1:]
    return "".join(
        f" It answers: {in_quotes(each.text)}" for each in approved if each.about == one_line(message.text)
    )


def _rules(messages: list[LedgerMessage], references: Mapping[str, str]) -> Iterator[Line]:
    """Sentences of the user that last, and short messages of the application; the newest first."""
    for place, message in reversed(list(enumerate(messages))):
        if message.source in ("user", "refusal"):
            rules = lasting_sentences(message.text)
        elif message.source == "answer":
            rules = []
        elif len(message.text) <= _SHORT_RULES:
            rules = [f"({message.source} message) {text}" for text in statements_of(message.text)]
        else:
            pointer = f"({message.source} message) Quoted below, so far as there is room."
            rules = [referenced(pointer, message.entry_id, references)]
        for number, text in enumerate(rules):
            yield Line("constraints", text, place + number / 1_000)


def _under_way(ledger: WorkLedger, now: WorkState, references: Mapping[str, str]) -> Iterator[Line]:
    causes = {each.about: each for each in ledger.quotations if each.kind == "cause"}
    for check in reversed(now.checks):
        cause = causes.get(check.command)
        if not check.passed and cause is not None:
            text = f"`{check.command}`: {check.result} The assistant on it: {ended(cause.text)}"
            yield Line("blocked", referenced(text, cause.entry_id, references))
    newest = ledger.quotations[-1] if ledger.quotations else None
    if newest is not None and newest.kind == "announcement":
        since = f", and changed {newest.about} since" if newest.about else ""
        text = f"Announced last{since}: {ended(newest.text)}"
        yield Line("in_progress", referenced(text, newest.entry_id, references))
    plans = [each for each in ledger.quotations if each.kind == "plan" and not each.overtaken]
    for plan in plans:
        since = f", before changes of {plan.about}" if plan.about else ""
        if planned := " ".join(map(ended, statements_of(plan.text))):
            text = f"Planned in this turn{since}: {planned}"
            yield Line("in_progress", referenced(text, plan.entry_id, references))
    if newest is not None and ledger.finished:
        for number, text in enumerate(questions_in(newest.text)):
            stated = referenced(f"The user was asked: {text}", newest.entry_id, references)
            yield Line("next_steps", stated, number / 1_000)
    tasks = [each for each in now.tasks if each.state in ("in_progress", "open")]
    for number, task in enumerate(tasks):
        yield Line("next_steps", task.title, 1 + number)
    asked = [each for each in ledger.messages if each.source == "user"]
    if asked and ledger.replied is False and not tasks:
        yield from _unanswered(ledger, asked[-1], references)


def _unanswered(ledger: WorkLedger, message: LedgerMessage, references: Mapping[str, str]) -> Iterator[Line]:
    """The user's newest message as a next step; none where it may ask for nothing, like a word of thanks."""
    text, answered = one_line(request_in(message.text)), _answered(ledger, message)
    if not is_bare_command(message.text) and (answered or not is_bare(text)):
        text = f"Not finished: {clip(text, ASKED_CHARS)}"
        text = f"{ended(text)}{answered}" if answered else text
        yield Line("next_steps", referenced(text, message.entry_id, references))


def _summary(lines: list[Line]) -> Summary:
    texts: dict[str, tuple[str, ...]] = {}
    for line in sorted(lines, key=lambda each: each.order):
        texts[line.section] = (*texts.get(line.section, ()), line.text)
    decisions = tuple(map(SummaryDecision, texts.pop("decisions", ())))
    return Summary(decisions=decisions, **texts)  # type: ignore[arg-type]
