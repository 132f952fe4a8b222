"""Cutting so that what is left fits, and the least that can be left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from coppice.compaction.cut import Cut, find_cut, is_in_context
from coppice.compaction.sizes import Sizes
from coppice.recovery.floor import LEAST_SUMMARY, Floor
from coppice.recovery.truncation import LEAST_LIMIT, truncated
from coppice.store.records import EntryRow
from coppice.tree.messages import Message, ToolResultMessage


@dataclass(frozen=True, slots=True)
class Fit:
    """What a compaction shall leave: a view of at most `room` tokens for a model of that `window`.

    `tail` is the least that the newest entries can come down to, the floor's. For each of `halvings` half as
    much is kept of them.
    """

    window: int
    room: int
    tail: int
    halvings: int = 0


@dataclass(frozen=True, slots=True)
class Pinned:
    """A pinned entry at `depth` on the path, and its size in a view that shows it outside its place."""

    depth: int
    tokens: int


def fitted_cut(
    rows: Sequence[EntryRow],
    tokens: Sequence[int],
    sizes: Sizes,
    fit: Fit,
    pins: Sequence[Pinned] = (),
) -> tuple[Cut, Sizes] | None:
    """The cut that keeps most of what is to be kept and leaves a view that fits, with sizes for its summary.

    Where no cut does, it is the one that keeps least; None where nothing can be cut.
    """
    keep = max(1, sizes.keep_recent >> fit.halvings)
    smallest: Cut | None = None
    while True:
        cut = find_cut(rows, tokens, keep)
        if cut is not None:
            smallest = cut
            room = fit.room - _pinned_before(rows[cut.first_kept].depth, pins) - cut.kept_tokens
            if room >= LEAST_SUMMARY:
                return cut, replace(sizes, max_summary=min(sizes.max_summary, room))
        if keep == 1:
            break
        keep //= 2
    if smallest is None:
        return None
    pinned = _pinned_before(rows[smallest.first_kept].depth, pins)
    room = max(LEAST_SUMMARY, fit.room - pinned - fit.tail)
    return smallest, replace(sizes, max_summary=min(sizes.max_summary, room))


def tail_start(rows: Sequence[EntryRow], tokens: Sequence[int]) -> int:
    """The index of the newest entry that a cut is possible before; 0 where there is none."""
    cut = find_cut(rows, tokens, 1)
    return cut.first_kept if cut is not None else 0


def floor_of(
    rows: Sequence[EntryRow],
    tokens: Sequence[int],
    *,
    tail: int,
    least_of_tail: int,
    pins: Sequence[Pinned] = (),
    summary: int = 0,
    overhead_tokens: int = 0,
) -> Floor:
    """The least that the view of `rows` can come down to.

    `least_of_tail` is `least_tokens` of the messages from index `tail` on; `summary` is the size
    of the newest compaction's.
    """
    before = sum(size for row, size in zip(rows[:tail], tokens[:tail], strict=True) if is_in_context(row))
    pinned = _pinned_before(rows[tail].depth, pins) if rows else 0
    least = min(LEAST_SUMMARY, before + summary) if before else summary
    return Floor(overhead_tokens=overhead_tokens, pinned=pinned, tail=least_of_tail, summary=least)


def least_tokens(messages: Sequence[tuple[Message, bool]], count_tokens: Callable[[Message], int]) -> int:
    """The size of a tail with its tool results at their shortest; the ones marked true are not cut."""
    newest = max(
        (place for place, (message, _) in enumerate(messages) if isinstance(message, ToolResultMessage)),
        default=-1,
    )
    total = 0
    for place, (message, fixed) in enumerate(messages):
        size = count_tokens(message)
        if isinstance(message, ToolResultMessage) and not fixed:
            size = min(size, count_tokens(truncated(message, LEAST_LIMIT if place == newest else 0)))
        total += size
    return total


def _pinned_before(depth: int, pins: Sequence[Pinned]) -> int:
    return sum(pin.tokens for pin in pins if pin.depth < depth)
