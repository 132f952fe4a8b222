"""The tree as a flat list, in pages, parents before their children."""

from typing import Any, Final, Literal

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    bindparam,
    cast,
    func,
    select,
)

from coppice.store.schema.records import LEAF, TreeRow
from coppice.store.schema.tables import ENTRY_TABLE, LABEL, LANDMARK, PIN, RUN
from coppice.store.tree.path_ends import conversation_key, end, entry_end
from coppice.store.tree.paths import PARENT, keys_on_path
from coppice.tokens.size import Size


def tree(
    connection: Connection,
    conversation_id: str,
    *,
    mode: Literal["all", "branches"],
    limit: int,
    after: str | None = None,
) -> tuple[list[TreeRow], str | None]:
    """A page of the tree in append order, and the id to ask for the next page with, if there is one.

    Mode `branches` lists the landmarks: leaves, forks, compactions and labelled entries, each representing
    the entries after the landmark above it. Metadata off the path appears in mode `all` only.
    """
    folded = mode == "branches"
    key = conversation_key(connection, conversation_id)
    after_key = 0 if after is None else entry_end(connection, key, conversation_id, after).key
    values = {"conversation": key, "after_key": after_key, "most": limit + 1}
    rows = connection.execute(_LANDMARKS if folded else _ALL, values).all()
    page = rows[:limit]
    current = keys_on_path(connection, page, end(connection, conversation_id, LEAF))
    above: dict[int, Any] = {}
    if folded and page:
        above_rows = connection.execute(_ABOVE, {"keys": [row.key for row in page]})
        above = {row.node: row for row in above_rows}
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
    select(*_COLUMNS, PARENT.c.id.label("parent_id"), _CHILDREN)
    .select_from(_NODES.outerjoin(PARENT, PARENT.c.key == ENTRY_TABLE.c.parent_key))
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
    """For each of the landmarks `keys` the next one above it, if there is one.

    Climbs from each until a run holds a landmark; one step unless a run goes on without a fork.
    """
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
            cast(nearest_depth(ENTRY_TABLE.c.run, ENTRY_TABLE.c.depth - 1), BigInteger).label("nearest"),
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
        .where(climb.c.nearest.is_(None), RUN.c.parent_run.is_not(None))
    )
    climbed = climb.union_all(step)
    # A join may scan all entries for the few that were climbed to: SQLite 3.45 does.
    landmark_id = (
        select(ENTRY_TABLE.c.id)
        .where(ENTRY_TABLE.c.run == climbed.c.run, ENTRY_TABLE.c.depth == climbed.c.nearest)
        .scalar_subquery()
    )
    return select(climbed.c.node, landmark_id.label("id"), climbed.c.nearest.label("depth")).where(
        climbed.c.nearest.is_not(None)
    )


_LANDMARKS: Final = _landmarks_statement()
_ABOVE: Final = _above_statement()
