"""What is recorded about the entries of a path: metadata off it, pins and labels."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import Connection, and_, bindparam, select, union_all

from coppice.store.schema.entry_json import entry_from
from coppice.store.schema.records import PathEnd
from coppice.store.schema.tables import ENTRY_TABLE, LABEL, PIN, RUN
from coppice.store.tree.path_ends import (
    CONVERSATION_OF_END,
    OF_END,
    conversation_key,
    rows_on_path,
    unknown_conversation,
)
from coppice.store.tree.paths import ENTRY_COLUMNS, PARENT, WITH_PARENT
from coppice.store.tree.runs import segments
from coppice.tree.entries import METADATA_TYPES, Entry, LabelEntry, PinEntry


def attached(
    connection: Connection, end: PathEnd, from_depth: int, to_depth: int, types: Sequence[str]
) -> list[tuple[int, Entry]]:
    """Metadata off the path whose parent is on it, with the parent's depth, in append order.

    Metadata that has no parent counts as at depth -1.
    """
    wanted = METADATA_TYPES.intersection(types)
    entries: list[tuple[int, Entry]] = []
    if not wanted:
        return entries
    if from_depth < 0:
        key = connection.execute(CONVERSATION_OF_END, {"key": end.key}).scalar()
        if key is None:
            raise unknown_conversation(end.conversation_id)
        [root] = segments(connection, end.run, end.depth, 0, 0)
        entries.extend((-1, entry) for entry in _root_metadata(connection, key, wanted, root.run))
    low, high = max(from_depth, 0), min(to_depth, end.depth)
    if low <= high:
        entries.extend(_attached(connection, end, low, high, list(wanted)))
    return entries


def root_metadata(connection: Connection, conversation_id: str, types: Collection[str]) -> list[Entry]:
    """Metadata that was recorded before the first message, in append order."""
    return _root_metadata(connection, conversation_key(connection, conversation_id), types, None)


def _root_metadata(
    connection: Connection, key: int, types: Collection[str], root_run: int | None
) -> list[Entry]:
    """The metadata of a conversation that has no parent, except the first entry of `root_run`."""
    values = {"conversation": key, "run": root_run, "types": list(METADATA_TYPES.intersection(types))}
    return [entry_from(*row[:5]) for row in connection.execute(_ROOT_METADATA, values)]


def _attached(
    connection: Connection, end: PathEnd, low: int, high: int, types: list[str]
) -> list[tuple[int, Entry]]:
    # One deeper than asked for, to know whether the path goes on in the same run.
    stretch = segments(connection, end.run, end.depth, low, high + 1)
    on_path = {segment.run for segment in stretch}
    rows = []
    for segment in stretch:
        left_here = segment.high <= high
        values = {
            "run": segment.run,
            "low": segment.low,
            "high": min(segment.high, high),
            "after": segment.high + 1 if left_here else -1,
            "types": types,
        }
        attached_rows = connection.execute(_ATTACHED, values)
        rows += [row for row in attached_rows if row.run == segment.run or row.run not in on_path]
    return [(row.depth - 1, entry_from(*row[:5])) for row in sorted(rows, key=lambda row: int(row.key))]


def pins(connection: Connection, end: PathEnd) -> list[tuple[int, Entry]]:
    """The pinned entries on the path with their depths, root first."""
    return [(depth, entry_from(*row)) for depth, row in rows_on_path(connection, end, _PINS)]


def labels_and_pins(connection: Connection, end: PathEnd) -> list[tuple[int, LabelEntry | PinEntry]]:
    """The entries that set the labels and pins which entries of the path bear now, root first.

    With the depth of the entry that bears it; labels come before pins. Where there are any, the time follows
    the length of the conversation: each may have been set on any branch.
    """
    borne = [(depth, ("label", row.id)) for depth, row in rows_on_path(connection, end, _LABELLED)]
    borne += [(depth, ("pin", row.id)) for depth, row in rows_on_path(connection, end, _PINNED)]
    if not borne:
        return []
    newest: dict[tuple[str, str], LabelEntry | PinEntry] = {}
    for row in connection.execute(_MARKS, {"key": end.key}):
        entry = entry_from(*row)
        if isinstance(entry, LabelEntry | PinEntry):
            newest[entry.type, entry.target_id] = entry
    return [(depth, newest[mark]) for depth, mark in borne if mark in newest]


def _attached_statement() -> Any:
    """Metadata that starts an annotation run at a run, or continues the run after the path has left it."""
    columns = (*ENTRY_COLUMNS, ENTRY_TABLE.c.key, ENTRY_TABLE.c.run, ENTRY_TABLE.c.depth)
    with_parent = PARENT.c.key == ENTRY_TABLE.c.parent_key
    first = and_(ENTRY_TABLE.c.run == RUN.c.key, ENTRY_TABLE.c.depth == RUN.c.fork_depth + 1)
    wanted = ENTRY_TABLE.c.type.in_(bindparam("types", expanding=True))
    forked = (
        select(*columns)
        .select_from(RUN.join(ENTRY_TABLE, first).join(PARENT, with_parent))
        .where(
            RUN.c.parent_run == bindparam("run"),
            RUN.c.fork_depth.between(bindparam("low"), bindparam("high")),
            wanted,
        )
    )
    continued = (
        select(*columns)
        .select_from(ENTRY_TABLE.join(PARENT, with_parent))
        .where(ENTRY_TABLE.c.run == bindparam("run"), ENTRY_TABLE.c.depth == bindparam("after"), wanted)
    )
    return union_all(forked, continued)


_ATTACHED: Final = _attached_statement()
_ROOT_METADATA: Final = (
    select(*ENTRY_COLUMNS)
    .select_from(WITH_PARENT.join(RUN, RUN.c.key == ENTRY_TABLE.c.run))
    .where(
        RUN.c.parent_run.is_(None),
        RUN.c.conversation_key == bindparam("conversation"),
        ENTRY_TABLE.c.depth == 0,
        RUN.c.key.is_distinct_from(bindparam("run", type_=RUN.c.key.type)),
        ENTRY_TABLE.c.type.in_(bindparam("types", expanding=True)),
    )
    .order_by(ENTRY_TABLE.c.key)
)
_PINS: Final = (
    select(*ENTRY_COLUMNS)
    .select_from(WITH_PARENT.join(PIN, PIN.c.entry_key == ENTRY_TABLE.c.key))
    .where(PIN.c.conversation_key == OF_END)
)
_LABELLED: Final = (
    select(ENTRY_TABLE.c.id)
    .select_from(ENTRY_TABLE.join(LABEL, LABEL.c.entry_key == ENTRY_TABLE.c.key))
    .where(LABEL.c.conversation_key == OF_END)
)
_PINNED: Final = (
    select(ENTRY_TABLE.c.id)
    .select_from(ENTRY_TABLE.join(PIN, PIN.c.entry_key == ENTRY_TABLE.c.key))
    .where(PIN.c.conversation_key == OF_END)
)
_MARKS: Final = (
    select(*ENTRY_COLUMNS)
    .select_from(WITH_PARENT)
    .where(ENTRY_TABLE.c.conversation_key == OF_END, ENTRY_TABLE.c.type.in_(["label", "pin"]))
    .order_by(ENTRY_TABLE.c.key)
)
