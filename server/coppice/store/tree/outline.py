"""The shape of a path: its compactions and branch points, without reading the entries between them."""

from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Connection, and_, bindparam, cast, func, or_, select

from coppice.protocol.outline import OutlineCompaction, OutlineFork, OutlineMark, OutlineResult
from coppice.store.schema.records import PathEnd
from coppice.store.schema.tables import COMPACTION, ENTRY_TABLE, LABEL, LANDMARK, PIN, RUN
from coppice.store.tree import landmarks
from coppice.store.tree.path_ends import OF_END, conversation_key, entry_end, rows_on_path
from coppice.store.tree.runs import segments
from coppice.tree.entries import METADATA_TYPES

MOST: Final = 1_000
"""Of each kind the newest that are listed. More than a person looks through."""

MOST_ALTERNATIVES: Final = 10_000
"""Of all forks together; no older fork is listed once there are so many. 2 MB of ids at most."""


def outline(connection: Connection, end: PathEnd) -> OutlineResult:
    """The compactions, marks and branch points of the path, at most 1,000 of each."""
    return OutlineResult(
        leaf_id=end.id,
        length=end.depth + 1,
        compactions=_compactions(connection, end),
        marks=_marks(connection, end),
        forks=_forks(connection, end),
    )


def _compactions(connection: Connection, end: PathEnd) -> list[OutlineCompaction]:
    points: list[OutlineCompaction] = []
    for segment in reversed(segments(connection, end.run, end.depth, 0, end.depth)):
        rows = connection.execute(_COMPACTIONS, {**segment._asdict(), "most": MOST - len(points)})
        points += [
            OutlineCompaction(entry_id=row.id, depth=row.depth, first_kept_entry_id=row.first_kept_entry_id)
            for row in rows
        ]
        if len(points) >= MOST:
            break
    return points[::-1]


def _marks(connection: Connection, end: PathEnd) -> list[OutlineMark]:
    marked = rows_on_path(connection, end, _MARKED)[-MOST:]
    return [
        OutlineMark(entry_id=row.id, label=row.label, pinned=True if row.pin is not None else None)
        for _, row in marked
    ]


def _forks(connection: Connection, end: PathEnd) -> list[OutlineFork]:
    stretches = segments(connection, end.run, end.depth, 0, end.depth)
    forks: list[OutlineFork] = []
    next_run = None
    for segment in reversed(stretches):
        for row in connection.execute(_FORKS, {**segment._asdict(), "most": MOST - len(forks)}).all():
            if row.depth == end.depth:
                continue
            goes_on = next_run if row.depth == segment.high and next_run is not None else segment.run
            forks.append(_fork(connection, {"run": segment.run, "depth": row.depth}, goes_on, _BRANCHES))
            if sum(len(fork.alternatives) for fork in forks) >= MOST_ALTERNATIVES:
                return forks[::-1]
        if len(forks) >= MOST:
            return forks[::-1]
        next_run = segment.run
    if stretches:
        roots = _fork(connection, {"key": end.key}, stretches[0].run, _ROOTS)
        forks += [roots] if len(roots.alternatives) > 1 else []
    return forks[::-1]


def branch_end(connection: Connection, conversation_id: str, entry_id: str) -> str:
    """The last stored entry that is no metadata below an entry, or the entry itself."""
    start = entry_end(connection, conversation_key(connection, conversation_id), conversation_id, entry_id)
    values = {"run": start.run, "depth": start.depth, "metadata": sorted(METADATA_TYPES)}
    newest = connection.execute(_NEWEST_BELOW, values).one_or_none()
    return entry_id if newest is None else str(newest.id)


def _fork(connection: Connection, values: dict[str, int], run_of_path: int, statement: Any) -> OutlineFork:
    on_path, *others = connection.execute(statement, {**values, "on_path": run_of_path}).all()
    in_order = sorted([on_path, *others], key=lambda row: int(row.key))
    return OutlineFork(entry_id=on_path.id, alternatives=[row.id for row in in_order])


