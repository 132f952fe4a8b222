"""The narrative without a model: quotations in the sections of the format, chosen by their place.

What it states is what was written: the request, rules, the reports that ended turns, causes of failures,
approvals.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import dropwhile, filterfalse, pairwise
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.facts.documents import BEFORE
from coppice.compaction.facts.publications import ON
from coppice.compaction.facts.user import is_bare_command, request_in
from coppice.compaction.summary import Summary, SummaryDecision
from coppice.compaction.text.answers import decides, is_bare
from coppice.compaction.text.lasting import lasting_sentences
from coppice.compaction.text.markdown import ITEM
from coppice.compaction.text.reasons import is_step
from coppice.compaction.text.sentences import (
    ELISION,
    QUESTION_MARKS,
    SHORTEST,
    clip,
    ended,
    in_quotes,
    marked,
    one_line,
    sentences_of,
    whole_sentences,
)
from coppice.compaction.text.statements import statements_of
from coppice.compaction.writing.choosing import Line, chosen_lines
from coppice.compaction.writing.earlier import FOREIGN_SHARE, before, earlier_lines, quoted_foreign
from coppice.compaction.writing.references import referenced
from coppice.compaction.writing.state_lines import PUBLISHED
from coppice.protocol.ledger import LedgerMessage, Quotation, WorkLedger
from coppice.protocol.state import WorkState

_GOAL_CHARS: Final = 400
"""Characters of a request under Goal; its whole text is among the user's messages."""
_FIRST_STATEMENTS: Final = 3
"""Statements of a reply that changes may have overtaken: people begin with what is done."""
_MOST_REPLIES: Final = 8
"""Reports, and answers, the newest: so that the length of a summary does not grow with the conversation."""
_MOST_DOCUMENTS: Final = 3  # the newest
_TITLE_STATEMENTS: Final = 1  # of an older document
_MOST_REASONS: Final = 12
"""Reasons of changes, and texts for others, the newest; four recorded sessions have at most 9."""
_SHORT_RULES: Final = 1_000
"""Characters of a message of the application or a memory file; a longer one is among the messages only."""
_ASKED_CHARS: Final = 100  # characters of a message that is quoted whole below
_MOST_ANSWERS: Final = 4  # questions that a tool of an agent asks at once; more lines are one long answer
_QUOTED: Final = "The earlier summary, as it was written{}:"
_WORD: Final = re.compile(r"\w{3,}|[\u4e00-\u9fff]{2}")
_GLUE: Final = frozenset((
    "the", "and", "for", "with", "about", "this", "that", "please", "focus", "what", "was", "were", "are",
    "look", "from", "keep", "all",
))  # fmt: skip


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
    return frozenset(_WORD.findall((focus or "").casefold())) - _GLUE


def matches_focus(text: str, wanted: frozenset[str]) -> bool:
    """Whether `text` has a word of the focus."""
    return bool(wanted) and not wanted.isdisjoint(_WORD.findall(text.casefold()))


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
    yield from _ended_turns(reports[:1], references)
    yield from (line for line in earlier if line.section not in ("goal", "constraints"))
    yield from _decisions(ledger, references)
    documents = [each for each in quotations[::-1] if each.kind == "brief"]
    yield from _documents(documents[:1], references)
    yield from _ended_turns(reports[1:], references, first=1)
    yield from _bodies(now, references)
    yield from _publications(quotations, references)
    yield from _reasons(quotations, references)
    yield from _ended_turns(current["answer"], references, first=3_000)
    yield from _documents(documents[1:_MOST_DOCUMENTS], references, first=3_500, most=_TITLE_STATEMENTS)
    yield from _overtaken([*overtaken["report"], *overtaken["answer"]], references)


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
            text = f"`{check.command}`: {check.result} The assistant on it: {cause.text}"
            yield Line("blocked", referenced(text, cause.entry_id, references))
    newest = ledger.quotations[-1] if ledger.quotations else None
    if newest is not None and newest.kind == "announcement":
        since, announced = "", newest.text
        if newest.about:
            since = f", and changed {newest.about} since"
            announced = " ".join(filterfalse(is_step, sentences_of(announced))) or announced
        text = f"Announced last{since}: {announced}"
        yield Line("in_progress", referenced(text, newest.entry_id, references))
    plans = [each for each in ledger.quotations if each.kind == "plan" and not each.overtaken]
    for plan in plans:
        since = f", before changes of {plan.about}" if plan.about else ""
        lists = any(map(ITEM.match, plan.text.splitlines()))
        planned = _without_steps(plan.text) if lists else " ".join(map(ended, statements_of(plan.text)))
        text = f"Planned in this turn{since}: {planned}"
        yield Line("in_progress", referenced(text, plan.entry_id, references))
    if newest is not None and ledger.finished:
        for number, text in enumerate(_questions(newest.text)):
            stated = referenced(f"The user was asked: {text}", newest.entry_id, references)
            yield Line("next_steps", stated, number / 1_000)
    tasks = [each for each in now.tasks if each.state in ("in_progress", "open")]
    for number, task in enumerate(tasks):
        yield Line("next_steps", task.title, 1 + number)
    asked = [each for each in ledger.messages if each.source == "user"]
    if asked and ledger.replied is False and not tasks:
        yield from _unanswered(ledger, asked[-1], references, planned=bool(plans))


