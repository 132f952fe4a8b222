"""Finds the run for each new entry, and keeps runs and landmarks in step with the tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, select, update

from coppice.store.schema.records import PathEnd
from coppice.store.schema.tables import ENTRY_TABLE, RUN
from coppice.store.tree import landmarks
from coppice.store.tree.landmarks import Place
from coppice.store.tree.runs import ROOT_COLUMNS, RUN_COLUMNS, Run, columns_below


@dataclass(slots=True)
class _OpenRun:
    """A run this transaction looks at. `tail` is the depth of its last entry, stored or about to be."""

    place: Run
    annotation: bool
    tail: int


class RunWriter:
    """The runs of one conversation during one transaction.

    Runs are written at once, landmarks by `flush`, after the entries themselves. `row`, of `OPEN_RUN`, is
    a run that has been read.
    """

    def __init__(self, connection: Connection, conversation: int, row: Sequence[Any] | None = None) -> None:
        self._connection = connection
        self._conversation = conversation
        self._runs: dict[int, _OpenRun] = {}
        self._grown: dict[int, int] = {}
        self._recount: set[Place] = set()
        self._woken: list[Place] = []
        if row is not None:
            self._open(row)

    def run_for(self, parent: PathEnd | None, *, annotation: bool) -> int:
        """The run of a new entry under `parent`.

        An `annotation` gets an annotation run. Any other entry turns the annotation runs above it into
        ordinary ones, continues its parent's run if the parent is the last of it, and forks it if not.
        """
        if parent is None:
            return self._start(ROOT_COLUMNS, annotation=annotation)
        run = self._run(parent.run)
        if not annotation:
            self._wake(run)
            if run.tail == parent.depth:
                self._grown.setdefault(parent.run, parent.depth)
                run.tail += 1
                return parent.run
            self._recount.add((parent.run, parent.depth))
        jump = run.place.jump_run
        far = None if jump is None else self._run(jump).place
        return self._start(columns_below(run.place, far, parent.depth), annotation=annotation)

    def is_annotation(self, run: int) -> bool:
        """Whether the run holds metadata attached to a path rather than the path itself."""
        return self._run(run).annotation

    def flush(self) -> None:
        """Writes the landmarks of the runs that have grown since the last call."""
        grown = [(run, old, self._runs[run].tail) for run, old in self._grown.items()]
        for run, old, tail in grown:
            plain = not self._recount and landmarks.move_leaf(self._connection, (run, old), tail)
            if not plain:
                self._recount.update({(run, old), (run, tail)})
        for place in sorted(self._recount):
            landmarks.recount(self._connection, self._conversation, place)
        for place in self._woken:
            landmarks.recall_label(self._connection, self._conversation, place)
        self._grown.clear()
        self._recount.clear()
        self._woken.clear()

    def _start(self, columns: Mapping[str, Any], *, annotation: bool) -> int:
        values = {**columns, "conversation_key": self._conversation, "annotation": annotation}
        key = int(self._connection.execute(_INSERT, values).scalar_one())
        place = Run(key=key, **columns)
        self._runs[key] = _OpenRun(place, annotation, place.start)
        if not annotation:
            self._recount.add((key, place.start))
        return key

    def _wake(self, run: _OpenRun) -> None:
        """Makes an ordinary run of an annotation that gets a child, and of the annotations above it."""
        while run.annotation:
            run.annotation = False
            place = run.place
            self._connection.execute(_WAKE, {"run_key": place.key})
            self._woken.append((place.key, place.start))
            self._recount.add((place.key, place.start))
            if place.parent_run is None:
                return
            self._recount.add((place.parent_run, place.fork_depth))
            run = self._run(place.parent_run)

    def _run(self, key: int) -> _OpenRun:
        run = self._runs.get(key)
        if run is None:
            run = self._open(self._connection.execute(_OPEN, {"run_key": key}).one())
        return run

    def _open(self, row: Sequence[Any]) -> _OpenRun:
        *place, annotation, tail = row
        run = self._runs[place[0]] = _OpenRun(Run(*place), annotation, tail)
        return run


_INSERT: Final = insert(RUN).returning(RUN.c.key)
_WAKE: Final = update(RUN).where(RUN.c.key == bindparam("run_key")).values(annotation=False)
_OF_RUN: Final = ENTRY_TABLE.alias("of_run")
OPEN_RUN: Final[tuple[ColumnElement[Any], ...]] = (
    *RUN_COLUMNS,
    RUN.c.annotation,
    select(func.max(_OF_RUN.c.depth)).where(_OF_RUN.c.run == RUN.c.key).scalar_subquery().label("tail"),
)
"""A run's place, whether it is an annotation, and the depth of its last entry."""
_OPEN: Final = select(*OPEN_RUN).where(RUN.c.key == bindparam("run_key"))
