"""Where a compaction cuts: what is summarized, and what is kept as it is.

The rules are those of Pi 0.73.1 (`findCutPoint`), without its two losses: a settings entry before a user
message is no split turn, and a compaction that would summarize nothing is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

CUT_ROLES: Final = frozenset(
    {"user", "assistant", "bashExecution", "custom", "branchSummary", "compactionSummary"}
)
CUT_TYPES: Final = frozenset({"custom_message", "branch_summary"})
WORTHWHILE_SHARE: Final = 0.1
TURN_ROLES: Final = frozenset({"user", "bashExecution"})


class Row(Protocol):
    """An entry without its content."""

    @property
    def type(self) -> str: ...

    @property
    def role(self) -> str | None: ...


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
        return self.history_end < self.first_kept


def is_said(row: Row) -> bool:
    """Whether a model sees the entry."""
    return row.type == "message" or row.type in CUT_TYPES


def find_cut(rows: Sequence[Row], tokens: Sequence[int], keep_recent: int) -> Cut | None:
    """The cut that keeps about `keep_recent` tokens of the newest entries, or None when nothing can be cut.

    `rows` are the entries from the previous first kept one (or the root) to the leaf, oldest first, with
    their sizes in `tokens`. A tool result never begins the kept part. The walk stops at the entry that
    fills the budget; the cut is the next cut point from there on. Where there is none (the newest tool
    result fills the budget alone) it is the last one before, if enough stands before that to be worth it.
    """
    full = _where_the_budget_is_full(rows, tokens, keep_recent)
    if full is None:
        return None
    first_kept = _cut_point_from(rows, full)
    if first_kept is None:
        first_kept = _cut_point_before(rows, full)
        if sum(tokens[:first_kept]) < WORTHWHILE_SHARE * keep_recent:
            return None
    first_kept = _with_what_leads_in(rows, tokens, first_kept, keep_recent)
    return _cut(rows, tokens, first_kept)


def cut_before(rows: Sequence[Row], tokens: Sequence[int], index: int) -> Cut | None:
    """The cut that keeps everything from row `index` on, or None where no cut can stand."""
    return _cut(rows, tokens, index) if _is_cut_point(rows[index]) else None


def _cut(rows: Sequence[Row], tokens: Sequence[int], first_kept: int) -> Cut | None:
    if not any(is_said(row) for row in rows[:first_kept]):
        return None
    kept = sum(size for row, size in zip(rows[first_kept:], tokens[first_kept:], strict=True) if is_said(row))
    return Cut(history_end=_start_of_split_turn(rows, first_kept), first_kept=first_kept, kept_tokens=kept)


def _where_the_budget_is_full(rows: Sequence[Row], tokens: Sequence[int], keep_recent: int) -> int | None:
    accumulated = 0
    for index in range(len(rows) - 1, -1, -1):
        if is_said(rows[index]):
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


def _with_what_leads_in(rows: Sequence[Row], tokens: Sequence[int], cut: int, keep_recent: int) -> int:
    """Moves the cut back over entries between messages: settings, and small extension messages with them."""
    room = keep_recent - sum(tokens[cut:])
    while cut > 0:
        before = rows[cut - 1]
        if before.type in ("message", "compaction"):
            break
        if before.type in CUT_TYPES:
            room -= tokens[cut - 1]
            if room < 0:
                break
        cut -= 1
    return cut


def _start_of_split_turn(rows: Sequence[Row], cut: int) -> int:
    """The start of the turn that the cut falls into, or `cut` itself when it falls between turns."""
    head = next((i for i in range(cut, len(rows)) if is_said(rows[i])), cut)
    if _starts_turn(rows[head]):
        return cut
    start = next((i for i in range(cut - 1, -1, -1) if _starts_turn(rows[i])), None)
    return cut if start is None else start


def _starts_turn(row: Row) -> bool:
    return row.type in CUT_TYPES or (row.type == "message" and row.role in TURN_ROLES)
