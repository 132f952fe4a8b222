"""Making the summary of a prepared compaction, and judging it before anything is stored."""

from dataclasses import dataclass, replace
from typing import Final

from coppice.compaction.asking.summarizer import Summarizer, SummaryRequest, WrittenSummary
from coppice.compaction.summary import Summary
from coppice.compaction.summary_parser import parse_summary
from coppice.compaction.writing.document import narrative_in
from coppice.errors import SummaryRejectedError
from coppice.protocol.hooks import HookCompaction
from coppice.service.compaction.preparing import Preparation, cut_elsewhere, messages_of
from coppice.service.compaction.summary_parts import (
    Stage,
    SummaryTask,
    summary_task,
    watched,
    with_parts,
    written_by_hook,
)
from coppice.service.compaction.work_ledger import ledger_until
from coppice.service.core.worker_process import call_in_process
from coppice.service.core.workers import run_long
from coppice.tokens.measuring import size_of_text
from coppice.tokens.size import Size

EDITED: Final = "edited"
"""The summarizer of a summary that a person wrote."""


@dataclass(frozen=True)
class FinishedSummary:
    """A finished summary, file blocks included, with what was asked for."""

    text: str
    size: Size
    task: SummaryTask
    written: WrittenSummary
    from_hook: bool


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
    task = await run_long(_compaction_task, prepared, instructions)
    if edited is not None:
        written = WrittenSummary(await run_long(_by_hand, edited, task.request), EDITED)
    else:
        written = await summarizer.summarize(watched(task.request, stage))
    if unread := prepared.count_unread:
        warning = f"The {unread:,} oldest messages were not summarized; only their facts are stated."
        written = replace(written, warnings=(*written.warnings, warning))
    stage("Checking the summary", 85)
    return await run_long(_judged, prepared, task, written)


def adopt(prepared: Preparation, hook: str, given: HookCompaction) -> tuple[Preparation, FinishedSummary]:
    """A hook's summary, and the preparation with the cut where the hook wants it. Reads the store.

    Raises SummaryRejectedError when storing it would make things worse.
    """
    if given.first_kept_entry_id is not None:
        prepared = cut_elsewhere(prepared, given.first_kept_entry_id)
    task = _compaction_task(prepared, None)
    written = written_by_hook(hook, given, task.request)
    return prepared, _judged(prepared, task, written, from_hook=True)


def most_summary_tokens(prepared: Preparation) -> int:
    """The tokens that a summary may have without its file blocks. Reads the store."""
    limit = _summary_budget(prepared)
    return summary_task([], prepared.ledger(), limit=limit, counter=prepared.counter).request.max_tokens


def _compaction_task(prepared: Preparation, instructions: str | None) -> SummaryTask:
    cut, settings = prepared.cut, prepared.path.settings.compaction
    previous = prepared.path.compaction_entry()
    task = summary_task(
        messages_of(prepared.span(0, cut.history_end)),
        prepared.ledger(),
        limit=_summary_budget(prepared),
        counter=prepared.counter,
        instructions=instructions,
        work=ledger_until(prepared.path, prepared.first_kept.depth - 1),
        kept_entries=prepared.span(cut.first_kept, len(prepared.rows)),
        target=settings.target_summary_tokens,
        references=settings.references,
        root=prepared.path.root,
    )
    request = replace(
        task.request,
        turn_prefix=messages_of(prepared.span(cut.history_end, cut.first_kept)),
        previous_summary=previous.summary if previous is not None else None,
        max_turn_prefix_tokens=prepared.sizes.max_turn_prefix,
    )
    return replace(task, request=request)


def _by_hand(edited: str, request: SummaryRequest) -> str:
    """A person's text in the structured format: its words stay, what is computed comes anew. CPU-bound."""
    text = call_in_process(_formatted, edited)
    if text is None:
        raise SummaryRejectedError(
            "The edited summary has none of the headings (## Goal, ## Next Steps …); nothing was "
            "changed. Keep the headings of the draft and edit the text under them."
        )
    tokens = request.count_tokens(text)
    if tokens > request.max_tokens:
        raise SummaryRejectedError(
            f"The edited summary has {tokens:,} tokens and {request.max_tokens:,} is the most it may have; "
            "nothing was changed.",
            summaryTokens=tokens,
            maxTokens=request.max_tokens,
        )
    return text


def _formatted(edited: str) -> str | None:
    """None where the text has none of the headings."""
    summary = parse_summary(narrative_in(edited))
    return None if summary == Summary(other=summary.other) else summary.render()


def _summary_budget(prepared: Preparation) -> int:
    """The whole summary's limit: as configured, and always less than what it replaces."""
    return max(1, min(prepared.sizes.max_summary, _replaced_tokens(prepared) - 1))


def _replaced_tokens(prepared: Preparation) -> int:
    """What the view loses: the cut-off entries, and the summary before them."""
    previous = prepared.path.compaction
    carried = prepared.counter.tokens(previous.size) if previous is not None else 0
    return carried + prepared.cut_off_tokens


def _judged(
    prepared: Preparation, task: SummaryTask, written: WrittenSummary, *, from_hook: bool = False
) -> FinishedSummary:
    if not written.text.strip():
        raise _empty(task.request)
    text = with_parts(written.text, task.parts.files if from_hook else task.parts.text)
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
    return FinishedSummary(text, size, task, written, from_hook)


def _empty(request: SummaryRequest) -> SummaryRejectedError:
    headings = request.count_tokens(Summary().render())
    most = min(request.max_tokens, request.target_tokens or request.max_tokens)
    if headings <= most:
        return SummaryRejectedError("The summary came out empty; nothing was changed.")
    return SummaryRejectedError(
        f"Without its file lists the summary may have {most:,} tokens, and its headings alone "
        f"have {headings:,}; nothing was changed. Its limit is the least of compaction.maxSummaryTokens, "
        "compaction.targetSummaryTokens, its part of the model's window, and what it replaces.",
        summaryTokens=headings,
        maxTokens=most,
    )
