"""What a question asks for, as stems with weights.

Words that a question is asked with rather than about are left out. Words of software work also ask for their
translation, English or Chinese, at half the weight: people write Chinese, and their tools answer in English.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

from coppice.service.history.translations import PAIRS
from coppice.store.words.stems import UNSPACED, stem, stems_of, words_of

MAX_STEMS: Final = 40
"""Further stems of a question are not looked for. A question of three sentences has fewer."""
MAX_TRANSLATED: Final = 20
"""Further words in the other language are not looked for. Of 156 questions none has more than 18."""

TRANSLATED_WEIGHT: Final = 0.5
"""recall_tools.py: of 60 Chinese questions about English sessions 22 are answered without translations and 52
with them, in a ranking by BM25."""

_STOP_LIST: Final = """
    a about after also an and any are as at be become became been before being between both but by can could
    did do does doing done each either else every for from had has have having he her here him his how i if in
    into is it its itself just may me might more most must my no nor not of off on one only onto or other our
    out over own per same shall she should so some still such than that the their them then there these they
    this those through to too under until up upon us very was we were what when where whether which while who
    whom whose why will with within without would yet you your
"""
_STOP_WORDS: Final = frozenset(_STOP_LIST.split())
"""English words that a question is asked with rather than about; they are left out of a search. With them the
pages of 2,000 tokens of recall_tools.py answer 14 questions of 205 less."""

_STOP_CHARACTERS: Final = frozenset(
    "的了是在我你他她它们这那哪有和与或就都也还又不没很吗呢吧啊把被给到从为对于个之其而但则所以及什么怎样"
)
"""The same in Chinese; a pair of characters that holds one is left out."""


def stems_asked_for(question: str) -> dict[str, float]:
    """The stems of a question with their weights, in its order; none when it has stop words alone."""
    own = list(dict.fromkeys(_own(question)))[:MAX_STEMS]
    translated = [each for each in dict.fromkeys(_translated(question)) if each not in own]
    return dict.fromkeys(own, 1.0) | dict.fromkeys(translated[:MAX_TRANSLATED], TRANSLATED_WEIGHT)


def _own(question: str) -> Iterator[str]:
    for word in words_of(question):
        # Single letters are mostly those of "don't" and "what's".
        if word.casefold() in _STOP_WORDS or (len(word) == 1 and word.isascii() and not word.isdigit()):
            continue
        yield from (each for each in stems_of(word) if _STOP_CHARACTERS.isdisjoint(each))


def _translated(question: str) -> Iterator[str]:
    """The words of a question that are in the dictionary, in the other language."""
    for run in UNSPACED.findall(question):
        for start, size in product(range(len(run)), range(2, _LONGEST + 1)):
            yield from map(stem, _ENGLISH.get(run[start : start + size], ()))
    for word in words_of(question):
        if word.isascii():
            yield from _CHINESE.get(stem(word.casefold()), ())


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
