"""Where a later reading of a growing session file begins."""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, BinaryIO, Final

_MARK_BYTES: Final = 4096
"""Of the line at a checkpoint, to recognize it by. Ids and times come early in a line."""


class NotResumableError(Exception):
    """A file cannot be read from its checkpoint: it was rewritten, or its new lines refer to what was before.

    It is to be read from its start.
    """


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The begin of a line, and what a reader must know of the lines before it.

    `line` counts from 1, `offset` from 0; `mark` is a digest of the line's beginning. `state` is the format's
    own, of JSON values.
    """

    offset: int
    line: int
    mark: str
    state: dict[str, Any] = field(default_factory=dict)

    def is_in(self, file: BinaryIO) -> bool:
        """Whether the line is still there."""
        return mark_at(file, self.offset) == self.mark

    def to_json(self) -> dict[str, Any]:
        """For `of_json`."""
        return {"offset": self.offset, "line": self.line, "mark": self.mark, "state": self.state}

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> "Checkpoint":
        """What `to_json` gave."""
        return cls(value["offset"], value["line"], value["mark"], value["state"])


def mark_at(file: BinaryIO, offset: int) -> str:
    """A digest of the beginning of the line at `offset`."""
    file.seek(offset)
    return blake2b(file.readline(_MARK_BYTES), digest_size=8).hexdigest()
