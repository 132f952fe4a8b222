"""What was read last of a few paths: entries do not change, so only those that came since are read again.

A request of a turn reads what its model sees some ten times; without this, each time from the database.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from coppice.store.schema.records import PathEnd

T = TypeVar("T")
Sized = tuple[T, int]
"""What was read of an entry, and the characters that it takes."""

ROW_CHARACTERS: Final = 600
"""What an `EntryRow` takes in memory: some 600 bytes."""
MOST_CHARACTERS: Final = 8_000_000
"""Of all paths together: two windows of a million tokens."""


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


class RecentPaths(Generic[T]):
    """The ends of the paths that were read last. May be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Paths whose ends lie in the same run are the same up to the nearer end.
        self._parts: OrderedDict[tuple[str, int], _Part[T]] = OrderedDict()

    def read(self, end: PathEnd, low: int, high: int, load: Callable[[int, int], list[Sized[T]]]) -> list[T]:
        """The path's entries from depth `low` to `high`, both included, root first.

        `load` reads those between two depths. What does not reach to the path's end, or to what is in memory,
        is not kept there.
        """
        low, high = max(low, 0), min(high, end.depth)
        if low > high:
            return []
        run = (end.conversation_id, end.run)
        part = self._parts.get(run) or _Part(low if high == end.depth else end.depth + 1, [], 0)
        if low > part.last + 1 or high < part.first - 1:
            return _without_sizes(load(low, high))
        older = load(low, part.first - 1) if low < part.first else []
        newer = load(part.last + 1, high) if high > part.last else []
        characters = part.characters + _characters(older) + _characters(newer)
        part = _Part(min(low, part.first), older + part.entries + newer, characters)
        wanted = part.between(low, high)
        if part.characters > MOST_CHARACTERS:
            part = _Part(low, wanted, _characters(wanted))
        self._keep(run, part)
        return _without_sizes(wanted)

    def forget(self, conversation_id: str) -> None:
        """Releases what was read of a conversation that is deleted."""
        with self._lock:
            for run in [run for run in self._parts if run[0] == conversation_id]:
                del self._parts[run]

    def _keep(self, run: tuple[str, int], part: _Part[T]) -> None:
        with self._lock:
            self._parts[run] = part
            self._parts.move_to_end(run)
            while sum(each.characters for each in self._parts.values()) > MOST_CHARACTERS:
                self._parts.popitem(last=False)


def _characters(entries: Iterable[Sized[T]]) -> int:
    return sum(characters for _, characters in entries)


def _without_sizes(entries: Iterable[Sized[T]]) -> list[T]:
    return [entry for entry, _ in entries]
