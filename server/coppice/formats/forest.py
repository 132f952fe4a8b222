"""Trees as arrays of parents: position by position, -1 at a root."""

from array import array
from collections.abc import Iterator
from typing import Final

ROOT: Final = -1  # the parent of entries without one


def break_cycles(parents: "array[int]") -> list[int]:
    """Makes a root of the earliest position of each cycle; returns those positions, ascending."""
    if all(parent < position for position, parent in enumerate(parents)):
        return []
    broken: list[int] = []
    walk_of = array("q", bytes(8 * len(parents)))
    for start in range(len(parents)):
        position, walk = start, start + 1
        while position != ROOT and walk_of[position] == 0:
            walk_of[position] = walk
            position = parents[position]
        if position != ROOT and walk_of[position] == walk:
            earliest = _earliest_of_cycle(parents, position)
            parents[earliest] = ROOT
            broken.append(earliest)
    return sorted(broken)


def in_order(parents: "array[int]") -> Iterator[int]:
    """All positions of a forest without cycles: parents first, otherwise ascending."""
    given = bytearray(len(parents))
    waiting: dict[int, list[int]] = {}
    for start in range(len(parents)):
        parent = parents[start]
        if parent != ROOT and not given[parent]:
            waiting.setdefault(parent, []).append(start)
            continue
        ready = [start]
        while ready:
            position = ready.pop()
            given[position] = 1
            yield position
            ready.extend(reversed(waiting.pop(position, [])))


def _earliest_of_cycle(parents: "array[int]", position: int) -> int:
    earliest, current = position, parents[position]
    while current != position:
        earliest = min(earliest, current)
        current = parents[current]
    return earliest
