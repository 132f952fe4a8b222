"""No regular expression of the package takes more than linear time, whatever text it is given.

Patterns are found in the package, not listed here: in its modules, classes and tables, and in calls of `re`
within functions. Each is timed on texts of 4, 8 and 16 times a length: of those that are the same to it, one.
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
from attacks.kinds_of_characters import kinds_of

import coppice

LENGTH = 250
"""Characters of the shortest text; the longest has 16 times as many."""

FAST_SECONDS = 0.005
"""At 16 times the length nothing this fast is more than linear: the square of 4,000 steps takes 40 ms."""

MAX_RATIO = 9.0
"""Of the times at 16 and at 4 times the length: it is 4 where time is linear, 16 where it is quadratic."""

MOST_WORDS: Final = 60
"""Words of a pattern that are tried: all of nearly every one."""

_NO_WORDS: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\{[^}]*\}|\(\?[^:]*?[:=!>]")
_ESCAPED: Final = re.compile(r"\\([ntr])")
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


def pairs_of(pattern: re.Pattern[Any]) -> Iterator[str]:
    """Every two characters of those that a pattern names, with a letter, a digit, a space and a line break.

    Of the letters and digits that it names are the `words_of` it.
    """
    written = written_of(pattern)
    named = {char for char in written if not char.isalnum() and char.isascii()}
    named |= {{"n": "\n", "t": "\t", "r": "\r"}[char] for char in _ESCAPED.findall(written)}
    for pair in itertools.product(sorted(named | {"a", "0", " ", "\n"}), repeat=2):
        yield "".join(pair)


def words_of(pattern: re.Pattern[Any]) -> Iterator[str]:
    """Every word that a pattern looks for, such as the prefix of a form: alone and with a mark that may be in
    what follows it.
    """
    words = list(dict.fromkeys(_WORD.findall(_NO_WORDS.sub(" ", written_of(pattern)))))
    for word, mark in itertools.product(words[:MOST_WORDS], ("", "-", ".")):
        yield word + mark


def written_of(pattern: re.Pattern[Any]) -> str:
    return pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern


def texts_of(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str]]:
    """What is repeated, and what comes after it in the end: one of those that are the same to the pattern."""
    kind_of = kinds_of(pattern)
    seen = set()
    for unit in (*UNITS, *pairs_of(pattern), *words_of(pattern)):
        for end in ENDS:
            kinds = (tuple(map(kind_of, unit)), tuple(map(kind_of, end)))
            if kinds not in seen:
                seen.add(kinds)
                yield unit, end


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


def slow_texts(pattern: re.Pattern[Any], *, is_searched: bool) -> Iterator[str]:
    """The texts for which a pattern takes more than linear time, with the times."""
    use = uses_of(pattern, is_searched=is_searched)
    for unit, end in texts_of(pattern):
        text = unit * (16 * LENGTH // len(unit) + 1)
        cut = {times: text[: int(times * LENGTH)] + end for times in (0.1, 1, 4, 8, 16)}
        if any(seconds(use, cut[times], 3) > FAST_SECONDS for times in (0.1, 1)):
            yield f"{unit!r} and {end!r}: more than quadratic"
        elif seconds(use, cut[16], 1) >= FAST_SECONDS:
            took = {times: seconds(use, cut[times], 3) for times in (4, 8, 16)}
            if took[16] > MAX_RATIO * took[4]:
                yield f"{unit!r} and {end!r}: {took}"


def test_patterns_are_found_where_they_are() -> None:
    assert len(PATTERNS) > 100


def test_the_words_of_a_pattern_are_its_prefixes() -> None:
    [text, *_] = words_of(re.compile(r"\b(?:eyJ[\w-]{8,4000}\.(?=ab)|gh[pousr]_)"))
    assert text == "eyJ"


MANY_NAMED: Final = "[]!#$%&'()*+,./:;<=>?@]"
"""More characters than were tried once, the first ones by code point."""


@pytest.mark.parametrize("unit", ["\\`", "`~", "^\\", "`", "\\"])
def test_whatever_pair_a_pattern_is_quadratic_for_is_seen(unit: str) -> None:
    written = f"(?:{re.escape(unit)}){{}}=|{MANY_NAMED}"
    assert next(slow_texts(re.compile(written.format("+")), is_searched=True))
    assert not [*slow_texts(re.compile(written.format("{1,3}")), is_searched=True)]


def test_an_open_literal_that_is_read_from_each_of_its_quotes_is_seen() -> None:
    """The pattern that froze the server."""
    literal = r"(?:\b([A-Za-z_]\w{0,40})\"?\s{0,4}[:=]\s{0,4})?(\"(?:[^\"\\\n]|\\.){1,100000}+\")"
    assert next(slow_texts(re.compile(literal), is_searched=True))


def test_what_is_the_same_to_a_pattern_is_tried_once() -> None:
    kind_of = kinds_of(re.compile(r"(?>[\w.]+)(?i:é)|(?=[^\s,])"))
    assert len({*map(kind_of, "é \n.!,a")}) == 6
    for same in ("!#;", "ab7", " \t", "éÉ"):
        assert len({*map(kind_of, same)}) == 1
    quoted = kinds_of(re.compile(r"(['\"`]).*?\1"))
    assert len({*map(quoted, "'\"`")}) == 3


@pytest.mark.slow
@pytest.mark.parametrize("place", PATTERNS)
def test_a_pattern_takes_linear_time(place: str) -> None:
    pattern, is_searched = PATTERNS[place]
    slow = [*slow_texts(pattern, is_searched=is_searched)]
    assert not slow, f"{pattern.pattern}\n" + "\n".join(slow)
