"""Which commands are checks, and which only look, from the table in `data/runners.toml`."""

import tomllib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib import resources
from typing import Final

_Pattern = tuple[tuple[str, ...], ...]
_MOST_LAUNCHERS: Final = 3
"""Launchers in front of one another that are taken off (`uv run python -m pytest` has two)."""


@lru_cache(maxsize=1_024)
def check_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a check without what launches it; empty for any other command."""
    for _ in range(_MOST_LAUNCHERS):
        if any(_matches(pattern, words) for pattern in _table("checks").get(_program(words), ())):
            return words
        launcher = next((p for p in _table("launchers").get(_program(words), ()) if _matches(p, words)), None)
        if launcher is None:
            return ()
        words = _without_options(words[len(launcher) :])
    return ()


@lru_cache(maxsize=1_024)
def only_looks(words: tuple[str, ...]) -> bool:
    """Whether the command changes nothing, so that its failure is no failure of the work."""
    looks = _table("looks")
    return any(_matches(pattern, words) for pattern in (*looks.get(_program(words), ()), *looks["*"]))


@lru_cache(maxsize=1_024)
def handles_files(words: tuple[str, ...]) -> bool:
    """Whether the command handles files, the shell or a script, whose effect is read elsewhere."""
    return any(_matches(pattern, words) for pattern in _table("handles").get(_program(words), ()))


@lru_cache(maxsize=1_024)
def is_basic(program: str) -> bool:
    """Whether all that the program does is to look at files or to handle files and the shell."""
    return any(
        len(pattern) == 1 for name in ("looks", "handles") for pattern in _table(name).get(program, ())
    )


def selection(words: tuple[str, ...]) -> tuple[frozenset[str], list[str]]:
    """The options that choose what a check checks, and its operands."""
    ignored = _data()["reporting"]
    options = (word for word in words[1:] if word.startswith("-") and word.partition("=")[0] not in ignored)
    return frozenset(options), [word for word in words[1:] if not word.startswith("-")]


def _program(words: Sequence[str]) -> str:
    return words[0].rpartition("/")[2] if words else ""


def _without_options(words: tuple[str, ...]) -> tuple[str, ...]:
    first = next((place for place, word in enumerate(words) if not word.startswith("-")), len(words))
    return words[first:]


def _matches(pattern: _Pattern, words: Sequence[str]) -> bool:
    """Whether `words` begin like `pattern`, whose first word is the program."""
    operands = [word for word in words[1:] if not word.startswith("-")]
    place = 0
    for alternatives in pattern[1:]:
        if alternatives == ("$",):
            return len(operands) == place
        if alternatives[0].startswith("-"):
            if not set(alternatives) & set(words):
                return False
        elif place < len(operands) and any(fnmatchcase(operands[place], each) for each in alternatives):
            place += 1
        else:
            return False
    return True


@cache
def _table(name: str) -> dict[str, list[_Pattern]]:
    """The patterns of one list by program."""
    patterns: dict[str, list[_Pattern]] = {}
    for entry in _data()[name]:
        pattern = tuple(tuple(word.split("|")) for word in entry.split())
        for program in pattern[0]:
            patterns.setdefault(program, []).append(pattern)
    return patterns


@cache
def _data() -> dict[str, list[str]]:
    file = resources.files("coppice.compaction.facts").joinpath("data/runners.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