def _unanswered(
    ledger: WorkLedger, message: LedgerMessage, references: Mapping[str, str], *, planned: bool
) -> Iterator[Line]:
    """The user's newest message as a next step; none where it may ask for nothing, like a word of thanks."""
    text, answered = one_line(request_in(message.text)), _answered(ledger, message)
    if is_bare_command(message.text):
        return
    if planned and len(text.encode()) < SHORTEST:
        yield Line("next_steps", "What is left of the plan in progress.")
    elif answered or not is_bare(text):
        text = f"Not finished: {clip(text, _ASKED_CHARS)}"
        text = f"{ended(text)}{answered}" if answered else text
        yield Line("next_steps", referenced(text, message.entry_id, references))


def _ended_turns(replies: list[Quotation], references: Mapping[str, str], first: int = 0) -> Iterator[Line]:
    """What ended turns; answers after what was asked."""
    for place, reply in enumerate(replies, first):
        texts, done = _texts(reply)
        if reply.kind == "answer" and texts:
            texts[0] = f"{_replied(reply)}: {texts[0]}"
        for number, text in enumerate(texts):
            section = "done" if number < done else "context"
            yield Line(section, referenced(text, reply.entry_id, references), place + number / 1_000)


def _overtaken(replies: list[Quotation], references: Mapping[str, str]) -> Iterator[Line]:
    """Replies that later changes may have overtaken: the first statements of each in one line."""
    for place, reply in enumerate(replies, 4_000):
        texts, done = _texts(reply)
        if texts := _first(texts, min(done or len(texts), _FIRST_STATEMENTS)):
            then = before(reply.before_commit) or " before later changes"
            text = f"{_replied(reply)}{then}: {' '.join(map(ended, texts))}"
            section = "done" if reply.kind == "report" else "context"
            yield Line(section, referenced(text, reply.entry_id, references), place)


def _texts(reply: Quotation) -> tuple[list[str], int]:
    """The statements of a reply, and how many of them, from the first, are about what is done: what is
    written right before a question is about what comes next.
    """
    texts = [text for each in statements_of(reply.text) if (text := _stated(each)).strip(f"{ELISION} ")]
    if reply.kind == "answer":
        return texts, 0
    return texts, len(texts) - (len(texts) > 1 and bool(_questions(reply.text)))


def _first(texts: list[str], most: int) -> list[str]:
    """At most `most` of the statements, with a mark for the others."""
    return texts if len(texts) <= most else [*texts[: most - 1], marked(ended(texts[most - 1]))]


def _replied(reply: Quotation) -> str:
    return f"To “{clip(reply.about, _ASKED_CHARS)}” the assistant" if reply.about else "The assistant"


def _stated(text: str) -> str:
    """`text` without questions, which the next message dealt with, and without words like "Fixed it."."""
    return " ".join(
        each
        for each in sentences_of(text)
        if each == ELISION or (len(each.encode()) >= SHORTEST and not each.endswith(QUESTION_MARKS))
    )


def _questions(text: str) -> list[str]:
    return [each for each in sentences_of(text[-2_000:]) if each.endswith(QUESTION_MARKS)]


