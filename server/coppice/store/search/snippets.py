"""The place of a hit, on one line."""

from collections import deque
from collections.abc import Sequence
from typing import Final

from coppice.store.words.tokens import Term, occurs, places

SNIPPET_CHARS: Final = 200  # characters: two lines of a list
_BEFORE: Final = 60  # characters before the first match: a third of the snippet
_WITHIN: Final = 120  # characters in which matches count as close: what is left of the snippet, about
_SPACES: Final = 4
"""Room for white space, which is drawn together only after a stretch has been cut out."""


def snippet(text: str, terms: Sequence[Term]) -> str:
    """The stretch of `text` that holds most of the `terms`, at most `SNIPPET_CHARS` long."""
    start = _place(text, terms)
    first = max(start - _BEFORE * _SPACES, 0)
    before = " ".join(text[first:start].split())
    cut = first > 0 or len(before) > _BEFORE
    if len(before) > _BEFORE:
        before = before[-_BEFORE:].partition(" ")[2] or before[-_BEFORE:]
    room = SNIPPET_CHARS - len(before) - 3
    raw = text[start : start + room * _SPACES]
    after = " ".join(raw.split())
    more = start + len(raw) < len(text) or len(after) > room
    gap = " " if before and text[start - 1].isspace() else ""
    return f"{'…' if cut else ''}{before}{gap}{after[:room].rstrip()}{'…' if more else ''}"


def _place(text: str, terms: Sequence[Term]) -> int:
    """Where the first stretch that holds most of the terms begins; 0 where none is found."""
    words: list[str] = []
    starts: list[int] = []
    near: deque[tuple[int, int]] = deque()
    best, most = 0, 0
    for place in places(text):
        words.append(place.word)
        starts.append(place.start)
        for number, term in enumerate(terms):
            begins = len(words) - len(term.words)
            if begins < 0 or not occurs(term, words, begins):
                continue
            near.append((starts[begins], number))
            while near[0][0] < starts[begins] - _WITHIN:
                near.popleft()
            held = len({each for _, each in near})
            if held > most:
                best, most = near[0][0], held
            if most == len(terms):
                return best
    return best
