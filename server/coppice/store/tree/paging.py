"""Pages of a path, and of other answers, bounded in number and in size."""

from collections.abc import Iterable, Iterator
from itertools import accumulate, takewhile
from typing import Final

from sqlalchemy import Connection, and_, bindparam, func, select

from coppice.store.schema.records import PathEnd
from coppice.store.schema.tables import ENTRY_TABLE
from coppice.store.tree.paths import entries
from coppice.store.tree.runs import segments
from coppice.tree.entries import Entry

PAGE_CHARS: Final = 4 * 2**20
"""Characters of JSON that the entries of a page have at most, if there are several, and of an export that is
an answer. An editor parses that in some 25 ms (measured in Node)."""


def page(
    connection: Connection, end: PathEnd, from_depth: int, to_depth: int, *, backward: bool
) -> list[Entry]:
    """Entries at the depths `[from_depth, to_depth]` of a path, root first: as many as a page holds.

    They are the first ones, or with `backward` the last ones; one at least.
    """
    # Sizes first: a thousand large entries would fill the memory.
    count = fitting(_sizes(connection, end, from_depth, to_depth, backward=backward))
    if backward:
        return entries(connection, end, to_depth - count + 1, to_depth)
    return entries(connection, end, from_depth, from_depth + count - 1)


def _sizes(
    connection: Connection, end: PathEnd, from_depth: int, to_depth: int, *, backward: bool
) -> Iterator[int]:
    """Sizes in the order of the page. To measure an entry is to read it, so this goes on only as needed."""
    parts = segments(connection, end.run, end.depth, from_depth, to_depth)
    statement = _SIZES.order_by(ENTRY_TABLE.c.depth.desc() if backward else ENTRY_TABLE.c.depth)
    for segment in reversed(parts) if backward else parts:
        with connection.execute(statement, segment._asdict()) as rows:
            yield from (row.chars for row in rows)


def fitting(sizes: Iterable[int]) -> int:
    """How many of the first things with these `sizes`, in characters of JSON, make a page; at least 1."""
    return max(sum(1 for _ in takewhile(lambda total: total <= PAGE_CHARS, accumulate(sizes))), 1)


_SIZES: Final = select(func.length(ENTRY_TABLE.c.body).label("chars")).where(
    and_(
        ENTRY_TABLE.c.run == bindparam("run"),
        ENTRY_TABLE.c.depth.between(bindparam("low"), bindparam("high")),
    )
)
