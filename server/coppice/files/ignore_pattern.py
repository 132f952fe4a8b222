"""The grammar of one line of a `.gitignore` file."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Wildcard(Enum):
    """Tokens that match more than one character or any character. None but the last two match `/`."""

    ANY_CHARACTER = "?"
    ANY_CHARACTERS = "*"
    ANY_FOLDERS = "**/"
    ANY_DESCENDANT = "/**"


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """`[a-z]` as pairs of its first and last characters; `[!a-z]` with `negated`. It never matches `/`."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False

    def holds(self, readings: Iterable[str]) -> bool:
        """Whether it holds a character that is no `/` and may be read as one of `readings`."""
        inside = any(first <= char <= last for first, last in self.ranges for char in readings)
        return inside != self.negated


Token = str | CharacterSet | Wildcard
"""A string is one character, which matches itself."""


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """`tokens` match a whole path; `takes_back` is a leading `!`, `folders_only` a trailing `/`."""

    tokens: tuple[Token, ...]
    takes_back: bool
    folders_only: bool


_SLASH: Final = "/"

_CLASSES: Final = {
    "alnum": ("09", "AZ", "az"),
    "alpha": ("AZ", "az"),
    "blank": ("  ", "\t\t"),
    "cntrl": ("\x00\x1f", "\x7f\x7f"),
    "digit": ("09",),
    "graph": ("!~",),
    "lower": ("az",),
    "print": (" ~",),
    "punct": ("!/", ":@", "[`", "{~"),
    "space": ("\t\r", "  "),
    "upper": ("AZ",),
    "xdigit": ("09", "AF", "af"),
}
"""Git's named classes, which hold ASCII only."""


def parse_pattern(line: str) -> IgnorePattern | None:
    """The pattern of a line; None for a blank line, a comment, and what git takes for no valid pattern."""
    line = _without_trailing_blanks(line)
    if line.startswith("#"):
        return None
    takes_back, folders_only = line.startswith("!"), line.endswith("/")
    pattern = line.removeprefix("!").removesuffix("/")
    try:
        tokens = list(_tokens(pattern.removeprefix("/")))
    except ValueError:
        return None
    is_anchored = pattern.startswith("/") or _SLASH in tokens
    names = _split(tokens)
    if not all(names):
        return None
    matched = _joined(names) if is_anchored else (Wildcard.ANY_FOLDERS, *_single_stars(names[0]))
    return IgnorePattern(tuple(matched), takes_back, folders_only)


def _without_trailing_blanks(line: str) -> str:
    """The line without the blanks at its end, but for one that follows a backslash."""
    bare = line.rstrip(" ")
    is_escaped = (len(bare) - len(bare.rstrip("\\"))) % 2 == 1
    return line[: len(bare) + is_escaped]


def _tokens(pattern: str) -> Iterator[Token]:
    """Raises ValueError for a bracket that is not closed and for a backslash at the end."""
    at = 0
    while at < len(pattern):
        match pattern[at]:
            case "[":
                token, at = _bracket(pattern, at + 1)
                yield token
            case "\\":
                char, at = _member(pattern, at)
                yield char
            case "*" | "?" as wildcard:
                yield Wildcard(wildcard)
                at += 1
            case char:
                yield char
                at += 1


def _bracket(pattern: str, at: int) -> tuple[CharacterSet, int]:
    """The set whose first member is at `at`, and the index after its closing bracket."""
    negated = pattern[at : at + 1] in {"!", "^"}
    first = at = at + negated
    ranges: list[tuple[str, str]] = []
    while at == first or pattern[at : at + 1] != "]":
        end = pattern.find(":]", at + 2) if pattern.startswith("[:", at) else -1
        if end >= 0:
            name, at = pattern[at + 2 : end], end + 2
            if name not in _CLASSES:
                raise ValueError
            ranges += [(pair[0], pair[1]) for pair in _CLASSES[name]]
            continue
        low, at = _member(pattern, at)
        high = low
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] != "]":
            high, at = _member(pattern, at + 1)
        ranges.append((low, high))
    return CharacterSet(tuple(ranges), negated), at + 1


def _member(pattern: str, at: int) -> tuple[str, int]:
    """The character at `at`, which a backslash may precede, and where the pattern goes on."""
    at += pattern[at : at + 1] == "\\"
    if at >= len(pattern):
        raise ValueError
    return pattern[at], at + 1


def _split(tokens: Sequence[Token]) -> list[list[Token]]:
    names: list[list[Token]] = [[]]
    for token in tokens:
        if token == _SLASH:
            names.append([])
        else:
            names[-1].append(token)
    return names


def _joined(names: Sequence[Sequence[Token]]) -> Iterator[Token]:
    """The tokens of names between slashes; a name of two stars or more is any number of folders."""
    for index, name in enumerate(names):
        is_last = index == len(names) - 1
        if not _is_folders(name):
            yield from _single_stars(name)
            if not is_last:
                yield _SLASH
        elif is_last:
            yield Wildcard.ANY_DESCENDANT
        elif index == 0 or not _is_folders(names[index - 1]):
            yield Wildcard.ANY_FOLDERS


def _is_folders(name: Sequence[Token]) -> bool:
    return len(name) > 1 and set(name) == {Wildcard.ANY_CHARACTERS}


def _single_stars(name: Sequence[Token]) -> Iterator[Token]:
    for index, token in enumerate(name):
        if token is not Wildcard.ANY_CHARACTERS or index == 0 or name[index - 1] is not token:
            yield token
