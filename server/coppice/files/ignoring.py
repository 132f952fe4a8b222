"""Which paths file events are ignored for: built in, by the setting `files.ignore`, by `.gitignore` files.

Patterns and their order are git's: of several that match, the last decides, `!` takes a path back, and what
lies in an ignored folder is ignored.
"""

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from coppice.files.ignore_pattern import CharacterSet, IgnorePattern, Wildcard, parse_pattern

BUILT_IN: Final = (
    ".git", ".hg", ".svn", ".jj",
    "node_modules", "bower_components",
    "__pycache__", ".venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis",
    ".gradle", ".terraform", ".next", ".turbo",
    ".DS_Store", "Thumbs.db",
    "*.swp", "*.swx", "*~", "4913", ".#*", "#*#", "*.tmp",
)  # fmt: skip
"""Version control, installed packages, caches, and temporary files of editors and systems."""

MAX_PATTERNS: Final = 2_000
"""Patterns of one file. Four times the longest template of github/gitignore."""

MAX_PATTERN_LENGTH: Final = 300
"""Characters. No name of a file is longer than 255."""

_MAX_RANGES: Final = 1_000
"""Ranges within brackets, of one file; Visual Studio's template has 250."""

_KNOWN_CHARACTERS: Final = 512
"""Characters whose positions are kept as bits. More than any alphabet has."""


