"""The place of a hit, on one line."""

from collections.abc import Sequence
from typing import Final

from coppice.store.words import Term, occurs, places

SNIPPET_CHARS: Final = 200
_BEFORE: Final = 60
_WITHIN: Final = 120
_SPACE_FOR_SPACE: Final = 4
"""White space is drawn together only after a stretch so many times too long has been cut out."""


def snippet(text: str, terms: Sequence[Term]) -> str:
    """The stretch of `text` that holds most of the `terms`, at most `SNIPPET_CHARS` long."""
    start = _place(text, terms)
    before = " ".join(text[max(start - _BEFORE * _SPACE_FOR_SPACE, 0) : start].split(" ")[-20:])
    before = " ".join(before.split())
    cut = start > _BEFORE * _SPACE_FOR_SPACE or len(before) > _BEFORE
    if len(before) > _BEFORE:
        before = before[-_BEFORE:].partition(" ")[2] or before[-_BEFORE:]
    room = SNIPPET_CHARS - len(before) - 3
    raw = text[start : start + room * _SPACE_FOR_SPACE]
    after = " ".join(raw.split())
    more = start + len(raw) < len(text) or len(after) > room
    gap = " " if before and start and text[start - 1].isspace() else ""
    return f"{'…' if cut else ''}{before}{gap}{after[:room].rstrip()}{'…' if more else ''}"


def _place(text: str, terms: Sequence[Term]) -> int:
    """Where the terms stand closest together begins; 0 where none is found."""
    found = list(places(text))
    words = [place.word for place in found]
    beginnings = {
        word for term in terms for word in term.words[:1] if not (term.prefix and len(term.words) == 1)
    }
    stems = tuple(term.words[0] for term in terms if term.prefix and len(term.words) == 1)
    hits = [
        (found[at].start, number)
        for at, word in enumerate(words)
        if word in beginnings or (stems and word.startswith(stems))
        for number, term in enumerate(terms)
        if occurs(term, words, at)
    ]
    best, most = 0, 0
    for at, (start, _) in enumerate(hits):
        near: set[int] = set()
        for other, number in hits[at:]:
            if other - start > _WITHIN or len(near) == len(terms):
                break
            near.add(number)
        if len(near) > most:
            best, most = start, len(near)
        if most == len(terms):
            break
    return best
