"""The ledger of the work on a path, continued from the one that the last compaction stored."""

from typing import Final

from coppice.compaction.checking.assembly import narrative_of
from coppice.compaction.ledger.builder import LedgerBuilder
from coppice.compaction.old_summaries import notes_of
from coppice.compaction.summary_parser import parse_summary
from coppice.protocol.ledger import WorkLedger
from coppice.service.core.conversation_path import ConversationPath
from coppice.summarizers.offline import NAME as OFFLINE

_MOST_BEFORE: Final = 20_000
"""Entries before a compaction without a ledger that are read to make up for it (guess: some seconds)."""


def ledger_until(path: ConversationPath, last: int) -> WorkLedger:
    """The ledger of everything on `path` up to depth `last`, inclusive. Reads the store. CPU-bound."""
    builder = _before(path)
    for piece in path.pieces(path.first_depth, last):
        builder.add(piece)
    return builder.ledger


def ledger_of_branch(path: ConversationPath, first: int) -> WorkLedger:
    """The ledger of what was done on `path` from depth `first` on, apart from what was before. CPU-bound."""
    builder = LedgerBuilder(root=path.root)
    if path.end is not None:
        for piece in path.pieces(max(first, path.end.depth - _MOST_BEFORE), path.end.depth):
            builder.add(piece)
    return builder.ledger


def _before(path: ConversationPath) -> LedgerBuilder:
    """What the newest compaction on the path stored; without a ledger in it, what its entries give again."""
    entry = path.compaction_entry()
    if entry is None:
        return LedgerBuilder(root=path.root)
    details = entry.details if isinstance(entry.details, dict) else {}
    builder = LedgerBuilder.from_details(details, path.root)
    summary = parse_summary(narrative_of(entry.summary))
    if "ledger" not in details:
        for piece in path.pieces(max(0, path.first_depth - _MOST_BEFORE), path.first_depth - 1):
            builder.add(piece)
    if details.get("summarizer") != OFFLINE or "ledger" not in details:
        builder.ledger.notes = notes_of(summary)
    return builder
