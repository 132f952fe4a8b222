"""Which entries lie on the current path of their conversation."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection

from coppice.store.schema.records import PathEnd
from coppice.store.tree.path_ends import end_at
from coppice.store.tree.runs import exits

_LEVELS_APART: Final = 64
"""Runs whose levels lie further apart are looked for on the path one by one. Guess."""


def on_current_paths(connection: Connection, rows: Sequence[Any]) -> set[int]:
    """The keys of those rows, of any conversations, that lie on the path to their conversation's leaf."""
    on_paths: set[int] = set()
    for leaf_key in {row.leaf_key for row in rows if row.leaf_key is not None}:
        some = [row for row in rows if row.leaf_key == leaf_key]
        on_paths |= keys_on_path(connection, some, end_at(connection, some[0].conversation_id, leaf_key))
    return on_paths


def keys_on_path(connection: Connection, rows: Sequence[Any], leaf: PathEnd | None) -> set[int]:
    """The keys of those rows that lie on the path to the leaf."""
    if leaf is None:
        return set()
    leaves_at = {leaf.run: leaf.depth}
    levels = sorted({row.run_depth for row in rows if row.run != leaf.run})
    start = 0
    for index, level in enumerate(levels):
        if index + 1 == len(levels) or levels[index + 1] - level > _LEVELS_APART:
            leaves_at |= exits(connection, leaf.run, leaf.depth, levels[start], level)
            start = index + 1
    return {row.key for row in rows if row.depth <= leaves_at.get(row.run, -1)}
