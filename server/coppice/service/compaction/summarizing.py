"""Making the summary of a prepared compaction, and judging it before anything is stored."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from coppice.compaction.file_blocks import FILES_SHARE, file_blocks
from coppice.compaction.summarizer import Summarizer, SummaryRequest, WrittenSummary
from coppice.compaction.summary import Summary
from coppice.compaction.summary_parser import parse_summary
from coppice.errors import SummaryRejectedError
from coppice.files.ledger import FileLedger
from coppice.protocol.hooks import HookCompaction
from coppice.protocol.ledger import WorkLedger
from coppice.service.compaction.preparing import Preparation, cut_elsewhere, messages_of
from coppice.service.compaction.summary_parts import (
    Stage,
    given_text,
    hook_details,
    hook_signature,
    watched,
    with_blocks,
)
from coppice.service.compaction.work_ledger import ledger_until
from coppice.service.core.workers import run_long
from coppice.tokens.measuring import size_of_text
from coppice.tokens.size import Size
from coppice.tree.messages import Message

EDITED: Final = "edited"
"""The summarizer of a summary that a person wrote."""


@dataclass(frozen=True)
class FinishedSummary:
    """A finished summary, file blocks included, with what it replaces."""

    text: str
    size: Size
    ledger: FileLedger
    dropped: list[Message]
    written: WrittenSummary
    work: WorkLedger
    from_hook: bool = False


async def summarize(
    prepared: Preparation,
    summarizer: Summarizer,
    *,
    instructions: str | None,
    edited: str | None,
    stage: Stage,
) -> FinishedSummary:
    """Raises SummaryRejectedError when the summary would make things worse. Cancellable, writes nothing.

    `edited` is a text that a person wrote in place of the summarizer's; it is held to the same checks.
    """
    stage("Reading the conversation", 5)
    request, ledger = await run_long(_request, prepared, instructions)
    if edited is not None:
        written = WrittenSummary(_by_hand(edited, request), EDITED)
    else:
        written = await summarizer.summarize(watched(request, stage))
    stage("Checking the summary", 85)
    return await run_long(_judged, prepared, request, ledger, written)


def adopt(prepared: Preparation, hook: str, given: HookCompaction) -> tuple[Preparation, FinishedSummary]:
    """A hook's summary, and the preparation with the cut where the hook wants it. Reads the store.

    Raises SummaryRejectedError when storing it would make things worse.
    """
    if given.first_kept_entry_id is not None:
        prepared = cut_elsewhere(prepared, given.first_kept_entry_id)
    request, ledger = _request(prepared, None)
    text = given_text(given.summary, request)
    written = WrittenSummary(text, hook_signature(hook), details=hook_details(given.details))
    return prepared, replace(_judged(prepared, request, ledger, written), from_hook=True)


def most_summary_tokens(prepared: Preparation) -> int:
    """The tokens that a summary may have without its file blocks. Reads the store."""
    return _prose_budget(prepared, prepared.ledger())


def _request(prepared: Preparation, instructions: str | None) -> tuple[SummaryRequest, FileLedger]:
    cut = prepared.cut
    ledger = prepared.ledger()
    counted = prepared.counter.count_text
    previous = prepared.path.compaction_entry()
    span = messages_of(prepared.span(0, cut.first_kept))
    return (
        SummaryRequest(
            history=messages_of(prepared.span(0, cut.history_end)) if cut.is_split_turn else span,
            turn_prefix=messages_of(prepared.span(cut.history_end, cut.first_kept)),
            kept=messages_of(prepared.span(cut.first_kept, len(prepared.rows))),
            previous_summary=previous.summary if previous is not None else None,
            instructions=instructions,
            max_tokens=_prose_budget(prepared, ledger),
            count_tokens=counted,
            modified_files=ledger.modified_files,
            max_turn_prefix_tokens=prepared.sizes.max_turn_prefix,
            target_tokens=prepared.path.settings.compaction.target_summary_tokens,
            ledger=ledger_until(prepared.path, prepared.first_kept.depth - 1),
            references=prepared.path.settings.compaction.references,
            root=prepared.path.root,
        ),
        ledger,
    )


def _by_hand(edited: str, request: SummaryRequest) -> str:
    """A person's text in the structured format: its words stay, file blocks come anew from the ledger."""
    summary = parse_summary(edited)
    if summary == Summary(other=summary.other):
        raise SummaryRejectedError(
            "The edited summary has none of the headings (## Goal, ## Next Steps …); nothing was "
            "changed. Keep the headings of the draft and edit the text under them."
        )
    text = summary.render()
    tokens = request.count_tokens(text)
    if tokens > request.max_tokens:
        raise SummaryRejectedError(
            f"The edited summary has {tokens:,} tokens and {request.max_tokens:,} is the most it may have; "
            "nothing was changed.",
            summaryTokens=tokens,
            maxTokens=request.max_tokens,
        )
    return text


def _prose_budget(prepared: Preparation, ledger: FileLedger) -> int:
    """The limit of a summary without its file blocks."""
    counted = prepared.counter.count_text
    return max(1, _summary_budget(prepared) - counted(_blocks(prepared, ledger, counted)))


def _summary_budget(prepared: Preparation) -> int:
    """The whole summary's limit: as configured, and always less than what it replaces."""
    return max(1, min(prepared.sizes.max_summary, _replaced_tokens(prepared) - 1))


def _replaced_tokens(prepared: Preparation) -> int:
    """What the view loses: the cut-off entries, and the summary before them."""
    rows = prepared.rows[: prepared.cut.first_kept]
    counter = prepared.counter
    previous = prepared.path.compaction
    carried = counter.tokens(previous.size) if previous is not None else 0
    return carried + sum(counter.tokens(row.size) for row in rows if row.type != "compaction")


def _blocks(prepared: Preparation, ledger: FileLedger, counted: Callable[[str], int]) -> str:
    limit = int(FILES_SHARE * _summary_budget(prepared))
    return file_blocks(ledger.read_files, ledger.modified_files, max_tokens=limit, count_tokens=counted)


def _judged(
    prepared: Preparation, request: SummaryRequest, ledger: FileLedger, written: WrittenSummary
) -> FinishedSummary:
    if not written.text.strip():
        raise SummaryRejectedError("The summary came out empty; nothing was changed.")
    blocks = _blocks(prepared, ledger, request.count_tokens)
    text = with_blocks(written.text, blocks)
    size = size_of_text(text)
    tokens = prepared.counter.tokens(size)
    replaced = _replaced_tokens(prepared)
    if tokens >= replaced:
        raise SummaryRejectedError(
            f"The summary has {tokens:,} tokens and what it would replace has {replaced:,}; "
            "nothing was changed.",
            summaryTokens=tokens,
            replacedTokens=replaced,
        )
    dropped = [*request.history, *request.turn_prefix]
    work = request.ledger or WorkLedger()
    return FinishedSummary(text, size, ledger, dropped, written, work)
