"""Linear runs, and how to climb them.

A run is a stretch of entries each of which is the only one of its run at its depth; the tree of entries
is a much smaller tree of runs. A run hangs at `fork_depth` of its parent run and starts one deeper; an
entry is found by its run and depth. `run_depth` counts the runs above.

Besides its parent each run knows one far ancestor, chosen as in Myers' skew-binary random-access stack
(E. W. Myers, "An applicative random-access stack", 1983; the same choice serves trees, because it depends
on `run_depth` alone). So any ancestor is O(log runs) steps away, and runs of one `run_depth` jump equally
far, which is what finds a common ancestor. `exit` is always the depth at which a path leaves a run.

An annotation run holds one metadata entry that is not on a path of messages. It becomes an ordinary run
when an entry that is not metadata is stored below it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    case,
    cast,
    literal_column,
    select,
)

from coppice.store.schema.tables import RUN


@dataclass(frozen=True, slots=True)
class Run:
    """A run's place. The `jump_*` describe the far ancestor; at a root there is none."""

    key: int
    parent_run: int | None
    fork_depth: int
    run_depth: int
    jump_run: int | None
    jump_depth: int
    jump_start: int
    jump_exit: int

    @property
    def start(self) -> int:
        """The depth of its first entry."""
        return self.fork_depth + 1


class Segment(NamedTuple):
    """The part of a path that lies in one run, from depth `low` to `high`."""

    run: int
    low: int
    high: int


ROOT_COLUMNS: Final[Mapping[str, int | None]] = {
    "parent_run": None,
    "fork_depth": -1,
    "run_depth": 0,
    "jump_run": None,
    "jump_depth": 0,
    "jump_start": 0,
    "jump_exit": -1,
}
"""The columns of a run's position, for a run that starts at a root."""


def columns_below(parent: Run, far: Run | None, fork_depth: int) -> dict[str, int | None]:
    """The same for a run that hangs at `fork_depth` of `parent`, whose far ancestor is `far`."""
    here: dict[str, int | None] = {
        "parent_run": parent.key,
        "fork_depth": fork_depth,
        "run_depth": parent.run_depth + 1,
    }
    if far is not None and parent.run_depth - far.run_depth == far.run_depth - far.jump_depth:
        return here | {
            name: getattr(far, name) for name in ("jump_run", "jump_depth", "jump_start", "jump_exit")
        }
    return here | {
        "jump_run": parent.key,
        "jump_depth": parent.run_depth,
        "jump_start": parent.start,
        "jump_exit": fork_depth,
    }


def segments(connection: Connection, run: int, exit_depth: int, low: int, high: int) -> list[Segment]:
    """Where the path that ends at `exit_depth` of `run` lies between two depths, root first."""
    high = min(high, exit_depth)
    if low > high:
        return []
    rows = connection.execute(_SEGMENTS, {"run": run, "exit": exit_depth, "low": low, "high": high})
    newest_first = [Segment(row.key, max(row.fork_depth + 1, low), min(row.exit, high)) for row in rows]
    return newest_first[::-1]


def is_on_path(connection: Connection, place: tuple[int, int], end: tuple[int, int]) -> bool:
    """Whether the entry at one (run, depth) lies on the path to that at another."""
    run, depth = place
    if run == end[0]:
        return depth <= end[1]
    return any(segment.run == run for segment in segments(connection, *end, depth, depth))


def exits(connection: Connection, run: int, exit_depth: int, low: int, high: int) -> dict[int, int]:
    """The runs of that path whose `run_depth` lies between two values, and where the path leaves each."""
    rows = connection.execute(_EXITS, {"run": run, "exit": exit_depth, "low": low, "high": high})
    return {row.key: row.exit for row in rows if low <= row.run_depth <= high}


def meeting(connection: Connection, one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int] | None:
    """The deepest (run, depth) that two paths share, each path given by the (run, depth) of its end."""
    values = {"run_a": one[0], "exit_a": one[1], "run_b": other[0], "exit_b": other[1]}
    row = connection.execute(_MEETING, values).one_or_none()
    return None if row is None else (row.key_a, min(row.exit_a, row.exit_b))


