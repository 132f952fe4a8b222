"""A session file, as every format presents it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from coppice.errors import ImportFailedError
from coppice.tree.entries import Entry

MAX_ENTRIES: Final = 2_000_000
"""Of a session file; each takes some 200 bytes. A guess: twice the longest conversation measured."""


def check_number_of_entries(number: int) -> None:
    """Raises ImportFailedError when a session file has too many."""
    if number > MAX_ENTRIES:
        raise ImportFailedError(
            f"The file has more than {MAX_ENTRIES:,} entries, the most that are imported at once. Divide it "
            "into sessions of their own.",
            most=MAX_ENTRIES,
        )


@dataclass
class SessionHeader:
    """The facts about a session that are not in its entries.

    `created_at` is an ISO 8601 UTC string, `cwd` the folder the session worked in. `extra` holds the
    header's further properties under their own names, so that an export can write them again.
    """

    format: str
    session_id: str | None = None
    name: str | None = None
    cwd: str | None = None
    created_at: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


class SessionReader(Protocol):
    """A session file that was found readable.

    Iterating gives its entries, parents before children and otherwise in the order of the file, and may be
    done more than once. Memory holds the ids of the entries, never their contents. Iterating raises
    ImportFailedError when the file was changed since it was opened.
    """

    @property
    def header(self) -> SessionHeader:
        """Known before the entries are read."""

    @property
    def warnings(self) -> list[str]:
        """What could not be taken over unchanged, each with its line; complete once the entries were read."""

    @property
    def leaf_id(self) -> str | None:
        """The current leaf, known once the entries were read; None before the first entry."""

    def __iter__(self) -> Iterator[Entry]: ...
