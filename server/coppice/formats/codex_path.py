"""The path of a rollout: what the next entry hangs on, and where a rollback leads."""

from typing import Any, Final

from coppice.formats.lines import ParsedLine
from coppice.formats.session import EPOCH, SessionHeader, derived_id
from coppice.formats.source import NotResumableError

MOST_TURNS: Final = 50
"""Turns that the state of a path names. A user takes back the last few; a state is written for each file."""


class RolloutPath:
    """`leaf_id` is the end of the path, `line` the number of the record that entries are made of."""

    def __init__(self, header: SessionHeader, resumed: dict[str, Any] | None) -> None:
        self.leaf_id: str | None = None if resumed is None else resumed["leaf"]
        self.line = 0
        self._session_id = header.session_id
        self._timestamp = header.created_at or EPOCH
        self._entries_of_line = 0
        self._turns: list[str | None] = [] if resumed is None else list(resumed["turns"])
        self._turns_before = 0 if resumed is None else resumed["turnsBefore"]

    def state(self) -> dict[str, Any]:
        """For a path that goes on from here."""
        before = self._turns_before + max(len(self._turns) - MOST_TURNS, 0)
        return {"leaf": self.leaf_id, "turns": self._turns[-MOST_TURNS:], "turnsBefore": before}

    def begin_record(self, line: ParsedLine) -> None:
        """The entries from here on are made of this record. One without a time has that of the one before."""
        self.line, self._entries_of_line = line.number, 0
        timestamp = line.value.get("timestamp")
        self._timestamp = timestamp if isinstance(timestamp, str) else self._timestamp

    def begin_turn(self) -> None:
        """The next entry is what the user wrote."""
        self._turns.append(self.leaf_id)

    def roll_back(self, number: int) -> None:
        """Takes the path back to where the user's last `number` turns began, or the first of all.

        Raises NotResumableError where that turn is no longer in the state that the path went on from.
        """
        if number > len(self._turns) and self._turns_before:
            raise NotResumableError
        if self._turns:
            self.leaf_id = self._turns[-min(number, len(self._turns))]
            del self._turns[-number:]

    def place(self) -> dict[str, Any]:
        """Id, parent and time of the next entry, which becomes the end of the path."""
        own = derived_id(self._session_id, self.line)
        place = {
            "id": f"{own}.{self._entries_of_line}" if self._entries_of_line else own,
            "parent_id": self.leaf_id,
            "timestamp": self._timestamp,
        }
        self._entries_of_line += 1
        self.leaf_id = place["id"]
        return place
