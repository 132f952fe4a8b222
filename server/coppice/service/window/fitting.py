"""Cutting so that what is left fits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coppice.compaction.span.cut import Cut, find_cut
from coppice.compaction.span.sizes import Sizes
from coppice.recovery.request_size import LEAST_SUMMARY
from coppice.store.schema.records import EntryRow


@dataclass(frozen=True, slots=True)
class Fit:
    """What a compaction shall leave: a view of at most `room` tokens for a model of that `window`.

    `tail` is the least that the newest entries can come down to. For each of `halvings` half as
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
    pins: Sequence[Pinned],
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
            room = fit.room - pinned_before(rows[cut.first_kept].depth, pins) - cut.kept_tokens
            if room >= LEAST_SUMMARY:
                return cut, replace(sizes, max_summary=min(sizes.max_summary, room))
        if keep == 1:
            break
        keep //= 2
    if smallest is None:
        return None
    pinned = pinned_before(rows[smallest.first_kept].depth, pins)
    room = max(LEAST_SUMMARY, fit.room - pinned - fit.tail)
    return smallest, replace(sizes, max_summary=min(sizes.max_summary, room))


def pinned_before(depth: int, pins: Sequence[Pinned]) -> int:
    """The tokens that a view which begins at `depth` shows out of their places."""
    return sum(pin.tokens for pin in pins if pin.depth < depth)
