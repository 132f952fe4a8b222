"""Statements for the sections of a narrative, and which of them fit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.summary import inert

_RULES_SHARE: Final = 2
"""The room divided by this bounds the rules, so that what was done has a place."""
_LINE: Final = "- [x] {}\n"


@dataclass(frozen=True, slots=True)
class Line:
    """One statement of a section. `order` is its place there."""

    section: str
    text: str
    order: float = 0.0


def chosen_lines(lines: Iterable[Line], room: int, count: CountTokens) -> list[Line]:
    """The lines that fit, each once, the most important first. Rules have a part of the room for certain, and
    what is left over.
    """
    distinct: dict[tuple[bool, str], Line] = {}
    for line in lines:
        distinct.setdefault((line.section == "constraints", line.text.casefold()), line)
    rules = [line for (is_rule, _), line in distinct.items() if is_rule]
    others = [line for (is_rule, _), line in distinct.items() if not is_rule]
    first, left = _fitting(rules, room // _RULES_SHARE, count)
    taken, left = _fitting(others, room - room // _RULES_SHARE + left, count)
    held = set(first)
    more, _ = _fitting([line for line in rules if line not in held], left, count)
    return [*first, *taken, *more]


def _fitting(lines: Iterable[Line], room: int, count: CountTokens) -> tuple[list[Line], int]:
    """Those of `lines` that fit together, and the room that is left."""
    taken = []
    for line in lines:
        cost = count(_LINE.format(inert(line.text)))
        if cost <= room:
            taken.append(line)
            room -= cost
    return taken, room
