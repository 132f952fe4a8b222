"""How often a conversation may be compacted by itself when that does not help."""

from dataclasses import dataclass
from typing import Final

MOST_IN_A_ROW: Final = 2  # automatic compactions without a message between them (guess)


@dataclass(frozen=True, slots=True)
class Automatic:
    """The compactions made by themselves `in_a_row`; `regained` is whether the last one made room."""

    in_a_row: int = 0
    regained: bool = False

    @property
    def allowed(self) -> bool:
        """Whether one more automatic compaction may follow those in a row."""
        return self.in_a_row < MOST_IN_A_ROW

    def since(self, *, new_work: bool) -> "Automatic":
        """The row as it counts now: over, once a compaction made room and a model has worked in it."""
        return Automatic() if self.regained and new_work else self

    def after(self, *, regained: bool) -> "Automatic":
        """The row with one more compaction."""
        return Automatic(self.in_a_row + 1, regained)
