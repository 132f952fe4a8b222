"""Words without their endings: what a piece of a text is found by when a question is asked in other words.

An identifier is found by its parts too, and Chinese, which has no spaces, by pairs of characters. The endings
are those of English.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from coppice.store.words.tokens import MOST_CHARS, index_text

_WORD: Final = re.compile(r"[^\W_]+")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
"""A run of Chinese, Japanese or Korean characters."""

_SHORTEST_STEM: Final = 3
"""Letters. recall_tools.py, by BM25: with 4 the pages of 4,000 tokens hold 4 answers of 85 less, with 2 one
less."""
_ENDINGS: Final = (
    ("ations", "ate"),
    ("ation", "ate"),
    ("ments", "ment"),
    ("ings", ""),
    ("ing", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("ers", "er"),
    ("ed", ""),
    ("es", ""),
    ("ly", ""),
    ("s", ""),
)


def words_of(text: str) -> list[str]:
    """The words of `text` as they are written: runs of letters and digits."""
    return _WORD.findall(text)


def stem_text(text: str) -> str:
    """The stems of all words of `text`, set apart by spaces: what the index of pieces holds."""
    return " ".join(each for word in _WORD.findall(text) for each in stems_of(word))


def stems_of(word: str) -> tuple[str, ...]:
    """The stems that a word is found by: its own, those of an identifier's parts, pairs of characters."""
    return _remembered(word) if len(word) <= MOST_CHARS else _stems_of(word)


def _stems_of(word: str) -> tuple[str, ...]:
    if word.isascii():
        return (stem(word.lower()), *map(stem, parts_of(word)))
    spaced = index_text(UNSPACED.sub(" ", word)).split()
    return (*(pair for run in UNSPACED.findall(word) for pair in pairs_of(run)), *map(stem, spaced))


@lru_cache(maxsize=30_000)
def _remembered(word: str) -> tuple[str, ...]:
    return _stems_of(word)


def stem(word: str) -> str:
    """A word in lower case without its ending, so that its forms are the same.

    Of a longer word only the beginning counts, as in the other index.
    """
    word = word[:MOST_CHARS]
    if len(word) <= _SHORTEST_STEM or not word.isascii() or not word.isalpha():
        return word
    for ending, replacement in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word[: -len(ending)] + replacement
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "lse":
        word = word[:-1]
    return word[:-1] if len(word) > _SHORTEST_STEM + 1 and word.endswith("e") else word


def parts_of(word: str) -> list[str]:
    """The parts of an identifier in camel case, in lower case; none of a plain word."""
    if not word.isascii() or word[1:] == word[1:].lower():
        return []
    parts = [part.lower() for part in _PART.findall(word)]
    return [part for part in parts if len(part) > 1] if len(parts) > 1 else []


def pairs_of(run: str) -> Iterator[str]:
    """The pairs of neighbours in a run of characters without spaces; a character without a neighbour."""
    yield from (run[start : start + 2] for start in range(max(1, len(run) - 1)))
