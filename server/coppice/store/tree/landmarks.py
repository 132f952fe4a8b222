"""Landmarks: the entries that represent a stretch of the path in the folded tree listing.

Landmarks are leaves, forks, compactions and labelled entries. Runs of annotations do not count: a label
or a pin off the path makes neither a fork nor a leaf. An entry has a row for each reason.
"""

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, select, update

from coppice.store.engines.prepared import execute
from coppice.store.schema.tables import ENTRY_TABLE, LABEL, LANDMARK, RUN

LEAF_REASON: Final = "leaf"
FORK_REASON: Final = "fork"
COMPACTION_REASON: Final = "compaction"
LABEL_REASON: Final = "label"

Place = tuple[int, int]
"""The position of an entry: its run and its depth."""


def add(
    connection: Connection, conversation: int, reason: str, places: Iterable[tuple[int, int, int]]
) -> None:
    """Stores landmarks; `places` holds each one's entry key, run and depth."""
    values = [
        {"entry_key": key, "reason": reason, "conversation_key": conversation, "run": run, "depth": depth}
        for key, run, depth in places
    ]
    if values:
        connection.execute(_INSERT, values)


def remove(connection: Connection, entry_key: int, reason: str) -> None:
    """Takes back one reason for which the entry is a landmark."""
    connection.execute(_REMOVE, {"entry": entry_key, "why": reason})


def move_leaf(connection: Connection, place: Place, to_depth: int) -> bool:
    """Moves the leaf at `place` down its run; false if the entry there was not a leaf."""
    run, depth = place
    moved = execute(connection, _MOVE_LEAF, {"at_run": run, "at_depth": depth, "to_depth": to_depth})
    return moved.rowcount == 1


def recount(connection: Connection, conversation: int, place: Place) -> None:
    """Updates whether the entry at `place`, in an ordinary run, is a leaf, a fork or neither."""
    run, depth = place
    connection.execute(_FORGET, {"at_run": run, "at_depth": depth})
    row = connection.execute(_CHILDREN, {"at_run": run, "at_depth": depth, "below": depth + 1}).one()
    children = row.forks + (row.next_key is not None)
    if children != 1:
        reason = LEAF_REASON if children == 0 else FORK_REASON
        add(connection, conversation, reason, [(row.key, run, depth)])


def recall_label(connection: Connection, conversation: int, place: Place) -> None:
    """Makes a landmark of a labelled entry whose run has just become an ordinary one."""
    run, depth = place
    key = connection.execute(_LABELLED, {"at_run": run, "at_depth": depth}).scalar()
    if key is not None:
        add(connection, conversation, LABEL_REASON, [(key, run, depth)])


_AT: Final = and_(LANDMARK.c.run == bindparam("at_run"), LANDMARK.c.depth == bindparam("at_depth"))
_INSERT: Final = insert(LANDMARK)
_REMOVE: Final = delete(LANDMARK).where(
    LANDMARK.c.entry_key == bindparam("entry"), LANDMARK.c.reason == bindparam("why")
)
_FORGET: Final = delete(LANDMARK).where(_AT, LANDMARK.c.reason.in_((LEAF_REASON, FORK_REASON)))
_MOVE_LEAF: Final = (
    update(LANDMARK)
    .where(_AT, LANDMARK.c.reason == LEAF_REASON)
    .values(
        depth=bindparam("to_depth"),
        entry_key=select(ENTRY_TABLE.c.key)
        .where(ENTRY_TABLE.c.run == bindparam("at_run"), ENTRY_TABLE.c.depth == bindparam("to_depth"))
        .scalar_subquery(),
    )
)
_LABELLED: Final = (
    select(ENTRY_TABLE.c.key)
    .join(LABEL, LABEL.c.entry_key == ENTRY_TABLE.c.key)
    .where(ENTRY_TABLE.c.run == bindparam("at_run"), ENTRY_TABLE.c.depth == bindparam("at_depth"))
)


def _children_statement() -> Any:
    following = ENTRY_TABLE.alias("following")
    forks = (
        select(func.count())
        .select_from(RUN)
        .where(
            RUN.c.parent_run == bindparam("at_run"),
            RUN.c.fork_depth == bindparam("at_depth"),
            RUN.c.annotation.is_(False),
        )
        .scalar_subquery()
    )
    return (
        select(ENTRY_TABLE.c.key, following.c.key.label("next_key"), forks.label("forks"))
        .select_from(
            ENTRY_TABLE.outerjoin(
                following,
                and_(following.c.run == ENTRY_TABLE.c.run, following.c.depth == bindparam("below")),
            )
        )
        .where(ENTRY_TABLE.c.run == bindparam("at_run"), ENTRY_TABLE.c.depth == bindparam("at_depth"))
    )


_CHILDREN: Final = _children_statement()
