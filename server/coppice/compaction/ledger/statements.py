"""What the assistant stated that lasts: reasons, findings, reports at the end of a step, answers, plans."""

import re
from typing import Final

from coppice.compaction.text.markdown import CODE
from coppice.compaction.text.names import names_in
from coppice.compaction.text.sentences import sentences_of
from coppice.compaction.text.units import MOST_CHARS, NARRATION, is_intention, plain_line, units_of
from coppice.compaction.words import any_of, pattern, raw
from coppice.protocol.ledger import Statement, StatementKind

LEAST_SCORE: Final = 0.5
"""What a statement must reach to be kept in the ledger (measured with tests/benchmarks/takeover.py)."""
_SHORTEST: Final = 24  # characters of a statement (guess)
_FEWEST_WORDS: Final = 5  # words of a statement in a language with spaces (guess)
_WHOLE_WORDS: Final = 12  # words from which a statement with names is worth more (guess)
_INTENDED_NAMES: Final = 2
"""Names in an announcement from which it says exactly what was then done."""
_REASON: Final = pattern("REASON")
_CHOICE: Final = pattern("CHOICE")
_TROUBLE: Final = pattern("TROUBLE")
_BECAUSE: Final = pattern("BECAUSE")
_LASTING: Final = re.compile(rf"{any_of('BECAUSE')}|{any_of('TROUBLE')}", re.IGNORECASE)
_DECIDED: Final = pattern("DECIDED")
_COMPLETED: Final = pattern("COMPLETED")
_OUTCOME: Final = pattern("OUTCOME")
_PLAN_HEADING: Final = re.compile(rf"\W*{raw('PLAN_HEADING')}", re.IGNORECASE)
_OPEN: Final = pattern("OPEN")
_TRANSIENT: Final = pattern("TRANSIENT")
_NUMBER: Final = re.compile(r"(?<![\w.])\d[\d,.]*")
_QUESTION: Final = re.compile(r"[?？][\"'”)\]*]*$")
_REMEDY: Final = re.compile(
    rf"(?:i(?:['’]ll| will| need to| have to)|we(?:['’]ll| will| need to| should)|needs? )\b"
    rf"|{any_of('CHOICE')}",
    re.IGNORECASE,
)


def statements_in(
    text: str,
    entry: str,
    kind: StatementKind | None = None,
    *,
    about: str = "",
    weight: float = 1.0,
    last: bool = True,
) -> list[Statement]:
    """The statements of `text` that are worth keeping, in order, each complete and on one line.

    `kind` is what they are; None leaves that to their wording. `weight` scales their scores. What a text
    announces is kept only where it is the `last` one of its turn: otherwise what was done says more.
    """
    found = []
    for unit in units_of(text[:MOST_CHARS], plans=last):
        lasting = without_narration(unit, plans=last)
        if len(lasting) < _SHORTEST or (len(lasting.split()) < _FEWEST_WORDS and lasting.isascii()):
            continue
        score, is_what = score_of(lasting) * weight, _kind_of(lasting, kind)
        if score >= LEAST_SCORE:
            found.append(
                Statement(entry_id=entry, text=lasting, kind=is_what, about=about, score=round(score, 2))
            )
    return found


def intent_in(text: str, *, last: bool) -> str:
    """What a text announces at its end, or, where the turn ends with it, asks the user; else empty."""
    paragraph = next((line for line in reversed(text[-MOST_CHARS:].splitlines()) if line.strip()), "")
    sentences = list(sentences_of(plain_line(paragraph)))[-2:]
    found = [each for each in sentences if (_QUESTION.search if last else NARRATION.match)(each)]
    return " ".join(found).rstrip(":：")


def is_plan(text: str) -> bool:
    """Whether a statement begins as a list of steps does that are yet to be taken."""
    return bool(_PLAN_HEADING.match(text))


def score_of(text: str) -> float:
    """How much a colleague can do with a statement: reasons, choices, trouble and exact names count."""
    names = len(set(names_in(text)))
    return (
        0.25 * min(names, 4)
        + 0.3 * (bool(names) and len(text.split()) >= _WHOLE_WORDS)
        + 0.8 * bool(_REASON.search(text))
        + 0.6 * bool(_CHOICE.search(text))
        + 0.5 * bool(_TROUBLE.search(text))
        + 0.4 * bool(_OUTCOME.search(text))
        + 0.5 * bool(_OPEN.search(text))
        + 0.2 * bool(_NUMBER.search(text))
    )


def _kind_of(text: str, given: StatementKind | None) -> StatementKind:
    if given not in (None, "report"):
        return given
    if _DECIDED.search(text) and not _TRANSIENT.search(text):
        return "decision"
    if is_plan(text) or (_OPEN.search(text) and not _OUTCOME.search(text)):
        return "plan"
    return "report" if _COMPLETED.search(CODE.sub("", text)) and not _TROUBLE.search(text) else "finding"


def without_narration(unit: str, *, plans: bool = True) -> str:
    """`unit` without sentences about what is done next and questions to the user.

    A remedy that follows a problem stays: the two are one statement. Other intentions stay with `plans`.
    """
    kept: list[str] = []
    for sentence in sentences_of(unit):
        intends = (
            not plans
            and is_intention(sentence)
            and len(set(names_in(sentence))) < _INTENDED_NAMES
            and not _BECAUSE.search(sentence)
        )
        narrated = intends or (
            bool(NARRATION.match(sentence)) and not is_intention(sentence) and not _LASTING.search(sentence)
        )
        remedy = bool(kept) and bool(_TROUBLE.search(kept[-1])) and bool(_REMEDY.search(sentence))
        passing = bool(_TRANSIENT.search(sentence))
        empty = _QUESTION.search(sentence) or sentence.endswith((":", "："))
        if empty or passing or (narrated and not remedy):
            continue
        kept.append(sentence)
    return " ".join(kept)
