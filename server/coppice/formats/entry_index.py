"""Which entries a file holds, where, and how they hang together: ids and positions, no contents."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from coppice.formats.lines import ParsedLine, UnusableLineError, read_object_at
from coppice.formats.session import check_number_of_entries
from coppice.formats.warning_log import WarningLog

ROOT: Final = -1  # the parent of entries without one

SHOWN_ID_CHARS: Final = 40  # characters of an id in a warning: a UUID has 36


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


@dataclass
class EntryIndex:
    """Positions count the entries from 0 in the order of the file.

    `ids[position]` is the entry's id, or None where the file gives it none. An id that occurs again with
    the same content is left out; with other content the later entry gets an id of its own, and what comes
    after it and names the id as its parent hangs on that one.
    """

    log: WarningLog
    ids: list[str | None] = field(default_factory=list)
    offsets: "array[int]" = field(default_factory=lambda: array("q"))
    lines: "array[int]" = field(default_factory=lambda: array("q"))
    parents: "array[int]" = field(default_factory=lambda: array("q"))
    stored_parents: dict[int, str] = field(default_factory=dict)
    _position_of: dict[str, int] = field(default_factory=dict)
    _copies: dict[str, int] = field(default_factory=dict)
    _pending: list[tuple[int, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.offsets)

    def position_of(self, entry_id: str) -> int | None:
        """The position of the entry that has this id now; None where there is none."""
        return self._position_of.get(entry_id)

    def add(self, line: ParsedLine, entry_id: str | None, parent: str | int) -> int:
        """The position of the entry in `line`; `parent` is an id, a position or ROOT.

        Raises ImportFailedError when there are too many.
        """
        position = len(self)
        check_number_of_entries(position + 1)
        self.parents.append(ROOT)
        if isinstance(parent, int):
            self.parents[position] = parent
        elif (parent_position := self._position_of.get(parent)) is not None:
            self.parents[position] = parent_position
        else:
            self._pending.append((position, parent))
        self.ids.append(None if entry_id is None else self._taken(line, entry_id, position))
        self.offsets.append(line.offset)
        self.lines.append(line.number)
        return position

    def add_stored(self, entry_id: str) -> int:
        """The position of an entry that an earlier reading gave; nothing of it is read."""
        self.parents.append(ROOT)
        self.ids.append(entry_id)
        self.offsets.append(0)
        self.lines.append(0)
        self._position_of[entry_id] = position = len(self.offsets) - 1
        return position

    def has_same(self, file: BinaryIO, entry_id: str, value: dict[str, Any]) -> bool:
        """Whether an entry with this id and this very content is there already. `file` keeps its place."""
        position = self._position_of.get(entry_id)
        if position is None:
            return False
        place = file.tell()
        try:
            return read_object_at(file, self.offsets[position]) == value
        except UnusableLineError:
            return False
        finally:
            file.seek(place)

    def connect(self, *, stored: bool = False) -> None:
        """Finds the parents that came later; entries without one, or in a cycle, become roots.

        With `stored` an earlier reading gave the entries before these, and parents that are not among these
        are in `stored_parents`.
        """
        for position, parent in self._pending:
            parent_position = self._position_of.get(parent)
            if parent_position is not None:
                self.parents[position] = parent_position
            elif stored:
                self.stored_parents[position] = parent
            else:
                self.log.add(
                    self.lines[position],
                    "parent not in the file",
                    f"the parent {shown(parent)} is not in the file; this entry became a root",
                )
        self._pending.clear()
        for position in break_cycles(self.parents):
            self.log.add(
                self.lines[position],
                "cycle",
                "this entry is its own ancestor; the circle was cut here and it became a root",
            )

    def _taken(self, line: ParsedLine, entry_id: str, position: int) -> str:
        own = entry_id
        while own in self._position_of:
            self._copies[entry_id] = copies = self._copies.get(entry_id, 1) + 1
            own = f"{entry_id}~{copies}"
        if own != entry_id:
            self.log.add(
                line.number,
                "id used twice",
                f"the id {shown(entry_id)} is taken by an earlier entry; this one is now {shown(own)}",
            )
            self._position_of[own] = position
        self._position_of[entry_id] = position
        return own


def shown(text: str) -> str:
    """`text` as a warning quotes it."""
    return repr(text if len(text) <= SHOWN_ID_CHARS else text[:SHOWN_ID_CHARS] + "…")
