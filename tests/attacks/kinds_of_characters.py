"""Which characters are the same to a regular expression: those that each of its parts takes, or does not.

A pattern asks a text nothing but whether a part of it, a character or a set, takes a character, and where
words and lines end. Two texts whose characters are pairwise the same to it are therefore matched in the same
steps.
"""

import importlib
import re
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from typing import Any, Final

_parser: Final[Any] = importlib.import_module("re._parser")
_compiler: Final[Any] = importlib.import_module("re._compiler")
_PARTS: Final = frozenset({_parser.LITERAL, _parser.NOT_LITERAL, _parser.IN, _parser.ANY})
_BACK_REFERENCES: Final = frozenset({_parser.GROUPREF, _parser.GROUPREF_EXISTS})
_WITHOUT_CHARACTERS: Final = _BACK_REFERENCES | {
    getattr(_parser, name)
    for name in (
        *("ASSERT", "ASSERT_NOT", "AT", "ATOMIC_GROUP", "BRANCH", "FAILURE", "MAX_REPEAT", "MIN_REPEAT"),
        *("POSSESSIVE_REPEAT", "SUBPATTERN"),
    )
}
"""What takes no character itself: of another operation it would have to be seen what characters it takes."""


def kinds_of(pattern: re.Pattern[Any]) -> Callable[[str], Hashable]:
    """Gives the kind of a character. To a pattern that compares a text with itself no two are the same."""
    every = [*_parts(_parser.parse(pattern.pattern, pattern.flags), pattern.flags)]
    parts = [part for part in every if part is not None]
    is_bytes = isinstance(pattern.pattern, bytes)

    @cache
    def kind_of(char: str) -> Hashable:
        if len(parts) < len(every):
            return char
        given = char.encode() if is_bytes else char
        ends = (char == "\n", char.isalnum() or char == "_")
        return (len(given), *ends, *(part.search(given) is not None for part in parts))

    return kind_of


def _parts(tree: Any, flags: int) -> Iterator[re.Pattern[Any] | None]:
    """Every part that takes one character, as a pattern of its own; None for a reference to a group."""
    for operation, given in tree:
        if operation in _PARTS:
            yield _compiler.compile(_parser.SubPattern(tree.state, [(operation, given)]), flags)
            continue
        assert operation in _WITHOUT_CHARACTERS, operation
        if operation in _BACK_REFERENCES:
            yield None
        if operation is _parser.SUBPATTERN:
            _, more, fewer, inner = given
            yield from _parts(inner, (flags | more) & ~fewer)
        else:
            for inner in _trees(given):
                yield from _parts(inner, flags)


def _trees(given: Any) -> Iterator[Any]:
    """The patterns within what an operation is given: itself, or those in a list or a tuple."""
    if isinstance(given, _parser.SubPattern):
        yield given
    elif isinstance(given, list | tuple):
        for each in given:
            yield from _trees(each)