def _decisions(ledger: WorkLedger, references: Mapping[str, str]) -> Iterator[Line]:
    """Answers of the user that decide something, and answers to questions of tools, the newest first; the
    newest request is under Goal.
    """
    newest = next((one_line(each.text) for each in reversed(ledger.messages) if each.source == "user"), "")
    answered = [each for each in ledger.quotations if each.kind == "approval" and each.about != newest]
    short = [each for each in answered if len(each.about) <= _ASKED_CHARS]
    approvals = [each for each in short if decides(each.text, each.about)]
    reasons = {
        id(each): following.text
        for each, following in pairwise(ledger.quotations)
        if following.kind == "reason" and not following.about and following.entry_id == each.entry_id
    }
    answers = [each for each in ledger.messages if each.source == "answer"]
    for place, (question, answer, entry, reason) in enumerate(
        [
            (each.text, clip(each.about, _ASKED_CHARS), each.entry_id, reasons.get(id(each)))
            for each in reversed(approvals)
        ]
        + [(each.about, _apart(each.text), each.entry_id, None) for each in reversed(answers)]
    ):
        text = f"Asked: {in_quotes(question)} The user: {answer}"
        if reason:
            text = f"{ended(text)} The reasons given: {reason}"
        yield Line("decisions", referenced(text, entry, references), place)


def _apart(answers: str) -> str:
    """The answers to the questions of a call, on one line, in quotation marks where they are several."""
    lines = filter(None, map(one_line, answers.replace("\n  ", " ").split("\n")))
    each = [clip(line, _ASKED_CHARS) for line in lines]
    if len(each) > _MOST_ANSWERS:
        each = [clip(" ".join(each), _ASKED_CHARS)]
    return " ".join(map(in_quotes, each)) if len(each) > 1 else "".join(each)


def _reasons(quotations: list[Quotation], references: Mapping[str, str]) -> Iterator[Line]:
    """What was written before files were changed and reads like a reason, the newest first."""
    planned = {each.entry_id for each in quotations if each.kind == "plan" and each.entry_id}
    reasons = [each for each in quotations if each.kind == "reason" and each.about]
    reasons = [each for each in reasons if each.entry_id not in planned]
    for place, each in enumerate(reversed(reasons[-_MOST_REASONS:]), 1_000):
        text = f"The assistant before changing {each.about}: {ended(each.text)}"
        yield Line("decisions", referenced(text, each.entry_id, references), place)


def _without_steps(text: str) -> str:
    """The statements of `text` together, without what it begins with about the steps of the work."""
    sentences = [sentence for statement in statements_of(text) for sentence in sentences_of(statement)]
    return " ".join(map(ended, list(dropwhile(is_step, sentences)) or sentences))


def _documents(
    documents: list[Quotation], references: Mapping[str, str], first: int = 1_000, most: int | None = None
) -> Iterator[Line]:
    """The first statements of documents, at most `most` of each, after what showed it."""
    for place, each in enumerate(documents, first):
        texts = [text for text in statements_of(each.text) if len(text) >= SHORTEST]
        shown_by, _, later = each.about.partition(BEFORE)
        title = f"`{shown_by}`, quoted{f', before `{later}`' if later else ''}:"
        for number, text in enumerate([title, *_first(texts, most or len(texts))]):
            yield Line("context", referenced(text, each.entry_id, references), place + number / 1_000)


def _bodies(now: WorkState, references: Mapping[str, str]) -> Iterator[Line]:
    for place, commit in enumerate(reversed(now.commits)):
        if commit.body:
            text = f"Commit {commit.hash or in_quotes(commit.subject)}: {one_line(commit.body)}"
            yield Line("done", referenced(text, commit.entry_id, references), 1_000 + place)


def _publications(quotations: list[Quotation], references: Mapping[str, str]) -> Iterator[Line]:
    """What was written for others, the newest first."""
    published = [each for each in quotations if each.kind == "publication"]
    for place, each in enumerate(reversed(published[-_MOST_REASONS:]), 2_000):
        texts = " ".join(map(ended, statements_of(each.text)))
        command, _, file = each.about.partition(ON)
        text = f"{PUBLISHED}{command}`{f', on {file}' if file else ''}: {texts}"
        yield Line("done", referenced(text, each.entry_id, references), place)


def _summary(lines: list[Line]) -> Summary:
    texts: dict[str, tuple[str, ...]] = {}
    for line in sorted(lines, key=lambda each: each.order):
        texts[line.section] = (*texts.get(line.section, ()), line.text)
    decisions = tuple(map(SummaryDecision, texts.pop("decisions", ())))
    return Summary(decisions=decisions, **texts)  # type: ignore[arg-type]
