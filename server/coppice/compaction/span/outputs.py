"""Outputs of tools as a person would have seen them: escapes decoded, lines of progress as they ended."""

import json
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from coppice.compaction.span.serialization import shorten
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
_WINDOW: Final = 3  # lines by which a block is looked up; of 3, 4 and 6 it shortens most
_LEAST_CHARS: Final = 600
"""Characters of a block that a mark stands for. In six recorded sessions 59 marks save 84 % of what 188 do at
200 characters, and results of checks stay where they are.
"""


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


class LaterLines:
    """The lines of outputs, the newest output first, with None after each."""

    def __init__(self) -> None:
        self._lines: list[str | None] = []
        self._places: dict[tuple[str, ...], int] = {}
        self._short = 0, 0

    def fitted(self, text: str, limit: int, tail: float) -> str:
        """`text`, an output before those so far, in about `limit` characters: with a mark for each block of
        lines that one of them has, and where that is too long, without its middle, but for a share `tail`.
        """
        marked = self._marked(text.split("\n"))
        if len(marked) > limit:
            text = shorten(text, limit, tail=tail)
            marked = self._marked(text.split("\n"))
        lines = text.split("\n")
        for place in range(len(lines) - _WINDOW + 1):
            self._places[tuple(lines[place : place + _WINDOW])] = len(self._lines) + place
        self._lines += [*lines, None]
        return marked

    def _marked(self, lines: list[str]) -> str:
        shown, place, self._short = list[str](), 0, (0, 0)
        while place < len(lines):
            count = self._repeated(lines, place)
            shown.append(f"[… {count} lines as in a later output …]" if count else lines[place])
            place += count or 1
        return "\n".join(shown)

    def _repeated(self, lines: list[str], place: int) -> int:
        """How many of `lines` from `place` on are a block of a later output; 0 for a short one."""
        start = self._places.get(tuple(lines[place : place + _WINDOW]), len(self._lines))
        distance, end = self._short
        if start - place == distance and place < end:  # in a short block: it is not read again from here
            return 0
        most = min(len(lines) - place, len(self._lines) - start)
        count = chars = 0
        while count < most and (line := lines[place + count]) == self._lines[start + count]:
            count, chars = count + 1, chars + len(line) + 1
        if chars >= _LEAST_CHARS:
            return count
        self._short = start - place, place + count
        return 0
