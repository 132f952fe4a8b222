"""No regular expression of the package takes more than linear time, whatever text it is given.

Patterns are found in the package, not listed here: in its modules, classes and tables, and in calls of `re`
within functions. Each is timed on texts of 4, 8 and 16 times a length.
"""

import ast
import importlib
import itertools
import pkgutil
import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
from attacks.hostile_texts import UNITS

import coppice

LENGTH = 250
"""Characters of the shortest text; the longest has 16 times as many."""

FAST_SECONDS = 0.005
"""At 16 times the length nothing this fast is more than linear: the square of 4,000 steps takes 40 ms."""

MAX_RATIO = 9.0
"""Of the times at 16 and at 4 times the length: it is 4 where time is linear, 16 where it is quadratic."""

MOST_NAMED: Final = 14
"""Characters of a pattern whose pairs are tried: nearly two hundred texts."""

MOST_WORDS: Final = 60
"""Words of a pattern that are tried: all of nearly every one."""

_NO_WORDS: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\{[^}]*\}|\(\?[^:]*?[:=!>]")
_WORD: Final = re.compile(r"[A-Za-z0-9_-]{2,}")

OPERATIONS: Final = frozenset({"search", "sub", "subn", "finditer", "findall", "split"})

USE: Final = re.compile(r"\bre\.|\.(?:match|fullmatch|pattern)\b")
"""Where a pattern is used: files without one need not be parsed."""

ENDS: Final = ("", "!", "\nx", "\x00")


def modules() -> Iterator[ModuleType]:
    for module in pkgutil.walk_packages(coppice.__path__, "coppice."):
        if not module.name.endswith("__main__"):
            yield importlib.import_module(module.name)


def within(value: Any, seen: set[int]) -> Iterator[re.Pattern[Any]]:
    """The patterns that a value holds, in containers and in fields of the package's objects too."""
    if isinstance(value, re.Pattern):
        yield value
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        inner = value
    elif callable(value) and str(getattr(value, "__module__", "")).startswith("coppice"):
        cells = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
        defaults = [*(getattr(value, "__defaults__", None) or ())]
        inner = [*cells, *defaults, *getattr(value, "__dict__", {}).values()]
    elif type(value).__module__.startswith("coppice"):
        slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        inner = [*getattr(value, "__dict__", {}).values(), *(getattr(value, name, None) for name in slots)]
    for each in inner:
        yield from within(each, seen)


def compiled() -> dict[str, tuple[re.Pattern[Any], bool]]:
    """Every pattern by its place, and whether it is searched for, not only matched at a text's beginning."""
    patterns: dict[str, tuple[re.Pattern[Any], bool]] = {}
    matched = _matched_names()
    seen: set[tuple[Any, int]] = set()
    for module in modules():
        for name, value in vars(module).items():
            for pattern in within(value, set()):
                key = (pattern.pattern, pattern.flags)
                is_direct = isinstance(value, re.Pattern)
                if key not in seen:
                    seen.add(key)
                    place = f"{module.__name__}.{name}: {str(pattern.pattern)[:60]}"
                    patterns[place] = (pattern, not is_direct or (module.__name__, name) not in matched)
    for place, pattern, is_searched in written_in_functions():
        patterns.setdefault(place, (pattern, is_searched))
    return patterns


@cache
def sources() -> list[tuple[str, ast.Module]]:
    """The files of the package in which a pattern may be used."""
    package = Path(next(iter(coppice.__path__)))
    files = ((file, file.read_text(encoding="utf-8")) for file in sorted(package.rglob("*.py")))
    return [(str(file.relative_to(package)), ast.parse(text)) for file, text in files if USE.search(text)]


def _matched_names() -> set[tuple[str, str]]:
    """The private names of each module whose patterns are used by `match` and `fullmatch` only."""
    names = set()
    for file, tree in sources():
        module = "coppice." + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        uses: dict[str, set[str]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                uses.setdefault(node.value.id, set()).add(node.attr)
        names |= {
            (module, name)
            for name, ways in uses.items()
            if name.startswith("_") and ways <= {"match", "fullmatch", "pattern"}
        }
    return names


def written_in_functions() -> Iterator[tuple[str, re.Pattern[str], bool]]:
    """The patterns in calls of `re` within functions, with a word for each value that is put into one."""
    for file, tree in sources():
        functions = (
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
        for node in (inner for function in functions for inner in ast.walk(function)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            is_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
            text = _literal(node.args[0])
            if is_re and text is not None:
                verbose = re.VERBOSE if "VERBOSE" in ast.unparse(node) else 0
                is_searched = node.func.attr not in {"match", "fullmatch"}
                yield f"{file}: {text[:60]}", re.compile(text, re.IGNORECASE | verbose), is_searched


def _literal(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "word" for part in node.values)
    return None


PATTERNS = compiled()


def texts() -> list[str]:
    """Sixty and more repeated parts, each long enough to be cut to any of the lengths."""
    return [unit * (16 * LENGTH // len(unit) + 1) for unit in UNITS]


def pairs_of(pattern: re.Pattern[Any]) -> Iterator[str]:
    """Every two characters but letters and digits that a pattern names, one after the other, repeated."""
    written = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    unescaped = {"\\n": "\n", "\\t": "\t", "\\r": "\r"}
    named = {unescaped[each] for each in unescaped if each in written}
    named |= {char for char in written if not char.isalnum() and char != " " and char.isascii()}
    chosen = sorted(named)[:MOST_NAMED]
    for first, second in itertools.product(chosen, repeat=2):
        if first != second:
            yield (first + second) * (16 * LENGTH // 2)


def words_of(pattern: re.Pattern[Any]) -> Iterator[str]:
    """Every word that a pattern looks for, such as the prefix of a form, repeated: alone and with a mark that
    may be in what follows it.
    """
    written = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    words = list(dict.fromkeys(_WORD.findall(_NO_WORDS.sub(" ", written))))
    for word, mark in itertools.product(words[:MOST_WORDS], ("", "-", ".")):
        yield (word + mark) * (16 * LENGTH // len(word + mark) + 1)


def seconds(use: Callable[[str], Any], text: str, runs: int) -> float:
    """The least processor time of so many runs, or of fewer when one is fast."""
    least = float("inf")
    for _ in range(runs):
        began = time.thread_time()
        use(text)
        least = min(least, time.thread_time() - began)
        if least < FAST_SECONDS:
            break
    return least


def uses_of(pattern: re.Pattern[Any], *, is_searched: bool) -> Callable[[Any], Any]:
    def consume(text: Any) -> None:
        given = text.encode() if isinstance(pattern.pattern, bytes) else text
        if is_searched:
            for _ in pattern.finditer(given):
                pass
        else:
            pattern.match(given)
            pattern.fullmatch(given)

    return consume


def test_patterns_are_found_where_they_are() -> None:
    assert len(PATTERNS) > 100


def test_the_words_of_a_pattern_are_its_prefixes() -> None:
    [text, *_] = words_of(re.compile(r"\b(?:eyJ[\w-]{8,4000}\.(?=ab)|gh[pousr]_)"))
    assert text.startswith("eyJeyJ")


@pytest.mark.slow
@pytest.mark.parametrize("place", PATTERNS)
def test_a_pattern_takes_linear_time(place: str) -> None:
    pattern, is_searched = PATTERNS[place]
    use = uses_of(pattern, is_searched=is_searched)
    slow: list[str] = []
    for text in (*texts(), *pairs_of(pattern), *words_of(pattern)):
        for end in ENDS:
            cut = {times: text[: int(times * LENGTH)] + end for times in (0.1, 1, 4, 8, 16)}
            if any(seconds(use, cut[times], 3) > FAST_SECONDS for times in (0.1, 1)):
                slow.append(f"{text[:20]!r} and {end!r}: more than quadratic")
                break
            if seconds(use, cut[16], 1) < FAST_SECONDS:
                continue
            took = {times: seconds(use, cut[times], 3) for times in (4, 8, 16)}
            if took[16] > MAX_RATIO * took[4]:
                slow.append(f"{text[:20]!r} and {end!r}: {took}")
                break
    assert not slow, f"{pattern.pattern}\n" + "\n".join(slow)
