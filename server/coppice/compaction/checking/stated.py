"""Whether a text says what a sentence says, in whatever words: by the words that they share.

Names, numbers and paths count for more than other words, and so do words that the text has seldom. What a
sentence says has to stand in one place of the text.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from coppice.compaction.text.comparing import words_in
from coppice.compaction.text.sentences import sentences_of

_MOST_CHARS: Final = 200_000
"""Characters of a text that are read, in 0.1 s."""
_MOST_PLACES: Final = 400
"""Places of a word that are looked at; it bounds the time. A word of more tells no place from another."""
_SHARE: Final = 0.62
"""Of the weight of a sentence's words that a place must have, as labelled pairs gave it."""
_NAME_WEIGHT: Final = 2.0  # of a name, where another word that is as rare has 1 (guess)
_LEAST_STEM: Final = 3  # letters that an ending leaves (guess)
_JOINED: Final = re.compile(r"[\w./:@#-]+", re.ASCII)
"""A word with what joins the parts of a path, an address, an option or an issue's number."""
_OF_NAMES: Final = re.compile(r"[\w-][._/:@#-]\w|\d|[a-z][A-Z]|[A-Z]{2}", re.ASCII)
"""What tells a name or a number from another word."""
_ENDING: Final = re.compile(r"(?:ings?|ed|es|s|ly|e)$")
_FUNCTION: Final = re.compile(
    r"also|after|all|always|any|anything|at|been|but|can|could|does|don|each|every|everything|everywhere|first"
    r"|from|had|has|have|if|into|its?|just|let|like|me|must|my|need(?:s|ed)?|never|no|now|one|only|our|out|should"
    r"|so|some|something|than|their|them|then|there|these|they|those|too|use[ds]?|want(?:s|ed)?|was|we|were|what"
    r"|when|where|which|while|who|why|will|with|without|would|you|your"
)


class Statements:
    """The places of a text: its sentences, each with the one before it."""

    def __init__(self, text: str) -> None:
        parts = [_stems(each) for each in _parts(text[:_MOST_CHARS])]
        self._places: dict[str, list[int]] = defaultdict(list)
        for number, part in enumerate(parts):
            for word in part.union(parts[number - 1] if number else ()):
                self._places[word].append(number)
        self._count = len(parts) + 1

    def say(self, sentence: str) -> bool:
        """Whether some place says what `sentence` says; true for a sentence without words of its own."""
        words = _stems(sentence)
        return not words or self._has(words, _names(sentence), frozenset())

    def say_exactly(self, statement: str) -> bool:
        """Whether some place says what `statement` says, with each of its names and numbers."""
        names = _names(statement)
        return self._has(_stems(statement), names, names)

    def _has(self, words: AbstractSet[str], names: AbstractSet[str], needed: AbstractSet[str]) -> bool:
        weights = {word: self._weight(word, is_name=word in names) for word in words}
        shares: defaultdict[int, float] = defaultdict(float)
        needs: Counter[int] = Counter()
        for word, weight in weights.items():
            for place in self._places.get(word, ())[:_MOST_PLACES]:
                shares[place] += weight
                needs[place] += word in needed
        least = _SHARE * sum(weights.values())
        return any(share >= least and needs[place] == len(needed) for place, share in shares.items())

    def _weight(self, word: str, *, is_name: bool) -> float:
        rare = math.log(1 + self._count / max(1, len(self._places.get(word, ()))))
        return rare * (_NAME_WEIGHT if is_name else 1.0)


def _parts(text: str) -> Iterator[str]:
    return (part for line in text.splitlines() for part in sentences_of(line))


def _names(text: str) -> set[str]:
    return {stem for word in _JOINED.findall(text) if _OF_NAMES.search(word) for stem in _stems(word)}


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in words_in(text) if not _FUNCTION.fullmatch(word)}


def _stem(word: str) -> str:
    stem = _ENDING.sub("", word) if word.isascii() else word
    return stem if len(stem) >= _LEAST_STEM else word
