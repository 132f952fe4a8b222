"""Exact names in text: paths, identifiers, flags, hashes. One linear pass over runs of name characters."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_LONGEST: Final = 240
"""Characters; a longer run is data. Of 3,524 recorded names of more than 60 characters 4 are longer."""
_RUN: Final = re.compile(r"[A-Za-z0-9_./:@#~+-]{3,}+")
_EDGE: Final = ".,:;+"
_MARKED: Final = re.compile(
    r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|^_|::|^--?[a-z]|[A-Za-z]-?[0-9]|[0-9][A-Za-z]|[A-Z]{2}[a-z]"
    r"|[A-Za-z0-9_~.]/[A-Za-z0-9_.]|[A-Za-z0-9_]\.[A-Za-z]{1,10}$|[A-Za-z]\.[a-z]+\.[A-Za-z]|[#@][A-Za-z0-9]"
)
_PROSE: Final = re.compile(
    r"(?:e\.g|i\.e|[Aa]nd/[Oo]r|https?:.*|[0-9.]+[a-z]{1,2}|[A-Z][a-z]+\.[A-Z][a-z]+ly)$"
)


def names_in(text: str) -> Iterator[str]:
    """The names in `text`, in order, repeated ones too."""
    for match in _RUN.finditer(text):
        run = match[0]
        if len(run) <= _LONGEST and (name := run.rstrip(_EDGE)) and is_name(name):
            yield name


@lru_cache(maxsize=65_536)
def is_name(run: str) -> bool:
    """Whether `run` is spelled as no word of prose is: with a mark inside, mixed case, or digits."""
    return bool(_MARKED.search(run)) and not _PROSE.match(run)
