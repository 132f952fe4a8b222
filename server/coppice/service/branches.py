"""Leaving a branch: what is left, where the leaf goes, and the summary for the branch that is entered."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from coppice.compaction.branch import within_budget
from coppice.compaction.sizes import SUMMARY_SHARE, fitted_sizes
from coppice.compaction.summarizer import Summarizer, SummaryRequest, WrittenSummary
from coppice.errors import SummaryRejectedError
from coppice.files.ledger import Ledger
from coppice.service.context import now
from coppice.service.messages.hooks import HookSummary
from coppice.service.path_reading import Path
from coppice.service.span_requests import (
    Stage,
    by_hook,
    given_text,
    hook_signature,
    signed,
    span_request,
    watched,
    with_blocks,
)
from coppice.service.usage import Counter
from coppice.store.records import EntryRow, PathEnd
from coppice.store.store import Store
from coppice.tokens.measuring import size_of_message
from coppice.tree.entries import (
    METADATA_TYPES,
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
)
from coppice.tree.ids import new_entry_id
from coppice.tree.messages import CompactionSummaryRoleMessage, Message, UserMessage, text_of
from coppice.tree.view import message_of

SMALLEST_SUMMARY: Final = 256
_SAID: Final = frozenset({"message", "custom_message", "branch_summary", "compaction"})


@dataclass(frozen=True)
class Departure:
    """A move of the leaf from the end of `path`.

    `ancestor` is the deepest entry that the old leaf and the target share; what lies behind it on the old
    path is abandoned. `editor_text` is what the target said if it was a person's.
    """

    path: Path
    target_id: str
    new_leaf_id: str | None
    editor_text: str | None
    ancestor: PathEnd | None

    @classmethod
    def plan(cls, path: Path, target_id: str) -> "Departure":
        """Raises UnknownEntryError. Reads the store."""
        store, conversation_id = path.store, path.conversation.id
        target = store.entry(conversation_id, target_id)
        target_end = store.end(conversation_id, target_id)
        ancestor = (
            store.common_ancestor(path.end, target_end)
            if path.end is not None and target_end is not None
            else None
        )
        text = said_by_a_person(target)
        leaf_id = standing_at(store, conversation_id, target) if text is None else target.parent_id
        return cls(path, target_id, leaf_id, text, ancestor)

    @property
    def old_leaf_id(self) -> str | None:
        return self.path.end.id if self.path.end is not None else None

    @property
    def first_depth(self) -> int:
        return self.ancestor.depth + 1 if self.ancestor is not None else 0

    def rows(self) -> Sequence[EntryRow]:
        """The abandoned entries, oldest first, without their content."""
        end = self.path.end
        if end is None or self.first_depth > end.depth:
            return []
        return self.path.store.rows(end, self.first_depth, end.depth)

    def tokens(self) -> int:
        counter = Counter(self.path.settings)
        return sum(counter.tokens(row.size) for row in self.rows())

    def has_something_to_say(self) -> bool:
        return any(row.type in _SAID for row in self.rows())

    def ledger(self) -> Ledger:
        """The files of every abandoned entry, those told by nested summaries included."""
        return self.path.ledger_of(self.first_depth)


@dataclass(frozen=True)
class AbandonedMessages:
    """What the abandoned entries say, read from the store as far as anybody asks."""

    departure: Departure

    def __iter__(self) -> Iterator[Message]:
        return iter(list(reversed(self))[::-1])

    def __reversed__(self) -> Iterator[Message]:
        path, first = self.departure.path, self.departure.first_depth
        if path.end is None:
            return
        for piece in path.pieces(first, path.end.depth, newest_first=True):
            for entry in reversed(piece):
                if (message := told_by(entry)) is not None:
                    yield message


def said_by_a_person(entry: Entry) -> str | None:
    """The text of a user or extension message, which can be edited and sent again; else None."""
    match entry:
        case MessageEntry(message=UserMessage() as message):
            return text_of(message.content)
        case CustomMessageEntry():
            return text_of(entry.content)
        case _:
            return None


def standing_at(store: Store, conversation_id: str, entry: Entry) -> str | None:
    """The leaf for whoever goes to `entry`: itself, or for metadata the next entry above that is none."""
    while entry.type in METADATA_TYPES:
        if entry.parent_id is None:
            return None
        entry = store.entry(conversation_id, entry.parent_id)
    return entry.id


async def summarize_branch(
    departure: Departure,
    summarizer: Summarizer,
    stage: Stage,
    *,
    instructions: str | None,
    replace_instructions: bool,
) -> tuple[BranchSummaryEntry, tuple[str, ...]]:
    """The branch summary, stored nowhere yet, and the warnings of whoever wrote it. Cancellable."""
    stage("Reading the branch", 5)
    request, ledger, blocks = await asyncio.to_thread(_request, departure)
    request = replace(request, instructions=instructions, replace_instructions=replace_instructions)
    written = await summarizer.summarize(watched(request, stage))
    if not written.text.strip():
        raise SummaryRejectedError("The branch summary came out empty; nothing was changed.")
    stage("Saving", 95)
    return signed(_entry(departure, ledger, blocks, written), written), written.warnings


def adopt_branch(departure: Departure, hook: str, given: HookSummary) -> BranchSummaryEntry:
    """The branch summary that a hook gave, stored nowhere yet. Reads the store.

    Raises SummaryRejectedError when nothing is left behind, and for a text that is empty or too long.
    """
    if not departure.has_something_to_say():
        raise SummaryRejectedError("No branch was left.")
    request, ledger, blocks = _request(departure)
    text = given_text(given.summary, request)
    written = WrittenSummary(text, hook_signature(hook), details=given.details or {})
    return by_hook(_entry(departure, ledger, blocks, written))


def _entry(departure: Departure, ledger: Ledger, blocks: str, written: WrittenSummary) -> BranchSummaryEntry:
    assert departure.old_leaf_id is not None  # noqa: S101 - an empty path has nothing to summarize
    return BranchSummaryEntry(
        id=new_entry_id(),
        parent_id=departure.new_leaf_id,
        timestamp=now(),
        summary=with_blocks(written.text, blocks),
        from_id=departure.old_leaf_id,
        details={**written.details, **ledger.details(), "summarizer": written.summarizer},
    )


def _request(departure: Departure) -> tuple[SummaryRequest, Ledger, str]:
    settings = departure.path.settings
    counter = Counter(settings)
    sizes = fitted_sizes(
        settings.compaction.model_copy(update={"reserve_tokens": settings.branch_summary.reserve_tokens}),
        settings.model.context_window,
    )
    chosen = within_budget(
        AbandonedMessages(departure), sizes.threshold, lambda said: counter.tokens(size_of_message(said))
    )
    limit = min(int(SUMMARY_SHARE * sizes.reserve), max(SMALLEST_SUMMARY, departure.tokens() // 2))
    ledger = departure.ledger()
    request, blocks = span_request(chosen, ledger, limit=limit, counter=counter, kind="branch")
    return request, ledger, blocks


def told_by(entry: Entry) -> Message | None:
    """What an entry tells a summarizer; a compaction speaks here too."""
    if isinstance(entry, CompactionEntry):
        return CompactionSummaryRoleMessage(summary=entry.summary, tokens_before=entry.tokens_before)
    return message_of(entry)
