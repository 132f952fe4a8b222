"""Finds the cut of a compaction: the entries before it are summarized, the others are kept unchanged.

The rules are those of Pi 0.73.1 (`findCutPoint`) with two corrections: a settings entry before a user
message does not make a split turn, and there is no cut where nothing would be summarized.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

CUT_ROLES: Final = frozenset(
    {"user", "assistant", "bashExecution", "custom", "branchSummary", "compactionSummary"}
)
CUT_TYPES: Final = frozenset({"custom_message", "branch_summary"})
WORTHWHILE_SHARE: Final = 0.1  # share of the view that a compaction must free (guess)
TURN_ROLES: Final = frozenset({"user", "bashExecution"})


class Row(Protocol):
    """An entry without its content."""

    @property
    def type(self) -> str:
        """The entry's type."""
        ...

    @property
    def role(self) -> str | None:
        """The message's role; None for an entry that is no message."""
        ...


@dataclass(frozen=True, slots=True)
class Cut:
    """Indexes into the rows of a span: `[0, history_end)` is summarized, `[history_end, first_kept)` is the
    early part of a split turn and summarized apart, `[first_kept, …)` is kept.
    """

    history_end: int
    first_kept: int
    kept_tokens: int

    @property
    def is_split_turn(self) -> bool:
        """Whether the cut point is inside a turn."""
        return self.history_end < self.first_kept


def is_in_context(row: Row) -> bool:
    """Whether the entry is part of the context that is sent to the model."""
    return row.type == "message" or row.type in CUT_TYPES


def find_cut(rows: Sequence[Row], tokens: Sequence[int], keep_recent: int) -> Cut | None:
    """The cut that keeps about `keep_recent` tokens of the newest entries, or None when nothing can be cut.

    `rows` are the entries from the previous first kept one (or the root) to the leaf, oldest first, with
    their sizes in `tokens`. A tool result is never the first kept entry. The entries are counted from
    the newest to the one that reaches the budget; the cut is at the first cut point from there on. If there
    is none (the newest tool result alone reaches the budget), it is at the last cut point before, provided
    that at least `WORTHWHILE_SHARE` of the budget lies before it.
    """
    reached = _index_where_budget_is_reached(rows, tokens, keep_recent)
    if reached is None:
        return None
    first_kept = _cut_point_from(rows, reached)
    if first_kept is None:
        first_kept = _cut_point_before(rows, reached)
        if sum(tokens[:first_kept]) < WORTHWHILE_SHARE * keep_recent:
            return None
    while first_kept and _is_settings(rows[first_kept - 1]):
        first_kept -= 1
    return _cut(rows, tokens, first_kept)


def cut_before(rows: Sequence[Row], tokens: Sequence[int], index: int) -> Cut | None:
    """The cut that keeps everything from row `index` on, or None if that is not a cut point."""
    return _cut(rows, tokens, index) if _is_cut_point(rows[index]) else None


def _cut(rows: Sequence[Row], tokens: Sequence[int], first_kept: int) -> Cut | None:
    if not any(is_in_context(row) for row in rows[:first_kept]):
        return None
    kept_tokens = sum(
        size for row, size in zip(rows[first_kept:], tokens[first_kept:], strict=True) if is_in_context(row)
    )
    return Cut(
        history_end=_start_of_split_turn(rows, first_kept), first_kept=first_kept, kept_tokens=kept_tokens
    )


def _index_where_budget_is_reached(
    rows: Sequence[Row], tokens: Sequence[int], keep_recent: int
) -> int | None:
    accumulated = 0
    for index in range(len(rows) - 1, -1, -1):
        if is_in_context(rows[index]):
            accumulated += tokens[index]
            if accumulated >= keep_recent:
                return index
    return None


def _cut_point_from(rows: Sequence[Row], index: int) -> int | None:
    return next((i for i in range(index, len(rows)) if _is_cut_point(rows[i])), None)


def _cut_point_before(rows: Sequence[Row], index: int) -> int:
    return next((i for i in range(index - 1, -1, -1) if _is_cut_point(rows[i])), 0)


def _is_cut_point(row: Row) -> bool:
    return row.type in CUT_TYPES or (row.type == "message" and row.role in CUT_ROLES)


def _is_settings(row: Row) -> bool:
    """Whether the entry is neither sent to the model nor a compaction; it goes with what follows it."""
    return not is_in_context(row) and row.type != "compaction"


def _start_of_split_turn(rows: Sequence[Row], cut: int) -> int:
    """The start of the turn that the cut falls into, or `cut` itself when it falls between turns."""
    head = next((i for i in range(cut, len(rows)) if is_in_context(rows[i])), cut)
    if _starts_turn(rows[head]):
        return cut
    start = next((i for i in range(cut - 1, -1, -1) if _starts_turn(rows[i])), None)
    return cut if start is None else start


def _starts_turn(row: Row) -> bool:
    return row.type in CUT_TYPES or (row.type == "message" and row.role in TURN_ROLES)
