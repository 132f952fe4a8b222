"""What the assistant stated that lasts: reasons, findings, reports at the end of a step, answers, plans."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from coppice.compaction.text.names import names_in
from coppice.compaction.text.sentences import one_line, sentences_of
from coppice.compaction.words import any_of, pattern, raw
from coppice.protocol.ledger import Statement, StatementKind

LEAST_SCORE: Final = 0.5
"""What a statement must reach to be kept in the ledger (measured with tests/benchmarks/takeover.py)."""
_LONGEST: Final = 560
"""Characters of one statement (guess: four sentences)."""
_SHORTEST: Final = 24  # characters of a statement (guess)
_FEWEST_WORDS: Final = 5  # words of a statement in a language with spaces (guess)
_WHOLE_WORDS: Final = 12  # words from which a statement with names is worth more (guess)
_MOST_CHARS: Final = 60_000  # characters of a text that are read (guess)
_ITEM: Final = re.compile(r"\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)")
_HEADING: Final = re.compile(r"\s{0,3}(?:#{1,6}\s+(\S.{0,160})|\*\*([^*\n]{2,160})\*\*:?)\s*$")
_FENCE: Final = re.compile(r"\s{0,12}(?:```|~~~)")
_GAP: Final = "```"
"""Stands for code or a table that is left out."""
_INLINE_CHARS: Final = 240  # characters of code that is quoted within a sentence (guess)
_INLINE_LINES: Final = 5  # lines of it (guess)
_INTENDED_NAMES: Final = 2
"""Names in an announcement from which it says exactly what was then done."""
_TABLE: Final = re.compile(r"\s*\||\s*[-=_*]{3,}\s*$|\s*::[\w-]{2,}\{")
_LINK: Final = re.compile(r"\[([^\]\n]{1,200})\]\(([^)\s]{1,400})\)")
_NARRATION: Final = re.compile(raw("NARRATION"), re.IGNORECASE)
_INTENTION: Final = re.compile(raw("INTENTION"), re.IGNORECASE)
_REASON: Final = pattern("REASON")
_CHOICE: Final = pattern("CHOICE")
_TROUBLE: Final = pattern("TROUBLE")
_BECAUSE: Final = pattern("BECAUSE")
_LASTING: Final = re.compile(rf"{any_of('BECAUSE')}|{any_of('TROUBLE')}", re.IGNORECASE)
_DECIDED: Final = pattern("DECIDED")
_COMPLETED: Final = pattern("COMPLETED")
_CODE: Final = re.compile(r"`[^`]{1,300}`")
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
    for unit in units_of(text[:_MOST_CHARS], plans=last):
        lasting = without_narration(unit, plans=last)
        if len(lasting) < _SHORTEST or (len(lasting.split()) < _FEWEST_WORDS and lasting.isascii()):
            continue
        score = score_of(lasting) * weight
        if score >= LEAST_SCORE:
            statement = Statement(
                entry_id=entry,
                text=lasting,
                kind=_kind_of(lasting, kind),
                about=about,
                score=round(score, 2),
            )
            found.append(statement)
    return found


def intent_in(text: str, *, last: bool) -> str:
    """What a text announces at its end, or, where the turn ends with it, asks the user; else empty."""
    paragraph = next((line for line in reversed(text[-_MOST_CHARS:].splitlines()) if line.strip()), "")
    sentences = list(sentences_of(_plain(paragraph)))[-2:]
    found = [each for each in sentences if (_QUESTION.search if last else _NARRATION.match)(each)]
    return " ".join(found).rstrip(":：")


def plan_in(text: str) -> str:
    """The steps that a text announces as a list, the last one where there are several; else empty."""
    intro, items, found = "", list[str](), ""
    for line in [*_prose_lines(text[:_MOST_CHARS]), _GAP]:
        item = _ITEM.match(line)
        if item is not None:
            items.append(_plain(item[1]))
        elif line.strip():
            if len(items) > 1 and _announces(intro):
                found = "; ".join(items)
            intro, items = _plain(line), []
    return found


def _announces(intro: str) -> bool:
    sentences = list(sentences_of(intro))
    return bool(sentences) and bool(_INTENTION.match(sentences[-1])) and intro.endswith((":", "："))


def is_intention(text: str) -> bool:
    """Whether a statement has a sentence that says what the assistant is about to do."""
    return any(_INTENTION.match(sentence) for sentence in sentences_of(text))


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
    return "report" if _COMPLETED.search(_CODE.sub("", text)) and not _TROUBLE.search(text) else "finding"


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
            bool(_NARRATION.match(sentence)) and not is_intention(sentence) and not _LASTING.search(sentence)
        )
        remedy = bool(kept) and bool(_TROUBLE.search(kept[-1])) and bool(_REMEDY.search(sentence))
        passing = bool(_TRANSIENT.search(sentence))
        empty = _QUESTION.search(sentence) or sentence.endswith((":", "："))
        if empty or passing or (narrated and not remedy):
            continue
        kept.append(sentence)
    return " ".join(kept)


def units_of(text: str, *, plans: bool = True) -> Iterator[str]:
    """Paragraphs, and lists with the line that introduces them, in pieces of bounded length.

    A list of announced steps is left out unless `plans`. A sentence that introduces code that is left out
    has lost its object and goes with it.
    """
    intro, items, paragraph = "", list[str](), list[str]()
    for line in [*_prose_lines(text), ""]:
        if line == _GAP:
            yield from _pieces(intro, items, plans=plans)
            yield from _pieces("", _split_intro(paragraph)[:-1] if paragraph else [])
            intro, items, paragraph = "", [], []
            continue
        item = _ITEM.match(line)
        if item is not None:
            if paragraph:
                *before, intro = _split_intro(paragraph)
                yield from _pieces("", before)
                paragraph = []
            items.append(_plain(item[1]))
        elif items and line.startswith((">", "  ")) and line.strip("> "):
            items[-1] = (
                f"{items[-1].rstrip('.')}. {_plain(line.lstrip('> '))}"
                if line[0] == ">"
                else f"{items[-1]} {_plain(line)}"
            )
        elif line.strip():
            if items:
                yield from _pieces(intro, items, plans=plans)
                intro, items = "", []
            heading = _HEADING.match(line)
            if heading:
                yield from _pieces("", paragraph)
                paragraph = []
                intro = f"{_plain(heading[1] or heading[2]).rstrip(':')}:"
                continue
            paragraph.append(_plain(line.lstrip("> ")))
        elif paragraph and not paragraph[-1].endswith((":", "：", "`.")):
            yield from _pieces("", [" ".join(paragraph)])
            paragraph = []
    yield from _pieces(intro, items, plans=plans)
    yield from _pieces("", [" ".join(paragraph)] if paragraph else [])


def _split_intro(paragraph: list[str]) -> list[str]:
    """A paragraph and the sentence that introduces the list after it; the last item is empty without one."""
    sentences = list(sentences_of(" ".join(paragraph)))
    if sentences and sentences[-1].endswith((":", "：")):
        return [" ".join(sentences[:-1]), sentences[-1]]
    return [" ".join(sentences), ""]


def _pieces(intro: str, parts: Iterable[str], *, plans: bool = True) -> Iterator[str]:
    """The parts after their introduction, as many in one piece as its length allows, none cut."""
    if not plans and _announces(intro):
        return
    narrated = bool(_NARRATION.match(intro))
    start = "" if narrated else intro
    whole = [part for part in parts if part]
    current: list[str] = []
    for part in whole:
        if current and len(start) + sum(map(len, current)) + len(part) > _LONGEST:
            yield _joined(start, current)
            current = []
        current.extend(_within(part))
        while len(current) > 1 and len(start) + sum(map(len, current)) > _LONGEST:
            yield _joined(start, current[:1])
            current = current[1:]
    if current:
        yield _joined(start, current)


def _within(part: str) -> list[str]:
    """`part` in pieces of whole sentences."""
    if len(part) <= _LONGEST:
        return [part]
    pieces = [""]
    for sentence in sentences_of(part):
        if pieces[-1] and len(pieces[-1]) + len(sentence) > _LONGEST:
            pieces.append("")
        pieces[-1] = f"{pieces[-1]} {sentence}".strip()
    return [piece for piece in pieces if len(piece) <= 2 * _LONGEST]


def joined(parts: Sequence[str]) -> str:
    """`parts` as one statement; one that ends in a colon introduces the next."""
    if len(parts) == 1:
        return parts[0]
    text = "".join(f"{part} " if part.endswith((":", "：")) else f"{part.rstrip('.;')}; " for part in parts)
    return f"{text.rstrip('; ')}."


def _joined(intro: str, parts: list[str]) -> str:
    return f"{intro} {joined(parts)}" if intro else joined(parts)


def _prose_lines(text: str) -> Iterator[str]:
    """Lines of prose. A line or two of code are one line of prose; longer code and tables leave a gap."""
    code: list[str] | None = None
    for line in text.splitlines():
        if _FENCE.match(line):
            if code is not None:
                short = len(code) <= _INLINE_LINES and sum(map(len, code)) <= _INLINE_CHARS
                yield f"`{'; '.join(code)}`." if code and short else _GAP
            code = [] if code is None else None
        elif code is not None:
            code += [line.strip()[: _INLINE_CHARS + 1]] if line.strip() else []
        elif _TABLE.match(line[:200]):
            yield _GAP
        else:
            yield line[:4_000]


def _plain(line: str) -> str:
    return one_line(_LINK.sub(r"\1 (\2)", line.replace("**", "")))
