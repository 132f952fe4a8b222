"""The tree as a flat list, in pages, parents before their children."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    cast,
    func,
    select,
)

from coppice.store.paths import conversation_key, end, find_end, unknown_entry
from coppice.store.records import LEAF, PathEnd, TreeRow
from coppice.store.runs import exits
from coppice.store.schema import ENTRY_TABLE, LABEL, LANDMARK, PIN, RUN
from coppice.tokens.size import Size

_LEVELS_APART: Final = 64
"""Runs whose levels lie further apart are looked for on the current path one by one."""


def tree(
    connection: Connection, conversation_id: str, *, folded: bool, limit: int, after: str | None
) -> tuple[list[TreeRow], str | None]:
    """A page of nodes that follow the entry `after`, and the value of `after` for the next page.

    A `folded` listing has a node for each landmark, which represents the entries after the landmark above
    it; otherwise every entry is a node.
    """
    key = conversation_key(connection, conversation_id)
    after_key = 0
    if after is not None:
        found = find_end(connection, key, conversation_id, after)
        if found is None:
            raise unknown_entry(after)
        after_key = found.key
    values = {"conversation": key, "after_key": after_key, "most": limit + 1}
    rows = connection.execute(_LANDMARKS if folded else _ALL, values).all()
    page = rows[:limit]
    current = on_current_path(connection, page, end(connection, conversation_id, LEAF))
    above = _above(connection, [row.key for row in page]) if folded else {}
    nodes = []
    for row in page:
        upper = above.get(row.key)
        nodes.append(
            TreeRow(
                id=row.id,
                parent_id=(upper.id if upper else None) if folded else row.parent_id,
                type=row.type,
                role=row.role,
                preview=row.preview,
                label=row.label,
                pinned=row.pin is not None,
                timestamp=row.timestamp,
                size=Size(row.size_tokenizer, row.size_estimate),
                child_count=row.children,
                on_current_path=row.key in current,
                run_length=row.depth - (upper.depth if upper else -1) if folded else None,
            )
        )
    return nodes, nodes[-1].id if nodes and len(rows) > limit else None


def on_current_path(connection: Connection, page: Sequence[Any], leaf: PathEnd | None) -> set[int]:
    """The keys of those rows that lie on the path to the leaf."""
    if leaf is None:
        return set()
    leaves_at = {leaf.run: leaf.depth}
    levels = sorted({row.run_depth for row in page if row.run != leaf.run})
    start = 0
    for index, level in enumerate(levels):
        if index + 1 == len(levels) or levels[index + 1] - level > _LEVELS_APART:
            leaves_at |= exits(connection, leaf.run, leaf.depth, levels[start], level)
            start = index + 1
    return {row.key for row in page if row.depth <= leaves_at.get(row.run, -1)}


def _above(connection: Connection, keys: list[int]) -> dict[int, Any]:
    """For each landmark the next one above it, if there is one."""
    return {row.node: row for row in connection.execute(_ABOVE, {"keys": keys})} if keys else {}


_PARENT: Final = ENTRY_TABLE.alias("parent")
_KEYS: Final = bindparam("keys", type_=BigInteger, expanding=True)
_COLUMNS: Final[tuple[ColumnElement[Any], ...]] = (
    ENTRY_TABLE.c.key,
    ENTRY_TABLE.c.id,
    ENTRY_TABLE.c.run,
    ENTRY_TABLE.c.depth,
    ENTRY_TABLE.c.type,
    ENTRY_TABLE.c.role,
    ENTRY_TABLE.c.preview,
    ENTRY_TABLE.c.timestamp,
    ENTRY_TABLE.c.size_tokenizer,
    ENTRY_TABLE.c.size_estimate,
    RUN.c.run_depth,
    LABEL.c.label,
    PIN.c.entry_key.label("pin"),
)
_NODES: Final = (
    ENTRY_TABLE.join(RUN, RUN.c.key == ENTRY_TABLE.c.run)
    .outerjoin(LABEL, LABEL.c.entry_key == ENTRY_TABLE.c.key)
    .outerjoin(PIN, PIN.c.entry_key == ENTRY_TABLE.c.key)
)
_CHILD: Final = ENTRY_TABLE.alias("child")
_BRANCH: Final = RUN.alias("branch")
_CHILDREN: Final = (
    select(func.count()).where(_CHILD.c.parent_key == ENTRY_TABLE.c.key).scalar_subquery().label("children")
)
_ORDINARY_CHILDREN: Final = (
    select(func.count())
    .where(_CHILD.c.run == ENTRY_TABLE.c.run, _CHILD.c.depth == ENTRY_TABLE.c.depth + 1)
    .scalar_subquery()
    + select(func.count())
    .where(
        _BRANCH.c.parent_run == ENTRY_TABLE.c.run,
        _BRANCH.c.fork_depth == ENTRY_TABLE.c.depth,
        _BRANCH.c.annotation.is_(False),
    )
    .scalar_subquery()
).label("children")
_ALL: Final = (
    select(*_COLUMNS, _PARENT.c.id.label("parent_id"), _CHILDREN)
    .select_from(_NODES.outerjoin(_PARENT, _PARENT.c.key == ENTRY_TABLE.c.parent_key))
    .where(
        ENTRY_TABLE.c.conversation_key == bindparam("conversation"),
        ENTRY_TABLE.c.key > bindparam("after_key"),
    )
    .order_by(ENTRY_TABLE.c.key)
    .limit(bindparam("most"))
)


def _landmarks_statement() -> Any:
    page = (
        select(LANDMARK.c.entry_key)
        .where(
            LANDMARK.c.conversation_key == bindparam("conversation"),
            LANDMARK.c.entry_key > bindparam("after_key"),
        )
        .group_by(LANDMARK.c.entry_key)
        .order_by(LANDMARK.c.entry_key)
        .limit(bindparam("most"))
        .subquery("page")
    )
    return (
        select(*_COLUMNS, _ORDINARY_CHILDREN)
        .select_from(_NODES.join(page, page.c.entry_key == ENTRY_TABLE.c.key))
        .order_by(ENTRY_TABLE.c.key)
    )


def _above_statement() -> Any:
    """Climbs from each node until a run holds a landmark; one step unless a run goes on without a fork."""
    nearest = LANDMARK.alias("nearest")

    def nearest_depth(run: ColumnElement[int], depth: ColumnElement[int]) -> ColumnElement[Any]:
        return (
            select(func.max(nearest.c.depth))
            .where(nearest.c.run == run, nearest.c.depth <= depth)
            .scalar_subquery()
        )

    climb = (
        select(
            ENTRY_TABLE.c.key.label("node"),
            ENTRY_TABLE.c.run,
            cast(nearest_depth(ENTRY_TABLE.c.run, ENTRY_TABLE.c.depth - 1), BigInteger).label("found"),
        )
        .where(ENTRY_TABLE.c.key.in_(_KEYS))
        .cte("climb", recursive=True)
    )
    step = (
        select(
            climb.c.node,
            RUN.c.parent_run,
            cast(nearest_depth(RUN.c.parent_run, RUN.c.fork_depth), BigInteger),
        )
        .join(climb, RUN.c.key == climb.c.run)
        .where(climb.c.found.is_(None), RUN.c.parent_run.is_not(None))
    )
    climbed = climb.union_all(step)
    return select(climbed.c.node, ENTRY_TABLE.c.id, ENTRY_TABLE.c.depth).join(
        ENTRY_TABLE, and_(ENTRY_TABLE.c.run == climbed.c.run, ENTRY_TABLE.c.depth == climbed.c.found)
    )


_LANDMARKS: Final = _landmarks_statement()
_ABOVE: Final = _above_statement()