RUN_COLUMNS: Final[tuple[ColumnElement[Any], ...]] = (
    RUN.c.key,
    RUN.c.parent_run,
    RUN.c.fork_depth,
    RUN.c.run_depth,
    RUN.c.jump_run,
    RUN.c.jump_depth,
    RUN.c.jump_start,
    RUN.c.jump_exit,
)


def _number(name: str) -> ColumnElement[int]:
    # PostgreSQL takes the type of a recursive column from its first row.
    return cast(bindparam(name), BigInteger)


def _segments_statement() -> Any:
    """Climbs to the run that holds depth `low`; from the one that holds `high` on, none is jumped over."""
    low, high = _number("low"), _number("high")
    climbed = _climb(
        lambda run: and_(run.fork_depth >= high, run.jump_start > high), lambda run: run.fork_depth >= low
    )
    return select(climbed.c.key, climbed.c.fork_depth, climbed.c.exit).where(climbed.c.fork_depth < high)


def _exits_statement() -> Any:
    low, high = _number("low"), _number("high")
    climbed = _climb(
        lambda run: and_(run.run_depth > high, run.jump_depth >= high), lambda run: run.run_depth > low
    )
    return select(climbed.c.key, climbed.c.run_depth, climbed.c.exit)


def _climb(jumps: Callable[[Any], ColumnElement[bool]], goes_on: Callable[[Any], ColumnElement[bool]]) -> CTE:
    """The runs from `run`, which the path leaves at `exit`, upwards."""
    walk = (
        select(*RUN_COLUMNS, _number("exit").label("exit"))
        .where(RUN.c.key == bindparam("run"))
        .cte("walk", recursive=True)
    )
    above = RUN.alias("above")
    far = jumps(walk.c)
    step = (
        select(
            *(above.c[column.name] for column in RUN_COLUMNS),
            case((far, walk.c.jump_exit), else_=walk.c.fork_depth),
        )
        .join(walk, above.c.key == case((far, walk.c.jump_run), else_=walk.c.parent_run))
        .where(goes_on(walk.c))
    )
    return walk.union_all(step)


def _meeting_statement() -> Any:
    """Two climbers: the lower one climbs until they are level, then both, jumping while the jumps part."""
    left, right = RUN.alias("start_a"), RUN.alias("start_b")
    names = ("key", "parent_run", "fork_depth", "run_depth", "jump_run", "jump_depth", "jump_exit")
    pair = (
        select(
            *(left.c[name].label(f"{name}_a") for name in names),
            _number("exit_a").label("exit_a"),
            *(right.c[name].label(f"{name}_b") for name in names),
            _number("exit_b").label("exit_b"),
        )
        .select_from(left.join(right, literal_column("1") == literal_column("1")))
        .where(left.c.key == bindparam("run_a"), right.c.key == bindparam("run_b"))
        .cte("pair", recursive=True)
    )
    part = pair.c.jump_run_a != pair.c.jump_run_b

    def climb(me: str, you: str) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
        mine, yours = pair.c[f"run_depth_{me}"], pair.c[f"run_depth_{you}"]
        jumps = case((mine == yours, part), else_=pair.c[f"jump_depth_{me}"] >= yours)
        goes = case(
            (mine < yours, pair.c[f"key_{me}"]),
            (jumps, pair.c[f"jump_run_{me}"]),
            else_=pair.c[f"parent_run_{me}"],
        )
        leaves = case(
            (mine < yours, pair.c[f"exit_{me}"]),
            (jumps, pair.c[f"jump_exit_{me}"]),
            else_=pair.c[f"fork_depth_{me}"],
        )
        return goes, leaves

    next_a, next_b = RUN.alias("next_a"), RUN.alias("next_b")
    (goes_a, leaves_a), (goes_b, leaves_b) = climb("a", "b"), climb("b", "a")
    step = (
        select(
            *(next_a.c[name] for name in names),
            leaves_a,
            *(next_b.c[name] for name in names),
            leaves_b,
        )
        .select_from(pair.join(next_a, next_a.c.key == goes_a).join(next_b, next_b.c.key == goes_b))
        .where(pair.c.key_a != pair.c.key_b)
    )
    pairs = pair.union_all(step)
    return select(pairs.c.key_a, pairs.c.exit_a, pairs.c.exit_b).where(pairs.c.key_a == pairs.c.key_b)


_SEGMENTS: Final = _segments_statement()
_EXITS: Final = _exits_statement()
_MEETING: Final = _meeting_statement()
