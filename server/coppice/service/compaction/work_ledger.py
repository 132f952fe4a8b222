"""The ledger of the work on a path, continued from the one that the last compaction stored."""

from typing import Final

from coppice.compaction.facts.ledger import LedgerBuilder, stored_ledger
from coppice.compaction.writing.document import narrative_in
from coppice.protocol.ledger import WorkLedger
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.worker_process import call_on_tokens
from coppice.summarizers.offline import NAME as OFFLINE

_MOST_BEFORE: Final = 20_000
"""Entries before a compaction without a ledger that are read to make up for it, in a fifth of the time that
`MOST_ENTRIES` take."""


MOST_ENTRIES: Final = 100_000
"""Entries from which the facts are computed, the newest: what is read in a minute."""


def first_read(path: ConversationPath, last: int) -> int:
    """The depth from which `ledger_until` reads the entries."""
    return max(path.first_depth, last + 1 - MOST_ENTRIES)


def ledger_until(path: ConversationPath, last: int) -> WorkLedger:
    """The ledger of `path` up to depth `last`, inclusive. Reads the store. CPU-bound.

    What was before the newest compaction is what that one stored; of the entries since, the newest
    `MOST_ENTRIES` are read. Raises WorkTooLongError.
    """
    return call_on_tokens(path.tokens, _ledger_until, path, last)


def ledger_of_branch(path: ConversationPath, first: int) -> WorkLedger:
    """The ledger of what was done on `path` from depth `first` on, apart from what was before. CPU-bound.

    Raises WorkTooLongError.
    """
    return call_on_tokens(path.tokens, _ledger_of_branch, path, first)


def _ledger_until(path: ConversationPath, last: int) -> WorkLedger:
    builder = _before(path)
    for piece in path.pieces(first_read(path, last), last):
        builder.add(piece)
    return builder.ledger


def _ledger_of_branch(path: ConversationPath, first: int) -> WorkLedger:
    builder = LedgerBuilder(root=path.root)
    if path.end is not None:
        for piece in path.pieces(max(first, path.end.depth - _MOST_BEFORE), path.end.depth):
            builder.add(piece)
    return builder.ledger


def _before(path: ConversationPath) -> LedgerBuilder:
    """What the newest compaction on the path stored; without a ledger in it, what its entries give again.

    The narrative of a model or a person is carried on as it is; that of rules is made anew.
    """
    entry = path.compaction_entry()
    if entry is None:
        return LedgerBuilder(root=path.root)
    details = entry.details if isinstance(entry.details, dict) else {}
    builder = LedgerBuilder.from_details(details, path.root)
    stored = stored_ledger(details) is not None
    if not stored:
        for piece in path.pieces(max(0, path.first_depth - _MOST_BEFORE), path.first_depth - 1):
            builder.add(piece)
    if not stored or details.get("summarizer") != OFFLINE:
        builder.summarized(narrative_in(entry.summary))
    return builder
