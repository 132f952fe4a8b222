"""Lines that quote: replies, decisions, reasons, documents, commits and texts for others."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from coppice.compaction.facts.documents import BEFORE
from coppice.compaction.facts.publications import ON
from coppice.compaction.text.answers import decides
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
)
from coppice.compaction.text.statements import statements_of
from coppice.compaction.writing.choosing import Line
from coppice.compaction.writing.earlier import before
from coppice.compaction.writing.references import referenced
from coppice.compaction.writing.state_lines import PUBLISHED
from coppice.protocol.ledger import Quotation, WorkLedger
from coppice.protocol.state import WorkState

_FIRST_STATEMENTS: Final = 3
"""Statements of a reply that changes may have overtaken: people begin with what is done."""
_MOST_REASONS: Final = 12
"""Reasons of changes, and texts for others, the newest; four recorded sessions have at most 9."""
ASKED_CHARS: Final = 100  # characters of a message that is quoted whole below
_MOST_ANSWERS: Final = 4  # questions that a tool of an agent asks at once; more lines are one long answer


def ended_turns(replies: list[Quotation], references: Mapping[str, str], first: int = 0) -> Iterator[Line]:
    """What ended turns; answers after what was asked."""
    for place, reply in enumerate(replies, first):
        texts, done = _texts(reply)
        if reply.kind == "answer" and texts:
            texts[0] = f"{_replied(reply)}: {texts[0]}"
        for number, text in enumerate(texts):
            section = "done" if number < done else "context"
            yield Line(section, referenced(text, reply.entry_id, references), place + number / 1_000)


def overtaken_replies(replies: list[Quotation], references: Mapping[str, str]) -> Iterator[Line]:
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
    return texts, len(texts) - (len(texts) > 1 and bool(questions_in(reply.text)))


def _first(texts: list[str], most: int) -> list[str]:
    """At most `most` of the statements, with a mark for the others."""
    return texts if len(texts) <= most else [*texts[: most - 1], marked(ended(texts[most - 1]))]


def _replied(reply: Quotation) -> str:
    return f"To “{clip(reply.about, ASKED_CHARS)}” the assistant" if reply.about else "The assistant"


def _stated(text: str) -> str:
    """`text` without questions, which the next message dealt with, and without words like "Fixed it."."""
    return " ".join(
        each
        for each in sentences_of(text)
        if each == ELISION or (len(each.encode()) >= SHORTEST and not each.endswith(QUESTION_MARKS))
    )


def questions_in(text: str) -> list[str]:
    """The questions at the end of a reply."""
    return [each for each in sentences_of(text[-2_000:]) if each.endswith(QUESTION_MARKS)]


def decisions(ledger: WorkLedger, references: Mapping[str, str]) -> Iterator[Line]:
    """Answers of the user that decide something, and answers to questions of tools, the newest first; the
    newest request is under Goal.
    """
    newest = next((one_line(each.text) for each in reversed(ledger.messages) if each.source == "user"), "")
    answered = [each for each in ledger.quotations if each.kind == "approval" and each.about != newest]
    short = [each for each in answered if len(each.about) <= ASKED_CHARS]
    approvals = [each for each in short if decides(each.text, each.about)]
    reasons = {
        id(each): following.text
        for each, following in pairwise(ledger.quotations)
        if following.kind == "reason" and not following.about and following.entry_id == each.entry_id
    }
    answers = [each for each in ledger.messages if each.source == "answer"]
    for place, (question, answer, entry, reason) in enumerate(
        [
            (each.text, clip(each.about, ASKED_CHARS), each.entry_id, reasons.get(id(each)))
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
    each = [clip(line, ASKED_CHARS) for line in lines]
    if len(each) > _MOST_ANSWERS:
        each = [clip(" ".join(each), ASKED_CHARS)]
    return " ".join(map(in_quotes, each)) if len(each) > 1 else "".join(each)


def reasons(quotations: list[Quotation], references: Mapping[str, str]) -> Iterator[Line]:
    """What was written before files were changed and reads like a reason, the newest first."""
    planned = {each.entry_id for each in quotations if each.kind == "plan" and each.entry_id}
    reasons = [each for each in quotations if each.kind == "reason" and each.about]
    reasons = [each for each in reasons if each.entry_id not in planned]
    for place, each in enumerate(reversed(reasons[-_MOST_REASONS:]), 1_000):
        text = f"The assistant before changing {each.about}: {ended(each.text)}"
        yield Line("decisions", referenced(text, each.entry_id, references), place)


def documents(
    shown: list[Quotation], references: Mapping[str, str], first: int = 1_000, most: int | None = None
) -> Iterator[Line]:
    """The first statements of documents, at most `most` of each, after what showed it."""
    for place, each in enumerate(shown, first):
        texts = [text for text in statements_of(each.text) if len(text) >= SHORTEST]
        shown_by, _, later = each.about.partition(BEFORE)
        title = f"`{shown_by}`, quoted{f', before `{later}`' if later else ''}:"
        for number, text in enumerate([title, *_first(texts, most or len(texts))]):
            yield Line("context", referenced(text, each.entry_id, references), place + number / 1_000)


def commit_bodies(now: WorkState, references: Mapping[str, str]) -> Iterator[Line]:
    """What the messages of commits say below their subjects, the newest first."""
    for place, commit in enumerate(reversed(now.commits)):
        if commit.body:
            text = f"Commit {commit.hash or commit.subject}: {one_line(commit.body)}"
            yield Line("done", referenced(text, commit.entry_id, references), 1_000 + place)


def publications(quotations: list[Quotation], references: Mapping[str, str]) -> Iterator[Line]:
    """What was written for others, the newest first."""
    published = [each for each in quotations if each.kind == "publication"]
    for place, each in enumerate(reversed(published[-_MOST_REASONS:]), 2_000):
        texts = " ".join(map(ended, statements_of(each.text)))
        command, _, file = each.about.partition(ON)
        text = f"{PUBLISHED}{command}`{f', on {file}' if file else ''}: {texts}"
        yield Line("done", referenced(text, each.entry_id, references), place)
