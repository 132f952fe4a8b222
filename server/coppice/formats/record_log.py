"""Session files that are a log of one path, each record of which becomes entries as it comes."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BufferedReader
from typing import Any, ClassVar

from coppice.formats.entry_index import shown
from coppice.formats.lines import ParsedLine, read_objects, text_at
from coppice.formats.session import EPOCH, SessionReader, check_number_of_entries
from coppice.formats.source import Source
from coppice.formats.warning_log import WarningLog
from coppice.tree.entries import Entry


class RecordLog(SessionReader):
    """The first reading finds the header, each further one the entries.

    A subclass names the `record_types` that it understands. `leaf_id` is the end of the path while the
    entries are made; the next entry hangs on it. Of entries with the same id, the later ones get others.
    """

    record_types: ClassVar[frozenset[str]]

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._timestamp = EPOCH
        understood = 0
        with source.open() as file:
            for line in read_objects(file, self._log, source.first_line, places=source.places):
                kind = self._kind(line.value)
                if kind is None or kind not in self.record_types or line.too_deep:
                    self.skipped[str(kind)[:100]] += 1
                    continue
                understood += 1
                check_number_of_entries(understood)
                self._survey(line)
        if not understood:
            raise self._no_usable_line()

    def _entries(self, file: BufferedReader) -> Iterator[Entry]:
        self._begin({} if self._resumed is None else self._resumed)
        copies: Counter[str] = Counter()
        for line in self._lines(file):
            self._timestamp = text_at(line.value, "timestamp") or self._timestamp
            for entry in self._made_of(line):
                own_id = self._own_id(entry.id, line, copies)
                yield entry if own_id == entry.id else entry.model_copy(update={"id": own_id})
                self.leaf_id = own_id

    def _own_id(self, entry_id: str, line: ParsedLine, copies: Counter[str]) -> str:
        """The id, or another where an earlier entry has it. `copies` counts the entries by id."""
        own_id = entry_id
        while copies[own_id]:
            copies[entry_id] += 1
            own_id = f"{entry_id}~{copies[entry_id]}"
        copies[own_id] += 1
        if own_id != entry_id:
            taken = f"the id {shown(entry_id)} is taken by an earlier entry; this one is now {shown(own_id)}"
            self._content_log.add(line.number, "id used twice", taken)
        return own_id

    def _lines(self, file: BufferedReader) -> Iterator[ParsedLine]:
        source = self._source
        for line in read_objects(file, WarningLog(), source.first_line, places=source.places):
            if self._kind(line.value) in self.record_types and not line.too_deep:
                yield line

    def _kind(self, value: dict[str, Any]) -> str | None:
        """The type of a record."""
        return text_at(value, "type")

    def _survey(self, line: ParsedLine) -> None:
        """Takes from a record what must be known before the entries are made."""

    @abstractmethod
    def _made_of(self, line: ParsedLine) -> Iterable[Entry]:
        """The entries of a record, the one after the other."""

    def _begin(self, state: dict[str, Any]) -> None:
        """Before the first record; `state` is that of the checkpoint."""
        self.leaf_id = state.get("leaf")
        self._timestamp = self.header.created_at or EPOCH

    def _state(self) -> dict[str, Any]:
        """What a later reading must know that begins here; see `_pass`."""
        header = self.header
        fields = {"session_id": header.session_id, "created_at": header.created_at}
        return {"leaf": self.leaf_id, "header": fields}

    def _place(self, entry_id: str) -> dict[str, Any]:
        """The properties that an entry after the current leaf has."""
        return {"id": entry_id, "parent_id": self.leaf_id, "timestamp": self._timestamp}
