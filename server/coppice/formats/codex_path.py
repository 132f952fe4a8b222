"""The path of a rollout: what the next entry hangs on, and where a rollback leads."""

from typing import Any

from coppice.formats.lines import ParsedLine
from coppice.formats.session import EPOCH, SessionHeader, derived_id


class RolloutPath:
    """`leaf_id` is the end of the path, `line` the number of the record that entries are made of."""

    def __init__(self, header: SessionHeader) -> None:
        self.leaf_id: str | None = None
        self.line = 0
        self._session_id = header.session_id
        self._timestamp = header.created_at or EPOCH
        self._entries_of_line = 0
        self._turns: list[str | None] = []

    def begin_record(self, line: ParsedLine) -> None:
        """The entries from here on are made of this record. One without a time has that of the one before."""
        self.line, self._entries_of_line = line.number, 0
        timestamp = line.value.get("timestamp")
        self._timestamp = timestamp if isinstance(timestamp, str) else self._timestamp

    def begin_turn(self) -> None:
        """The next entry is what the user wrote."""
        self._turns.append(self.leaf_id)

    def roll_back(self, number: int) -> None:
        """Takes the path back to where the user's last `number` turns began, or the first of all."""
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
