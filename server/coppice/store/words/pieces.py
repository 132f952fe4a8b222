"""Texts cut into pieces: what a question is answered with instead of whole entries.

The index holds each piece under a key that follows from its entry's. Whoever shows a piece cuts the text
again, so that another way to cut needs a migration.
"""

import re
from typing import Any, Final

from coppice.protocol.history import is_history_tool
from coppice.store.words.stems import stem_text

PIECE_CHARS: Final = 400
"""Characters of a piece. tests/benchmarks/recall_tools.py: with 500 to 800 a page of 2,000 tokens holds two
to five answers of 85 less, ranked by BM25."""
KEYS_PER_ENTRY: Final = 128
"""The most pieces of an entry: as much text as is indexed has at most some 100. Two statements of the schema
hold the same number."""

_SENTENCE: Final = re.compile(r"[.!?;:]\s|[。！？；]")


def pieces_of(text: str) -> list[tuple[int, int]]:
    """The places of the pieces in `text`, at most PIECE_CHARS long; blank ones are left out.

    They are cut where lines end, a longer line after sentences, a longer sentence anywhere.
    """
    pieces: list[tuple[int, int]] = []
    start = end = 0
    for stop in _ends(text):
        if stop - start > PIECE_CHARS and end > start:
            pieces.append((start, end))
            start = end
        end = stop
    pieces.append((start, end))
    return [(first, last) for first, last in pieces if text[first:last].strip()][:KEYS_PER_ENTRY]


def _ends(text: str) -> list[int]:
    """The places where `text` may be cut, at most PIECE_CHARS apart."""
    ends: list[int] = []
    last = 0
    for line in text.splitlines(keepends=True):
        start = last
        sentences = _SENTENCE.finditer(line) if len(line) > PIECE_CHARS else ()
        for stop in [*(start + match.end() for match in sentences), start + len(line)]:
            while stop - last > PIECE_CHARS:
                last = text.rfind(" ", last + PIECE_CHARS // 2, last + PIECE_CHARS) + 1 or last + PIECE_CHARS
                ends.append(last)
            ends.append(stop)
            last = stop
    return ends


def indexed_pieces(entry_key: int, body: dict[str, Any], text: str) -> list[tuple[int, str]]:
    """The keys and the stems of the pieces of an entry's searchable text.

    There are none of a text that was itself found in the history: it repeats others.
    """
    message = body.get("message")
    if isinstance(message, dict) and is_history_tool(message.get("toolName")):
        return []
    stems = ((number, stem_text(text[start:end])) for number, (start, end) in enumerate(pieces_of(text)))
    return [(entry_key * KEYS_PER_ENTRY + number, words) for number, words in stems if words]
