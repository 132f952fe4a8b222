"""What a question asks for, as groups of words: a hit of one of them is a hit of the group.

A group has the forms of a word that differ in their endings. An identifier asks for itself and, less, for
its parts; two neighbouring words also for the identifier they may be written as. Chinese, which
has no spaces, is asked for by pairs of characters. Words of software work also ask for their translation,
English or Chinese, at half the weight: people write Chinese, and their tools answer in English.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from coppice.service.history.translations import PAIRS
from coppice.service.history.words import ERROR_WORDS, STOP_CHARACTERS, STOP_WORDS
from coppice.store.tokenize import MOST_CHARS, Term, index_text

MAX_GROUPS: Final = 40
"""Further words of a question are not looked for. A guess: a question of three sentences has fewer."""
MAX_TRANSLATED: Final = 20
"""Further words in the other language are not looked for. A guess."""

_WORD: Final = re.compile(r"[^\W_]+")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")

TRANSLATED_WEIGHT: Final = 0.5
"""recall_tools.py: of 30 Chinese questions about an English session 15 are answered without translations,
24 with this weight, 21 with a weight of 1."""

_SHORTEST_STEM: Final = 3  # letters (guess)
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
_FORMS: Final = ("", "e", "s", "es", "ed", "ing", "er", "ers", "ion", "ation", "ions", "ment")


@dataclass(frozen=True, slots=True)
class Group:
    """`stem` is what its words have in common, `terms` the forms that are looked for.

    A group that translates another counts less.
    """

    stem: str
    terms: tuple[Term, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Query:
    """`about_errors` is set when the question asks for what went wrong."""

    groups: tuple[Group, ...]
    about_errors: bool


def parse_query(text: str) -> Query:
    """The groups of a question, in its order; none when it has stop words alone."""
    groups: dict[str, Group] = {}
    for group in _groups(text):
        groups.setdefault(group.stem, group)
    translated = {group.stem: group for group in _translated(text) if group.stem not in groups}
    about_errors = not _ERROR_STEMS.isdisjoint(groups)
    found = (*list(groups.values())[:MAX_GROUPS], *list(translated.values())[:MAX_TRANSLATED])
    return Query(found, about_errors)


class StemCounter:
    """Counts the stems of a query's groups in texts. One serves many texts: it remembers each word it met."""

    def __init__(self, query: Query) -> None:
        self._wanted = {group.stem for group in query.groups}
        self._known: dict[str, tuple[str, ...]] = {}

    def count(self, text: str) -> tuple[dict[str, int], int]:
        """How often each stem of the query occurs in `text`, and how many words the text has."""
        words = _WORD.findall(text)
        counts: dict[str, int] = {}
        for word in words:
            found = self._known.get(word)
            if found is None:
                found = tuple(each for each in stems_of(word) if each in self._wanted)
                self._known[word] = found
            for each in found:
                counts[each] = counts.get(each, 0) + 1
        return counts, len(words)


def stems_of(word: str) -> Iterator[str]:
    """The stems that a word is found by: its own, those of an identifier's parts, pairs of characters."""
    if word.isascii():
        yield stem(word.lower())
        yield from map(stem, _parts(word))
    else:
        yield from _unspaced_pairs(word)
        yield stem(word.casefold())


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word in lower case without its ending, so that its forms are the same. English only.

    Of a longer word only the beginning counts, as in the index.
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


_ERROR_STEMS: Final = frozenset(map(stem, ERROR_WORDS))


def _groups(text: str) -> Iterator[Group]:
    before = ""
    for match in _WORD.finditer(text):
        word = match[0]
        lowered = word.casefold()
        if _UNSPACED.search(word):
            for pair in _unspaced_pairs(word):
                yield Group(pair, (Term(tuple(index_text(pair).split())),))
            before = ""
            continue
        if lowered in STOP_WORDS or (len(word) == 1 and not word.isdigit()):
            before = ""
            continue
        yield _group(lowered)
        yield from map(_group, _parts(word))
        if before:
            yield Group(stem(before + lowered), (Term((before + lowered,)),))
        before = lowered


def _translated(text: str) -> Iterator[Group]:
    """The words of `text` that are known, in the other language."""
    for run in _UNSPACED.findall(text):
        yield from (_group(word, TRANSLATED_WEIGHT) for word in _english(run))
    for word in _WORD.findall(text):
        if word.isascii():
            for chinese in _CHINESE.get(stem(word.casefold()), ()):
                yield Group(chinese, (Term(tuple(index_text(chinese).split())),), TRANSLATED_WEIGHT)


def _english(run: str) -> Iterator[str]:
    """The English of the known words in a run of Chinese, of which the longest is taken at each place."""
    start = 0
    while start < len(run):
        sizes = range(min(_LONGEST, len(run) - start), 1, -1)
        found = next((size for size in sizes if run[start : start + size] in _ENGLISH), None)
        if found is not None:
            yield from _ENGLISH[run[start : start + found]]
        start += found or 1


def _group(word: str, weight: float = 1.0) -> Group:
    base = stem(word)
    forms = {word} | ({f"{base}{form}" for form in _FORMS} if base.isascii() and base.isalpha() else set())
    if base.endswith("y"):
        forms |= {f"{base[:-1]}ies", f"{base[:-1]}ied"}
    elif base[-1:].isalpha() and base[-1] not in "aeiouw":
        forms |= {f"{base}{base[-1]}{ending}" for ending in ("ed", "ing")}
    found = {tuple(index_text(form).split()) for form in sorted(forms)}
    return Group(base, tuple(Term(words) for words in sorted(found) if words), weight)


def _parts(word: str) -> list[str]:
    """The parts of an identifier in camel case, in lower case; none of a plain word."""
    if not word.isascii() or word[1:] == word[1:].lower():
        return []
    parts = [part.lower() for part in _PART.findall(word)]
    return [part for part in parts if len(part) > 1] if len(parts) > 1 else []


def _unspaced_pairs(word: str) -> Iterator[str]:
    """The pairs of neighbours in a run of characters without spaces; a character without a neighbour."""
    for run in _UNSPACED.findall(word):
        pairs = [run[start : start + 2] for start in range(len(run) - 1)] or [run]
        yield from (pair for pair in pairs if STOP_CHARACTERS.isdisjoint(pair))


def _dictionaries() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """The English words by the Chinese one, and by an English stem the Chinese words of two characters."""
    english: dict[str, tuple[str, ...]] = {}
    chinese: dict[str, tuple[str, ...]] = {}
    for line in PAIRS.strip().splitlines():
        left, _, right = line.partition("=")
        for word in left.split():
            english[word] = (*english.get(word, ()), *right.split())
            for other in right.split() if len(word) == _PAIR else ():
                chinese[stem(other)] = (*chinese.get(stem(other), ()), word)
    return english, chinese


_PAIR: Final = 2  # characters of a Chinese word, as most have
_ENGLISH, _CHINESE = _dictionaries()
_LONGEST: Final = max(map(len, _ENGLISH))
