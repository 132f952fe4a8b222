"""What was read last of a few paths: entries do not change, so only those that came since are read again.

A request of a turn reads what its model sees some ten times; without this, each time from the database.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from coppice.store.schema.records import PathEnd


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_Identified)
Sized = tuple[T, int]
"""What was read of an entry, and the characters that it takes."""
Load = Callable[[int, int], list[Sized[T]]]
"""Reads the entries of a path from one depth to another, both included."""

ROW_CHARACTERS: Final = 600
"""What an `EntryRow` takes in memory: some 600 bytes."""
ENTRY_CHARACTERS: Final = 3_000
"""What an `Entry` takes in memory besides its text: 2 to 4.5 kB of 20,000 short messages."""
MOST_CHARACTERS: Final = 32_000_000
"""Of all paths together: what two windows of a million tokens hold in some 8,000 entries."""


@dataclass(frozen=True, slots=True)
class _Part(Generic[T]):
    """The consecutive entries of a path from depth `first` on."""

    first: int
    entries: list[Sized[T]]
    characters: int

    @property
    def last(self) -> int:
        return self.first + len(self.entries) - 1

    def between(self, low: int, high: int) -> list[Sized[T]]:
        return self.entries[low - self.first : high - self.first + 1]

    def has(self, depth: int, entry_id: str) -> bool:
        return self.entries[depth - self.first][0].id == entry_id


class RecentPaths(Generic[T]):
    """The ends of the paths that were read last. May be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Paths whose ends lie in the same run are the same up to the nearer end.
        self._parts: OrderedDict[tuple[str, int], _Part[T]] = OrderedDict()
        self._characters = 0

    def read(self, end: PathEnd, low: int, high: int, load: Load[T]) -> list[T]:
        """The path's entries from depth `low` to `high`, both included, root first.

        What does not reach to the path's end, or to what is in memory, is not kept there.
        """
        low, high = max(low, 0), min(high, end.depth)
        if low > high:
            return []
        run = (end.conversation_id, end.run)
        part = self._parts.get(run)
        if part is not None and low <= part.last and high >= part.first:
            part = _grown(part, end, low, high, load)
        elif high == end.depth and (part is None or low > part.last):
            part = _part(low, load(low, high))
        else:
            part = None
        if part is None:
            return _without_sizes(load(low, high))
        wanted = part.between(low, high)
        if part.characters > MOST_CHARACTERS:
            part = _part(low, wanted)
        if part.characters <= MOST_CHARACTERS:
            self._keep(run, part)
        return _without_sizes(wanted)

    def forget(self, conversation_id: str) -> None:
        """Releases what was read of a conversation that is deleted."""
        with self._lock:
            for run in [run for run in self._parts if run[0] == conversation_id]:
                self._characters -= self._parts.pop(run).characters

    def _keep(self, run: tuple[str, int], part: _Part[T]) -> None:
        with self._lock:
            before = self._parts.pop(run, None)
            self._characters += part.characters - (0 if before is None else before.characters)
            self._parts[run] = part
            while self._characters > MOST_CHARACTERS:
                _, oldest = self._parts.popitem(last=False)
                self._characters -= oldest.characters


def _grown(part: _Part[T], end: PathEnd, low: int, high: int, load: Load[T]) -> _Part[T] | None:
    """`part` with what it lacks from `low` to `high`; None where it does not show that it still holds.

    A database that was put back to an earlier state gives a place in a run a second time. An entry that is
    where it was has the same ones before it.
    """
    newer: list[Sized[T]] = []
    if end.depth <= part.last:
        if not part.has(end.depth, end.id):
            return None
    elif high > part.last:
        again, *newer = load(part.last, high)
        if not part.has(part.last, again[0].id):
            return _part(low, load(low, high)) if high == end.depth else None
    else:
        return None
    older = load(low, part.first - 1) if low < part.first else []
    added = _characters(older) + _characters(newer)
    return _Part(min(low, part.first), older + part.entries + newer, part.characters + added)


def _part(first: int, entries: list[Sized[T]]) -> _Part[T]:
    return _Part(first, entries, _characters(entries))


def _characters(entries: Iterable[Sized[T]]) -> int:
    return sum(characters for _, characters in entries)


def _without_sizes(entries: Iterable[Sized[T]]) -> list[T]:
    return [entry for entry, _ in entries]
