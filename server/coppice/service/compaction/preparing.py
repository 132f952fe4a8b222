"""What a compaction would do to a path, before it does anything."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coppice.compaction.span.cut import Cut, cut_before, find_cut, is_in_context
from coppice.compaction.span.sizes import Sizes, fitted_sizes
from coppice.compaction.span.speakers import message_with_author
from coppice.errors import NothingToCompactError, SummaryRejectedError
from coppice.files.ledger import FileLedger
from coppice.protocol.compaction import CompactPreviewResult
from coppice.service.core.conversation_path import MOST_READ_TOKENS, ConversationPath
from coppice.service.core.listed_files import ListedFiles
from coppice.service.window.fitting import Fit, fitted_cut
from coppice.service.window.measuring import open_rows, pins_of
from coppice.service.window.usage import Counter, context_tokens
from coppice.store.schema.records import EntryRow, PathEnd
from coppice.tokens.budget import leading
from coppice.tree.entries import Entry
from coppice.tree.messages import Message


@dataclass(frozen=True)
class Preparation:
    """A cut through the view of `path`; `rows` are the view's entries, which begin at `path.first_depth`."""

    path: ConversationPath
    end: PathEnd
    rows: Sequence[EntryRow]
    cut: Cut
    sizes: Sizes
    counter: Counter
    tokens_before: int

    @property
    def first_kept(self) -> EntryRow:
        """The row at the cut point."""
        return self.rows[self.cut.first_kept]

    def count_summarized(self, first: int, last: int) -> int:
        """How many of the rows `[first, last)` a model sees."""
        return sum(is_in_context(row) for row in self.rows[first:last])

    @property
    def cut_off_tokens(self) -> int:
        """The size of the entries before the cut point."""
        rows = self.rows[: self.cut.first_kept]
        return sum(self.counter.tokens(row.size) for row in rows if row.type != "compaction")

    def span(self, first: int, last: int) -> list[Entry]:
        """The entries of rows `[first, last)`, without the oldest of very many. Reads the store."""
        offset = self.path.first_depth
        return self.path.entries(offset + self._first_read(first, last), offset + last - 1)

    @property
    def count_unread(self) -> int:
        """How many of the entries that are summarized `span` leaves out."""
        spans = ((0, self.cut.history_end), (self.cut.history_end, self.cut.first_kept))
        return sum(self.count_summarized(first, self._first_read(first, last)) for first, last in spans)

    def _first_read(self, first: int, last: int) -> int:
        newest = leading(self.rows[first:last][::-1], MOST_READ_TOKENS, lambda row: row.size.estimate)
        return last - len(newest)

    def ledger(self) -> FileLedger:
        """The files of the path up to the cut. Reads the store."""
        return self.path.ledger(self.first_kept.depth - 1)


def prepare(path: ConversationPath, fit: Fit | None = None) -> Preparation:
    """Finds the cut. Raises NothingToCompactError, with numbers, when there is none. Reads the store.

    With `fit` the cut keeps no more than fits.
    """
    settings = path.settings
    sizes = fitted_sizes(settings.compaction, fit.window if fit else settings.model.context_window)
    counter = Counter(settings)
    tokens, _ = context_tokens(path, counter)
    if path.end is None:
        raise NothingToCompactError("The conversation is empty; there is nothing to compact.", tokens=0)
    rows = path.rows()
    cut: Cut | None
    if fit is None:
        cut = find_cut(rows, [counter.tokens(row.size) for row in rows], sizes.keep_recent)
    else:
        open_ = open_rows(path, rows)
        sized = [counter.tokens(row.size) for row in open_]
        cut, sizes = fitted_cut(open_, sized, sizes, fit, pins_of(path, counter)) or (None, sizes)
    if cut is None and path.end.type == "compaction":
        raise NothingToCompactError(
            f"The conversation was just compacted and nothing came after it ({tokens:,} tokens).",
            tokens=tokens,
        )
    if cut is None:
        raise NothingToCompactError(
            f"There is nothing to compact: the newest {sizes.keep_recent:,} tokens are always kept, and the "
            f"conversation holds {tokens:,}{' since the last compaction' if path.compaction else ''}.",
            tokens=tokens,
            keepRecentTokens=sizes.keep_recent,
        )
    return Preparation(path, path.end, rows, cut, sizes, counter, tokens)


def preview_of(prepared: Preparation) -> CompactPreviewResult:
    """Reads the store."""
    ledger, cut = prepared.ledger(), prepared.cut
    files = ListedFiles.of(ledger.read_files, ledger.modified_files, [])
    return CompactPreviewResult(
        first_kept_entry_id=prepared.first_kept.id,
        messages_to_summarize=prepared.count_summarized(0, cut.history_end),
        turn_prefix_messages=prepared.count_summarized(cut.history_end, cut.first_kept),
        is_split_turn=cut.is_split_turn,
        tokens_before=prepared.tokens_before,
        kept_tokens=cut.kept_tokens,
        previous_summary=prepared.path.compaction is not None,
        read_files=files.read,
        modified_files=files.modified,
        files_left_out=files.left_out or None,
    )


def cut_elsewhere(prepared: Preparation, first_kept_id: str) -> Preparation:
    """The same with the cut before another entry of the view.

    Whatever more is kept is taken off the summary, so that the whole grows no larger than planned. Raises
    SummaryRejectedError where no cut is possible, or where too much would be kept. Reads the store.
    """
    if first_kept_id == prepared.first_kept.id:
        return prepared
    rows = open_rows(prepared.path, prepared.rows)
    tokens = [prepared.counter.tokens(row.size) for row in rows]
    index = next((place for place, row in enumerate(rows) if row.id == first_kept_id), None)
    cut = cut_before(rows, tokens, index) if index is not None else None
    if cut is None:
        raise SummaryRejectedError("No cut is possible before the entry that was named as the first to keep.")
    room = prepared.sizes.max_summary + prepared.cut.kept_tokens - cut.kept_tokens
    if room < 1:
        raise SummaryRejectedError(
            f"From the entry that was named on, {cut.kept_tokens:,} tokens would be kept, and "
            f"{prepared.cut.kept_tokens + prepared.sizes.max_summary:,} is the most that may be left."
        )
    sizes = replace(prepared.sizes, max_summary=min(prepared.sizes.max_summary, room))
    return replace(prepared, cut=cut, sizes=sizes)


def messages_of(entries: Sequence[Entry]) -> list[Message]:
    """The messages of the entries that a model sees, with their authors."""
    return [message for entry in entries if (message := message_with_author(entry)) is not None]
