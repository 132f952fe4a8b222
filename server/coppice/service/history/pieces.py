"""Texts cut into pieces: what is ranked and shown instead of a whole entry."""

from typing import Final

PIECE_CHARS: Final = 1000
"""Characters of a piece. tests/benchmarks/recall_tools.py: 500 find 4 answers of 85 less, 1,500 one less."""

MAX_PIECES: Final = 20
"""Pieces of one entry that are ranked, half of them from its end: as much as the index holds of an entry."""


_SHORTEST_SHARE: Final = 4
"""A piece is filled up with a part of the next line while it is shorter than one in so many of its size."""


def pieces_of(text: str, size: int = PIECE_CHARS) -> list[str]:
    """`text` in pieces of at most `size` characters, cut where lines end as far as that is possible."""
    pieces: list[str] = []
    current: list[str] = []
    length = 0
    for line in text.splitlines(keepends=True):
        start = 0
        while start < len(line):
            left = len(line) - start
            if left > size - length and length >= size // _SHORTEST_SHARE:
                pieces.append("".join(current))
                current, length = [], 0
            taken = min(left, size - length)
            current.append(line[start : start + taken])
            start, length = start + taken, length + taken
    if current:
        pieces.append("".join(current))
    if len(pieces) <= MAX_PIECES:
        return pieces
    return pieces[: MAX_PIECES // 2] + pieces[-(MAX_PIECES // 2) :]
