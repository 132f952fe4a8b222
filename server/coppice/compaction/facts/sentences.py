"""Sentences, and text fitted to one line."""

import re
from collections.abc import Iterator
from typing import Final

_BULLET: Final = re.compile(r"\s*(?:[-*+•·‣]\s+(?:\[[ xX]\]\s+)?|\(?\d{1,3}[.)、]\s*(?!\d)|#{1,6}\s+)")
_END: Final = re.compile(r"(?<=[.!?])[\"')\]*_]{0,3}\s+|(?<=[。！？])[”』」）]?\s*")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|fig|[A-Za-z])\.)$", re.IGNORECASE
)
_OPEN_END: Final = re.compile(r"[A-Za-z0-9,;\-—'\")`]$")


def one_line(text: str) -> str:
    """`text` with every run of white space as one space; control characters are dropped."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def clip(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, cut at a word where there is one, marked with `…`."""
    if len(text) <= limit:
        return text
    head = text[: max(1, limit - 1)]
    space = head.rfind(" ", limit * 2 // 3)
    return f"{head[:space] if space > 0 else head}…"


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of `text`, each on one line, without list markers; wrapped lines are joined."""
    for paragraph in _paragraphs(text):
        start = 0
        for match in _END.finditer(paragraph):
            if (
                match.end() >= len(paragraph)
                or paragraph[max(start, match.start() - 2) : match.start()] == ".."
                or _ABBREVIATION.search(paragraph[start : match.start()][-12:])
            ):
                continue
            if match.end() > start:
                yield paragraph[start : match.end()].strip()
            start = match.end()
        if paragraph[start:].strip():
            yield paragraph[start:].strip()


def _paragraphs(text: str) -> Iterator[str]:
    """Lines, with a line that goes on in small letters joined to the one before."""
    current = ""
    for raw in text.splitlines():
        bullet = _BULLET.match(raw)
        line = one_line(raw[bullet.end() :] if bullet else raw)
        continues = line[:1].islower() or "\u4e00" <= line[:1] <= "\u9fff"
        wrapped = len(current) > 30 and _OPEN_END.search(current)  # noqa: PLR2004 - a shorter line ended itself
        if current and line and not bullet and continues and wrapped:
            current = f"{current} {line}"
            continue
        if current:
            yield current
        current = line
    if current:
        yield current
