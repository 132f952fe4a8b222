"""Labels and pins: rows with the state that the newest `label` and `pin` entries set."""

from typing import Final

from sqlalchemy import Connection, bindparam, delete, insert

from coppice.store.schema.entry_json import showable
from coppice.store.schema.records import PathEnd
from coppice.store.schema.tables import LABEL, PIN
from coppice.store.tree import landmarks
from coppice.store.tree.run_writer import RunWriter
from coppice.tree.entries import MAX_NAME_CHARS


class LabelsAndPins:
    """The labels and pins that one transaction sets; `flush` writes them, after entries and landmarks."""

    def __init__(self, connection: Connection, conversation: int, run_writer: RunWriter) -> None:
        self._connection = connection
        self._conversation = conversation
        self._runs = run_writer
        self._labels: dict[int, tuple[PathEnd, str | None]] = {}
        self._pins: dict[int, bool] = {}

    def label(self, target: PathEnd, label: str | None) -> None:
        """Names `target`; without a label, or with an empty one, takes the name away."""
        self._labels[target.key] = (target, label)

    def pin(self, target: PathEnd, *, pinned: bool) -> None:
        """Pins or unpins an entry; the last call for it holds."""
        self._pins[target.key] = pinned

    def flush(self) -> None:
        """Writes the labels and pins that were collected."""
        for key, (target, label) in self._labels.items():
            self._connection.execute(_DELETE_LABEL, {"target": key})
            landmarks.remove(self._connection, key, landmarks.LABEL_REASON)
            if label:
                row = {
                    "entry_key": key,
                    "conversation_key": self._conversation,
                    "label": showable(label[:MAX_NAME_CHARS]),
                }
                self._connection.execute(_INSERT_LABEL, row)
                if not self._runs.is_annotation(target.run):
                    place = (key, target.run, target.depth)
                    landmarks.add(self._connection, self._conversation, landmarks.LABEL_REASON, [place])
        for key, pinned in self._pins.items():
            self._connection.execute(_DELETE_PIN, {"target": key})
            if pinned:
                self._connection.execute(
                    _INSERT_PIN, {"entry_key": key, "conversation_key": self._conversation}
                )
        self._labels.clear()
        self._pins.clear()


_DELETE_LABEL: Final = delete(LABEL).where(LABEL.c.entry_key == bindparam("target"))
_INSERT_LABEL: Final = insert(LABEL)
_DELETE_PIN: Final = delete(PIN).where(PIN.c.entry_key == bindparam("target"))
_INSERT_PIN: Final = insert(PIN)
