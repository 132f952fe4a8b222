"""Outputs of tools as a person would have seen them: escapes decoded, lines of progress as they ended."""

import json
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from coppice.tokens.measuring import compact_json

_MOST_CHARS: Final = 1_000_000  # characters of JSON that is decoded, in 0.3 s at most
_DEEPEST: Final = 8
"""Levels of JSON that are written out; below, it stays JSON. 49 of 50 recorded outputs have no more."""
_LEAST_ALIKE: Final = 5
"""Lines in a row that differ in their numbers only, for which three are shown: of four that saves one."""
_NUMBERS: Final = re.compile(r"\d+(?:\.\d+)?")
_COUNTED: Final = re.compile(r"\d\s*%|\d\S{0,8}\s*(?:/|of)\s*\d")
"""A share or a count of a total. Of 38 runs of lines that differ only in numbers, in six recorded sessions,
the 4 of progress have one; the others were results, places in code and brackets."""
_BAR: Final = re.compile(r"[=#>.\-~█▓▒░ ]{3,}")


def decoded(text: str) -> str:
    """JSON whose strings have several lines, written out as lines `key: value`; any other text as it is."""
    if text.lstrip()[:1] not in ("{", "[") or "\\n" not in text or len(text) > _MOST_CHARS:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "\n".join(_lines(value, _DEEPEST))


def _lines(value: Any, levels: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and levels:
        for key, each in value.items():
            head, *rest = _lines(each, levels - 1) or [""]
            yield f"{key}: {head}"
            yield from rest
    elif isinstance(value, list) and levels:
        for each in value:
            yield from _lines(each, levels - 1)
    else:
        yield compact_json(value)


def without_progress(text: str) -> str:
    """`text` with each line as it ended, and of a run of lines that only count, the first and the last."""
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n")]
    return "\n".join(_shown(lines))


def _shown(lines: list[str]) -> Iterator[str]:
    for _, run in groupby(lines, key=lambda line: _BAR.sub(" ", _NUMBERS.sub("0", line))):
        alike = list(run)
        if len(alike) < _LEAST_ALIKE or not _COUNTED.search(alike[0]):
            yield from alike
        else:
            yield from (alike[0], f"[… {len(alike) - 2} lines alike …]", alike[-1])
