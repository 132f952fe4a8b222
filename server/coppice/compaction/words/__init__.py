"""The words that rules look for, of all languages, as compiled patterns.

Each language is one module of data; a list that a language lacks is left out. Words of languages that
separate them by blanks match as whole words.
"""

import re
from typing import Final

from coppice.compaction.words import chinese, english

_SPACED: Final = (english,)
_UNSPACED: Final = (chinese,)


def any_of(name: str) -> str:
    """The alternatives called `name` of all languages, as one group."""
    spaced = [rf"\b(?:{getattr(module, name)})\b" for module in _SPACED if hasattr(module, name)]
    unspaced = [getattr(module, name) for module in _UNSPACED if hasattr(module, name)]
    return f"(?:{'|'.join([*spaced, *unspaced])})"


def pattern(name: str) -> re.Pattern[str]:
    """The same as a pattern, in any case."""
    return re.compile(any_of(name), re.IGNORECASE)


def raw(name: str) -> str:
    """The alternatives called `name` of all languages without word boundaries, as one group."""
    parts = [getattr(module, name) for module in (*_SPACED, *_UNSPACED) if hasattr(module, name)]
    return f"(?:{'|'.join(parts)})"
