"""What a compaction would do to a path, before it does anything."""

from collections.abc import Sequence
from dataclasses import dataclass

from coppice.compaction.cut import Cut, find_cut, is_said
from coppice.compaction.sizes import Sizes, fitted_sizes
from coppice.errors import NothingToCompactError
from coppice.files.ledger import Ledger
from coppice.service.fitting import Fit, fitted_cut
from coppice.service.measuring import open_rows, pins_of
from coppice.service.path_reading import Path
from coppice.service.usage import Counter, context_tokens
from coppice.store.records import EntryRow, PathEnd
from coppice.tree.entries import Entry
from coppice.tree.messages import Message
from coppice.tree.view import message_of


@dataclass(frozen=True)
class Preparation:
    """A cut through the view of `path`; `rows` are the view's entries, which begin at `path.first_depth`."""

    path: Path
    end: PathEnd
    rows: Sequence[EntryRow]
    cut: Cut
    sizes: Sizes
    counter: Counter
    tokens_before: int

    @property
    def first_kept(self) -> EntryRow:
        return self.rows[self.cut.first_kept]

    def count_said(self, first: int, last: int) -> int:
        return sum(is_said(row) for row in self.rows[first:last])

    @property
    def history_messages(self) -> int:
        return self.count_said(0, self.cut.history_end)

    @property
    def turn_prefix_messages(self) -> int:
        return self.count_said(self.cut.history_end, self.cut.first_kept)

    def span(self, first: int, last: int) -> list[Entry]:
        """The entries of rows `[first, last)`. Reads the store."""
        offset = self.path.first_depth
        return self.path.entries(offset + first, offset + last - 1)

    def ledger(self) -> Ledger:
        """The files of the path up to the cut. Reads the store."""
        return self.path.ledger(self.first_kept.depth - 1)


def prepare(path: Path, fit: Fit | None = None) -> Preparation:
    """Finds the cut. Raises NothingToCompactError, with numbers, when there is none. Reads the store.

    With `fit` the cut keeps no more than fits, and a conversation that was just compacted is cut again where
    that helps.
    """
    settings = path.settings
    sizes = fitted_sizes(settings.compaction, fit.window if fit else settings.model.context_window)
    counter = Counter(settings)
    tokens, _ = context_tokens(path, counter)
    if path.end is None:
        raise NothingToCompactError("The conversation is empty; there is nothing to compact.", tokens=0)
    if path.end.type == "compaction" and fit is None:
        raise NothingToCompactError(
            f"The conversation was just compacted and nothing came after it ({tokens:,} tokens).",
            tokens=tokens,
        )
    rows = path.store.rows(path.end, path.first_depth, path.end.depth)
    cut: Cut | None
    if fit is None:
        cut = find_cut(rows, [counter.tokens(row.size) for row in rows], sizes.keep_recent)
    else:
        open_ = open_rows(path, rows)
        sized = [counter.tokens(row.size) for row in open_]
        cut, sizes = fitted_cut(open_, sized, sizes, fit, pins_of(path, counter)) or (None, sizes)
    if cut is None:
        raise NothingToCompactError(
            f"There is nothing to compact: the newest {sizes.keep_recent:,} tokens are always kept, and the "
            f"conversation holds {tokens:,} since the last compaction.",
            tokens=tokens,
            keepRecentTokens=sizes.keep_recent,
        )
    return Preparation(path, path.end, rows, cut, sizes, counter, tokens)


def messages_of(entries: Sequence[Entry]) -> list[Message]:
    return [message for entry in entries if (message := message_of(entry)) is not None]
