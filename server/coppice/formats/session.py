"""A session file, as every format presents it."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from io import BufferedReader
from typing import Any, BinaryIO, ClassVar, Final

from coppice.errors import ImportFailedError
from coppice.formats.lines import ParsedLine, UnusableLineError, read_object_at
from coppice.formats.source import Checkpoint, Source, mark_at
from coppice.formats.warning_log import WarningLog, as_sentences
from coppice.tree.entries import HARNESS_TYPE, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import UserMessage

MAX_ENTRIES: Final = 2_000_000
"""Of a session file; each takes some 200 bytes. Twice the longest conversation measured."""

EPOCH: Final = "1970-01-01T00:00:00.000Z"


@dataclass
class SessionHeader:
    """The facts about a session that are not in its entries.

    `created_at` is an ISO 8601 UTC string, `cwd` the folder the session worked in. With `of_sub_agent` its
    prompts were written by the agent that started it. `extra` holds the header's further properties under
    their own names, so that an export can write them again.
    """

    format: str
    session_id: str | None = None
    name: str | None = None
    cwd: str | None = None
    created_at: str | None = None
    of_sub_agent: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


class SessionReader(ABC):
    """A session file that was found readable.

    It is read twice: first for what is known before the entries, then, on iteration, for the entries.
    Iterating gives its entries, parents before children and otherwise in the order of the file, and may be
    done more than once. Memory holds the ids of the entries, never their contents. Iterating raises
    ImportFailedError when the file was changed since it was opened.

    `skipped` counts the records of which nothing is taken, by type; those in `ignored` carry no part of the
    conversation, others are `unknown`. `leaf_id` is the current leaf, known once the entries were read; None
    before the first entry.

    A source with a start gives the entries from there on, of which the first may have been given before. Both
    the reader and its iteration then raise NotResumableError where that cannot be done. Of a source that
    grows, `held` says whether entries at its end are left out because lines may follow that change them.
    """

    format: ClassVar[str]
    title: ClassVar[str]
    ignored: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, source: Source) -> None:
        self._source = source
        self.header = SessionHeader(self.format, **(self._resumed or {}).get("header", {}))
        self.leaf_id: str | None = None
        self._log = WarningLog()
        self._content_log = WarningLog()
        self.held = False
        self.skipped: Counter[str] = Counter()
        self._next_start: tuple[int, int, dict[str, Any]] | None = None

    @property
    def checkpoint(self) -> Checkpoint | None:
        """Where a later reading begins, known once the entries were read; None: at the start of the file."""
        if self._next_start is None:
            return None
        offset, line, state = self._next_start
        with self._source.open() as file:
            return Checkpoint(offset, line, mark_at(file, offset), state)

    def _pass(self, line: ParsedLine, state: dict[str, Any]) -> None:
        """A later reading can begin at `line`, with `state`."""
        self._next_start = (line.offset, line.number, state)

    @property
    def _resumed(self) -> dict[str, Any] | None:
        """The state at which this reading began, None for the start of the file."""
        return None if self._source.start is None else self._source.start.state

    @property
    def unknown(self) -> Counter[str]:
        """Those among `skipped` that the reader does not know; complete once the entries were read."""
        return Counter({kind: count for kind, count in self.skipped.items() if kind not in self.ignored})

    @property
    def warnings(self) -> list[str]:
        """What could not be taken over unchanged, each with its line; complete once the entries were read."""
        return as_sentences(self._log, self._content_log)

    def __iter__(self) -> Iterator[Entry]:
        self._content_log = WarningLog()
        with self._source.open() as file:
            entries = self._entries(file)
            yield from map(_of_no_user, entries) if self.header.of_sub_agent else entries

    @abstractmethod
    def _entries(self, file: BufferedReader) -> Iterator[Entry]:
        """The entries of `file`, which is at its start. Warnings go to `_content_log`."""

    def _no_usable_line(self) -> ImportFailedError:
        """The error for a file without any line of this format."""
        return ImportFailedError(
            f"No line of this file could be used as part of a {self.title}. Choose another file or format."
        )


def _of_no_user(entry: Entry) -> Entry:
    """The entry; what has the role of the user is the harness's."""
    if not isinstance(entry, MessageEntry) or not isinstance(entry.message, UserMessage):
        return entry
    return CustomMessageEntry(
        id=entry.id,
        parent_id=entry.parent_id,
        timestamp=entry.timestamp,
        custom_type=HARNESS_TYPE,
        content=entry.message.content,
        display=False,
    )


def check_number_of_entries(number: int) -> None:
    """Raises ImportFailedError when a session file has too many."""
    if number > MAX_ENTRIES:
        raise ImportFailedError(
            f"The file has more than {MAX_ENTRIES:,} entries, the most that are imported at once. Divide it "
            "into sessions of their own.",
            most=MAX_ENTRIES,
        )


def time_of(number: object, per_second: int = 1) -> str | None:
    """An ISO 8601 UTC string of a time since 1970, in parts of a second; None for what is no number."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    with suppress(OverflowError, ValueError, OSError):
        moment = datetime.fromtimestamp(number / per_second, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return None


def derived_id(session_id: str | None, ordinal: int) -> str:
    """An id for an entry without one: the same each time the same file is read."""
    return blake2b(f"{session_id or ''}:{ordinal}".encode(), digest_size=8).hexdigest()


def read_again(file: BinaryIO, offset: int) -> dict[str, Any]:
    """The object that the first reading found at `offset`. Raises ImportFailedError when it is gone."""
    try:
        return read_object_at(file, offset)
    except UnusableLineError as error:
        raise changed_meanwhile() from error


def changed_meanwhile() -> ImportFailedError:
    """The error for a file that is no longer what the first reading saw."""
    return ImportFailedError("The file was changed while it was read. Import it again.")
