"""Prose in pieces that are read on their own: paragraphs, and lists with what introduces them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from coppice.compaction.text.markdown import FENCE, ITEM, heading_in
from coppice.compaction.text.sentences import one_line, sentences_of
from coppice.compaction.words import raw

MOST_CHARS: Final = 60_000  # characters of a text that are read (guess)
_LONGEST: Final = 560
"""Characters of one statement (guess: four sentences)."""
_GAP: Final = "```"
"""Stands for code or a table that is left out."""
_INLINE_CHARS: Final = 240  # characters of code that is quoted within a sentence (guess)
_INLINE_LINES: Final = 5  # lines of it (guess)
_TABLE: Final = re.compile(r"\s*\||\s*[-=_*]{3,}\s*$|\s*::[\w-]{2,}\{")
_LINK: Final = re.compile(r"\[([^\]\n]{1,200})\]\(([^)\s]{1,400})\)")
_INTRODUCES: Final = (":", "：")
NARRATION: Final = re.compile(raw("NARRATION"), re.IGNORECASE)
INTENTION: Final = re.compile(raw("INTENTION"), re.IGNORECASE)


def is_intention(text: str) -> bool:
    """Whether a statement has a sentence that says what the assistant is about to do."""
    return any(INTENTION.match(sentence) for sentence in sentences_of(text))


def plan_in(text: str) -> str:
    """The steps that a text announces as a list, the last one where there are several; else empty."""
    plans = [items for intro, items in _blocks(text[:MOST_CHARS]) if len(items) > 1 and _announces(intro)]
    return "; ".join(plans[-1]) if plans else ""


def units_of(text: str, *, plans: bool = True) -> Iterator[str]:
    """Paragraphs, and lists with the line that introduces them, in pieces of bounded length, no part cut.

    A list of announced steps is left out unless `plans`.
    """
    for intro, parts in _blocks(text):
        if not plans and _announces(intro):
            continue
        start = "" if NARRATION.match(intro) else intro
        for some in packed(filter(None, parts), _LONGEST - len(start)):
            for piece in [joined(some)] if len(some) > 1 else _within(some[0]):
                yield f"{start} {piece}".strip()


def packed(parts: Iterable[str], limit: int) -> Iterator[list[str]]:
    """Neighbouring parts together, as many as have at most `limit` characters."""
    current: list[str] = []
    for part in parts:
        if current and sum(map(len, current)) + len(part) > limit:
            yield current
            current = []
        current.append(part)
    if current:
        yield current


def joined(parts: Sequence[str]) -> str:
    """`parts` as one statement; one that ends in a colon introduces the next."""
    if len(parts) == 1:
        return parts[0]
    text = "".join(f"{part} " if part.endswith(_INTRODUCES) else f"{part.rstrip('.;')}; " for part in parts)
    return f"{text.rstrip('; ')}."


def _announces(intro: str) -> bool:
    sentences = list(sentences_of(intro))
    return bool(sentences) and bool(INTENTION.match(sentences[-1])) and intro.endswith(_INTRODUCES)


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """The lists of a text with what introduces each, and its paragraphs without an introduction.

    A sentence that introduces code that is left out has lost its object and goes with it.
    """
    intro, items, paragraph = "", list[str](), list[str]()
    for line in [*_prose_lines(text), ""]:
        item, heading = ITEM.match(line), heading_in(line)
        goes_on = not line.strip() or (line.startswith((">", "  ")) and bool(line.strip("> ")))
        if items and not item and not goes_on:
            yield intro, items
            intro, items = "", []
        if line == _GAP:
            yield "", [_split_intro(paragraph)[0]]
            intro, paragraph = "", []
        elif item:
            if paragraph:
                before, intro = _split_intro(paragraph)
                yield "", [before]
                paragraph = []
            items.append(plain_line(item[2]))
        elif items and line.strip():
            before = f"{items[-1].rstrip('.')}." if line.startswith(">") else items[-1]
            items[-1] = f"{before} {plain_line(line.lstrip('> '))}"
        elif heading:
            yield "", [" ".join(paragraph)]
            intro, paragraph = f"{plain_line(heading).rstrip(':')}:", []
        elif line.strip():
            paragraph.append(plain_line(line.lstrip("> ")))
        elif paragraph and not paragraph[-1].endswith((*_INTRODUCES, "`.")):
            yield "", [" ".join(paragraph)]
            paragraph = []
    yield intro, items
    yield "", [" ".join(paragraph)]


def _split_intro(paragraph: list[str]) -> tuple[str, str]:
    """A paragraph, and the sentence at its end that introduces what follows, if one does."""
    sentences = list(sentences_of(" ".join(paragraph)))
    intro = sentences.pop() if sentences and sentences[-1].endswith(_INTRODUCES) else ""
    return " ".join(sentences), intro


def _within(part: str) -> list[str]:
    """`part` in pieces of whole sentences; one that is far too long is left out."""
    if len(part) <= _LONGEST:
        return [part]
    pieces = (" ".join(some) for some in packed(sentences_of(part), _LONGEST))
    return [piece for piece in pieces if len(piece) <= 2 * _LONGEST]


def _prose_lines(text: str) -> Iterator[str]:
    """Lines of prose. A line or two of code are one line of prose; longer code and tables leave a gap."""
    code: list[str] | None = None
    for line in text.splitlines():
        if FENCE.match(line):
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