_IN_SEGMENT: Final = and_(
    LANDMARK.c.run == bindparam("run"), LANDMARK.c.depth.between(bindparam("low"), bindparam("high"))
)
_COMPACTIONS: Final = (
    select(ENTRY_TABLE.c.id, ENTRY_TABLE.c.depth, COMPACTION.c.first_kept_entry_id)
    .select_from(
        LANDMARK.join(ENTRY_TABLE, ENTRY_TABLE.c.key == LANDMARK.c.entry_key).join(
            COMPACTION, COMPACTION.c.entry_key == LANDMARK.c.entry_key
        )
    )
    .where(_IN_SEGMENT, LANDMARK.c.reason == landmarks.COMPACTION_REASON)
    .order_by(LANDMARK.c.depth.desc())
    .limit(bindparam("most"))
)
_FORKS: Final = (
    select(LANDMARK.c.depth)
    .where(_IN_SEGMENT, LANDMARK.c.reason == landmarks.FORK_REASON)
    .order_by(LANDMARK.c.depth.desc())
    .limit(bindparam("most"))
)
_FIRST: Final = and_(ENTRY_TABLE.c.run == RUN.c.key, ENTRY_TABLE.c.depth == RUN.c.fork_depth + 1)
_SHOWN: Final = or_(RUN.c.annotation.is_(False), RUN.c.key == bindparam("on_path"))
_ON_PATH_FIRST: Final = (ENTRY_TABLE.c.run != bindparam("on_path"), ENTRY_TABLE.c.key.desc())
_BRANCHES: Final = (
    select(ENTRY_TABLE.c.id, ENTRY_TABLE.c.key)
    .where(
        or_(
            ENTRY_TABLE.c.key.in_(
                select(ENTRY_TABLE.c.key)
                .select_from(RUN.join(ENTRY_TABLE, _FIRST))
                .where(
                    RUN.c.parent_run == bindparam("run"),
                    RUN.c.fork_depth == bindparam("depth"),
                    _SHOWN,
                )
            ),
            and_(ENTRY_TABLE.c.run == bindparam("run"), ENTRY_TABLE.c.depth == bindparam("depth") + 1),
        )
    )
    .order_by(*_ON_PATH_FIRST)
    .limit(MOST)
)
_MARKED: Final = (
    select(ENTRY_TABLE.c.id, LABEL.c.label, PIN.c.entry_key.label("pin"))
    .select_from(
        ENTRY_TABLE.outerjoin(LABEL, LABEL.c.entry_key == ENTRY_TABLE.c.key).outerjoin(
            PIN, PIN.c.entry_key == ENTRY_TABLE.c.key
        )
    )
    .where(
        or_(
            ENTRY_TABLE.c.key.in_(select(LABEL.c.entry_key).where(LABEL.c.conversation_key == OF_END)),
            ENTRY_TABLE.c.key.in_(select(PIN.c.entry_key).where(PIN.c.conversation_key == OF_END)),
        )
    )
)
_ROOTS: Final = (
    select(ENTRY_TABLE.c.id, ENTRY_TABLE.c.key)
    .select_from(RUN.join(ENTRY_TABLE, _FIRST))
    .where(RUN.c.conversation_key == OF_END, RUN.c.parent_run.is_(None), _SHOWN)
    .order_by(*_ON_PATH_FIRST)
    .limit(MOST)
)


def _newest_below_statement() -> Any:
    """Every run below, and of each its entries from where it is entered on."""
    below = (
        select(RUN.c.key, cast(bindparam("depth"), BigInteger).label("low"))
        .where(RUN.c.key == bindparam("run"))
        .cte("below", recursive=True)
    )
    branch = RUN.alias("branch")
    below = below.union_all(
        select(branch.c.key, branch.c.fork_depth + 1)
        .join(below, and_(branch.c.parent_run == below.c.key, branch.c.fork_depth >= below.c.low))
        .where(branch.c.annotation.is_(False))
    )
    newest: ColumnElement[Any] = (
        select(func.max(ENTRY_TABLE.c.key))
        .select_from(
            below.join(
                ENTRY_TABLE, and_(ENTRY_TABLE.c.run == below.c.key, ENTRY_TABLE.c.depth >= below.c.low)
            )
        )
        .where(ENTRY_TABLE.c.type.not_in(bindparam("metadata", expanding=True)))
        .scalar_subquery()
    )
    return select(ENTRY_TABLE.c.id).where(ENTRY_TABLE.c.key == newest)


_NEWEST_BELOW: Final = _newest_below_statement()
