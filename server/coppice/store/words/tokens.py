"""Words: what a text is found by, cut the same way for both databases and for queries.

A word is a run of letters and digits, in lower case and without the diacritics of Latin, Greek and Cyrillic.
A character of a script that is written without spaces is a word by itself, so that a query of one or two
Chinese characters finds what holds them side by side.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

MOST_CHARS: Final = 64
"""Of a longer word only the beginning counts; it is no word that a person would type."""
MOST_WORDS: Final = 64
"""Of a longer query only the beginning counts."""
PREFIX_CHARS: Final = 3
"""The shortest beginning of a word that matches all words that begin so."""

_UNSPACED: Final = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_MARKS: Final = "\u0300-\u036f"
_WORD: Final = re.compile(rf"[{_UNSPACED}]|(?:[^\W_{_UNSPACED}][{_MARKS}]*)+")
_ASCII_WORD: Final = re.compile(r"[a-z0-9]+")
_MARK: Final = re.compile(rf"[{_MARKS}]")
_PART: Final = re.compile(r'"([^"]*)"|([^\s"]+)')
_QUOTES: Final = str.maketrans("“”„«»「」『』", '"""""""""')


@dataclass(frozen=True, slots=True)
class Term:
    """Neighbouring words; with `prefix` the last one may go on."""

    words: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A word and its place in a text."""

    word: str
    start: int
    end: int


def index_text(text: str) -> str:
    """The words of `text`, set apart by spaces: what both databases index."""
    if text.isascii():
        return " ".join(word[:MOST_CHARS] for word in _ASCII_WORD.findall(text.lower()))
    return " ".join(part for word in _WORD.findall(text) for part in _folded(word))


def places(text: str) -> Iterator[Place]:
    """The same words with their places."""
    for match in _WORD.finditer(text):
        for word in _folded(match[0]):
            yield Place(word, match.start(), match.end())


def terms_of(query: str) -> list[Term]:
    """What a query asks for, all of it; none when it has no letter and no digit.

    Words in quotes, and words without a space between them, are looked for as neighbours. The last
    word may be the beginning of one, unless it is quoted or something follows it.
    """
    query = query.translate(_QUOTES)
    terms: dict[Term, None] = {}
    left = MOST_WORDS
    for part in _PART.finditer(query):
        for piece in [part[1]] if part[1] is not None else _apart(part[2]):
            words_at = list(places(piece))
            words = tuple(place.word for place in words_at)[:left]
            left -= len(words)
            if words:
                open_end = part[1] is None and part.end() == len(query) and part[2].endswith(piece)
                prefix = open_end and words_at[-1].end == len(piece) and len(words[-1]) >= PREFIX_CHARS
                terms[Term(words, prefix)] = None
    return list(terms)


def occurs(term: Term, words: Sequence[str], at: int) -> bool:
    """Whether `term` occurs at the index `at` of `words`."""
    if term.prefix:
        *whole, last = term.words
        end = at + len(whole)
        return end < len(words) and words[end].startswith(last) and list(words[at:end]) == whole
    return words[at] == term.words[0] and tuple(words[at : at + len(term.words)]) == term.words


def _apart(part: str) -> list[str]:
    """Punctuation beyond ASCII parts the words around it; `a/b.py` and `x=1` stay together."""
    return "".join(
        char if char.isascii() or char.isalnum() or _MARK.match(char) else " " for char in part
    ).split()


def _folded(word: str) -> tuple[str, ...]:
    if word.isascii():
        return (word.lower()[:MOST_CHARS],)
    if len(word) > MOST_CHARS:
        return _unaccented(word[: 4 * MOST_CHARS])
    return _remembered(word)


@lru_cache(maxsize=20_000)
def _remembered(word: str) -> tuple[str, ...]:
    return _unaccented(word)


def _unaccented(word: str) -> tuple[str, ...]:
    # Compatibility forms can fold to several words: a ligature of Chinese characters, a fraction.
    bare = _MARK.sub("", unicodedata.normalize("NFKD", word.casefold()))
    plain = unicodedata.normalize("NFKC", bare).casefold()
    return tuple(part[:MOST_CHARS] for part in _WORD.findall(plain))