class _Matcher:
    """All patterns of one file at once, in time linear in the path: a bit for each position of each pattern.

    A set bit means that its position is the next to match. One character of a path moves all of them by one
    shift (the Shift-And algorithm of Baeza-Yates and Gonnet, with the wildcards of Navarro and Raffinot).
    """

    def __init__(self, patterns: Iterable[IgnorePattern], *, ignores_case: bool = False) -> None:
        self._ignores_case = ignores_case
        self._literals: dict[str, list[int]] = {}
        self._sets: list[tuple[int, CharacterSet]] = []
        wild: dict[Wildcard, list[int]] = {kind: [] for kind in Wildcard}
        starts: list[int] = []
        ends: list[int] = []
        folder_ends: list[int] = []
        taking_back: list[int] = []
        endless: list[int] = []
        at = 0
        for pattern in patterns:
            starts.append(at)
            for token in pattern.tokens:
                if isinstance(token, Wildcard):
                    wild[token].append(at)
                elif isinstance(token, CharacterSet):
                    self._sets.append((at, token))
                else:
                    self._literals.setdefault(self._folded(token), []).append(at)
                at += 1
            (folder_ends if pattern.folders_only else ends).append(at)
            if pattern.takes_back:
                taking_back.append(at)
            if pattern.tokens[-1] is Wildcard.ANY_DESCENDANT:
                endless.append(at)
            at += 1
        self._size = at
        self._any_character = self._bits(wild[Wildcard.ANY_CHARACTER] + wild[Wildcard.ANY_DESCENDANT])
        self._stars = self._bits(wild[Wildcard.ANY_CHARACTERS])
        self._folders = self._bits(wild[Wildcard.ANY_FOLDERS])
        self._endless = self._bits(endless) | self._folders
        self._starts, self._ends = self._bits(starts), self._bits(ends)
        self._folder_ends, self._taking_back = self._bits(folder_ends), self._bits(taking_back)
        ranges = [each for _, characters in self._sets for each in characters.ranges]
        self._borders = sorted({ord(first) for first, _ in ranges} | {ord(last) + 1 for _, last in ranges})
        self._of_literals = lru_cache(_KNOWN_CHARACTERS)(lambda char: self._bits(self._literals[char]))
        self._of_sets: dict[tuple[int, ...], int] = {}

    def verdicts(self, path: str, *, is_folder: bool) -> Iterator[tuple[int, bool]]:
        """For each leading part of `path` that a pattern matches: its length, and whether it is ignored."""
        state = self._at_name(self._starts)
        for length, char in enumerate(path):
            if char == "/":
                yield from self._verdict(state, length, is_folder=True)
                state = (state & self._matching(char)) << 1 | state & self._endless
                state = self._at_name(state)
            else:
                state = (state & self._matching(char)) << 1 | state & (self._endless | self._stars)
                state |= (state & self._stars) << 1
        yield from self._verdict(state, len(path), is_folder=is_folder)

    def _verdict(self, state: int, length: int, *, is_folder: bool) -> Iterator[tuple[int, bool]]:
        matched = state & (self._ends | self._folder_ends if is_folder else self._ends)
        if matched:
            last = matched.bit_length() - 1
            yield length, not self._taking_back >> last & 1

    def _at_name(self, state: int) -> int:
        """`state` at the beginning of a name, where `**/` may also be no folder, and `*` no character."""
        state |= (state & self._folders) << 1
        return state | (state & self._stars) << 1

    def _matching(self, char: str) -> int:
        """The positions that match the character."""
        literal = self._folded(char)
        literals = self._of_literals(literal) if literal in self._literals else 0
        if char == "/":
            return literals
        readings = self._readings(char)
        intervals = tuple(bisect(self._borders, ord(each)) for each in readings)
        if intervals not in self._of_sets:
            self._of_sets[intervals] = self._bits(
                at for at, characters in self._sets if characters.holds(readings)
            )
        return literals | self._any_character | self._of_sets[intervals]

    def _folded(self, char: str) -> str:
        return char.lower() if self._ignores_case else char

    def _readings(self, char: str) -> Sequence[str]:
        cases = (char.lower(), char.upper()) if self._ignores_case else ()
        return [case for case in cases if len(case) == 1] or char

    def _bits(self, positions: Iterable[int]) -> int:
        """A number with a one at each position."""
        octets = bytearray(self._size // 8 + 1)
        for position in positions:
            octets[position // 8] |= 1 << position % 8
        return int.from_bytes(octets, "little")


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of one folder, by default the workspace itself (`""`).

    `omitted` counts the lines that are over a limit and have no effect; it is 1 for a file that is not read.
    """

    matcher: _Matcher
    folder: str = ""
    omitted: int = 0

    def verdicts(self, path: str, *, is_folder: bool) -> dict[int, bool]:
        """For each leading part of the workspace's `path` that matches, by its length: is it ignored?"""
        skipped = len(self.folder) + 1 if self.folder else 0
        verdicts = self.matcher.verdicts(path[skipped:], is_folder=is_folder)
        return {skipped + length: verdict for length, verdict in verdicts}


def patterns(lines: Iterable[str], folder: str = "", *, ignores_case: bool = False) -> Patterns:
    """The patterns of an ignore file in `folder`. A line that is no valid pattern has no effect."""
    matcher, omitted = _matcher(tuple(lines), ignores_case=ignores_case)
    return Patterns(matcher, folder, omitted)


def unread(folder: str) -> Patterns:
    """What stands for an ignore file in `folder` that is not read: no pattern."""
    return Patterns(_Matcher(()), folder, omitted=1)


def ignored(path: str, rules: Sequence[Patterns], *, gone: bool = False, below: str = "") -> bool:
    """Whether `rules`, weakest first, ignore the workspace's `path` or a folder that it lies in.

    What is `gone` may have been a folder, so patterns for folders count for it. Rules about the folder
    `below` itself, and those that it lies in, do not count.
    """
    verdicts: dict[int, bool] = {}
    for rule in rules:
        if not rule.folder or path.startswith(f"{rule.folder}/"):
            verdicts |= rule.verdicts(path, is_folder=gone)
    return any(verdict for length, verdict in verdicts.items() if length > len(below))


@lru_cache(maxsize=8)
def _matcher(lines: tuple[str, ...], *, ignores_case: bool) -> tuple[_Matcher, int]:
    """The matcher, and how many lines are over a limit."""
    parsed: list[IgnorePattern] = []
    omitted = ranges = 0
    for line in lines:
        if line.startswith("#"):
            continue
        if len(line) > MAX_PATTERN_LENGTH or len(parsed) == MAX_PATTERNS:
            omitted += 1
        elif (pattern := parse_pattern(line)) is not None:
            ranges += sum(len(each.ranges) for each in pattern.tokens if isinstance(each, CharacterSet))
            if ranges <= _MAX_RANGES:
                parsed.append(pattern)
            else:
                omitted += 1
    return _Matcher(parsed, ignores_case=ignores_case), omitted


BUILT_IN_PATTERNS: Final = patterns(BUILT_IN)
