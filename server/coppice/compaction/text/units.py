"""Prose in pieces that are read on their own: paragraphs, and lists with what introduces them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from coppice.compaction.text.sentences import one_line, sentences_of
from coppice.compaction.words import raw

MOST_CHARS: Final = 60_000  # characters of a text that are read (guess)
_LONGEST: Final = 560
"""Characters of one statement (guess: four sentences)."""
_ITEM: Final = re.compile(r"\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)")
_HEADING: Final = re.compile(r"\s{0,3}(?:#{1,6}\s+(\S.{0,160})|\*\*([^*\n]{2,160})\*\*:?)\s*$")
_FENCE: Final = re.compile(r"\s{0,12}(?:```|~~~)")
_GAP: Final = "```"
"""Stands for code or a table that is left out."""
_INLINE_CHARS: Final = 240  # characters of code that is quoted within a sentence (guess)
_INLINE_LINES: Final = 5  # lines of it (guess)
_TABLE: Final = re.compile(r"\s*\||\s*[-=_*]{3,}\s*$|\s*::[\w-]{2,}\{")
_LINK: Final = re.compile(r"\[([^\]\n]{1,200})\]\(([^)\s]{1,400})\)")
NARRATION: Final = re.compile(raw("NARRATION"), re.IGNORECASE)
INTENTION: Final = re.compile(raw("INTENTION"), re.IGNORECASE)


def is_intention(text: str) -> bool:
    """Whether a statement has a sentence that says what the assistant is about to do."""
    return any(INTENTION.match(sentence) for sentence in sentences_of(text))


def plan_in(text: str) -> str:
    """The steps that a text announces as a list, the last one where there are several; else empty."""
    intro, items, found = "", list[str](), ""
    for line in [*_prose_lines(text[:MOST_CHARS]), _GAP]:
        item = _ITEM.match(line)
        if item is not None:
            items.append(plain_line(item[1]))
        elif line.strip():
            if len(items) > 1 and _announces(intro):
                found = "; ".join(items)
            intro, items = plain_line(line), []
    return found


def _announces(intro: str) -> bool:
    sentences = list(sentences_of(intro))
    return bool(sentences) and bool(INTENTION.match(sentences[-1])) and intro.endswith((":", "："))


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
            items.append(plain_line(item[1]))
        elif items and line.startswith((">", "  ")) and line.strip("> "):
            items[-1] = (
                f"{items[-1].rstrip('.')}. {plain_line(line.lstrip('> '))}"
                if line[0] == ">"
                else f"{items[-1]} {plain_line(line)}"
            )
        elif line.strip():
            if items:
                yield from _pieces(intro, items, plans=plans)
                intro, items = "", []
            heading = _HEADING.match(line)
            if heading:
                yield from _pieces("", paragraph)
                paragraph = []
                intro = f"{plain_line(heading[1] or heading[2]).rstrip(':')}:"
                continue
            paragraph.append(plain_line(line.lstrip("> ")))
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
    narrated = bool(NARRATION.match(intro))
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


def plain_line(line: str) -> str:
    """A line of Markdown as text on one line; a link keeps its address."""
    return one_line(_LINK.sub(r"\1 (\2)", line.replace("**", "")))
