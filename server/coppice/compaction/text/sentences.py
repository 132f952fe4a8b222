"""Sentences, and text fitted to one line."""

import re
from collections.abc import Iterator
from typing import Final

from coppice.escapes import without_sequences
from coppice.tokens.budget import leading

QUESTION_MARKS: Final = ("?", "？")
SHORTEST: Final = 20  # bytes of a sentence that states something to who has not read what is before it
ELISION: Final = "[…]"
"""The mark in place of what is left out."""
_BULLET: Final = re.compile(r"\s*(?:[-*+•·‣]\s+(?:\[[ xX]\]\s+)?|\(?\d{1,3}[.)、]\s*(?!\d)|#{1,6}\s+)")
_END: Final = re.compile(r"(?<=[.!?])[\"')\]*_]{0,3}\s+|(?<=[。！？])[”』」）]?\s*")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|fig|[A-Za-z])\.)$", re.IGNORECASE
)
_LABEL_CHARS: Final = 200  # characters of a title or a command; 87 % of 481 recorded commands have fewer
_SHORT_LINE: Final = 30
"""Characters of a line that its writer ended on purpose (guess)."""
_QUOTES: Final = re.compile('["“”„‟«»＂ʺ˝״″‶❝❞❠〝〞〟〃ˮ˶🙶🙷🙸]')
"""Quotation marks, but for the single ones, and what looks like them."""
_CLOSING: Final = "\"')]*_”』」）"
"""What may follow the mark at the end of a sentence."""
_MARKS: Final = (".", "!", "?", ":", "…", "。", "！", "？", "：")
_OPEN_END: Final = re.compile(r"[A-Za-z0-9,;\-—'\")`]$")


def one_line(text: str) -> str:
    """`text` with every run of white space as one space; escape sequences and control characters are
    dropped.
    """
    shown = without_sequences(text)
    return " ".join("".join(char if char.isprintable() else " " for char in shown).split())


def clip(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, cut at a word where there is one, marked with `…`."""
    if len(text) <= limit:
        return text
    head = text[: max(1, limit - 1)]
    space = head.rfind(" ", limit * 2 // 3)
    return f"{head[:space] if space > 0 else head}…"


def in_quotes(text: str) -> str:
    """`text` on one line between quotation marks, of which none is in it."""
    return "“" + _QUOTES.sub("'", one_line(text)) + "”"


def label(text: str) -> str:
    """`text` as a statement names it, a title, a command, a path: on one line, clipped."""
    return clip(one_line(text), _LABEL_CHARS)


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of `text`, each on one line, without list markers; wrapped lines are joined."""
    for paragraph in _paragraphs(text):
        start = 0
        for match in _END.finditer(paragraph):
            if (
                match.end() >= len(paragraph)
                or paragraph[max(start, match.start() - 2) : match.start()] == ".."
                or _ABBREVIATION.search(paragraph[max(start, match.start() - 12) : match.start()])
            ):
                continue
            if match.end() > start:
                yield paragraph[start : match.end()].strip()
            start = match.end()
        if paragraph[start:].strip():
            yield paragraph[start:].strip()


def _paragraphs(text: str) -> Iterator[str]:
    """Lines, with a line that goes on in small letters joined to the one before."""
    current: list[str] = []
    for raw in text.splitlines():
        bullet = _BULLET.match(raw)
        line = one_line(raw[bullet.end() :] if bullet else raw)
        continues = line[:1].islower() or "\u4e00" <= line[:1] <= "\u9fff"
        if current and line and not bullet and continues and _is_wrapped(current):
            current.append(line)
            continue
        if current:
            yield " ".join(current)
        current = [line] if line else []
    if current:
        yield " ".join(current)


def _is_wrapped(lines: list[str]) -> bool:
    """Whether a paragraph of these lines may go on in the next one; a short line ended itself."""
    return (len(lines) > 1 or len(lines[0]) > _SHORT_LINE) and bool(_OPEN_END.match(lines[-1][-1]))


def whole_sentences(text: str, limit: int) -> str:
    """The first sentences of `text` that fit `limit` characters with a mark for the others; a first one that
    is longer is clipped.
    """
    if len(text) <= limit:
        return text
    sentences = list(sentences_of(text))
    fitting = leading(sentences, limit - len(ELISION), lambda sentence: len(sentence) + 1)
    mark = [ELISION] if len(fitting) < len(sentences) else []
    return " ".join([*fitting, *mark]) if fitting else clip(text, limit)


def marked(text: str) -> str:
    """`text` with a mark at its end for what is left out there."""
    return text if text.endswith(ELISION) else f"{text} {ELISION}"


def ended(text: str) -> str:
    """`text` with a mark at its end, which quotation marks, brackets and emphasis may follow."""
    return text if text.rstrip(_CLOSING).endswith(_MARKS) else f"{text}."
