"""Hooks of a compaction: what they are asked, and a summary of theirs that is stored."""

from typing import Final

from coppice.compaction.span.serialization import serialize
from coppice.errors import SummaryRejectedError
from coppice.protocol.compaction import CompactionReason, CompactParams
from coppice.protocol.hooks import CompactionPreparation, CompactionSizes, WillCompactParams
from coppice.protocol.server_requests import WILL_COMPACT
from coppice.service.compaction.preparing import Preparation, messages_of, preview_of
from coppice.service.compaction.summarizing import FinishedSummary, adopt, most_summary_tokens
from coppice.service.compaction.summary_parts import Stage
from coppice.service.core.context import Context
from coppice.service.core.worker_process import call_in_process
from coppice.service.core.workers import run_long
from coppice.service.hooks.hooks import CompactionAnswer, Hooks
from coppice.tree.tags import tagged, tagged_summary

_ASKING: Final = 2
"""Percent of a compaction: hooks are asked at its beginning."""


async def ask_hooks(
    context: Context, params: CompactParams, prepared: Preparation, reason: CompactionReason, stage: Stage
) -> CompactionAnswer:
    """What the hooks answer, one after the other. Raises CancelledByHookError."""
    if not context.hooks.are_there(WILL_COMPACT):
        return CompactionAnswer(params.instructions)
    stage("Asking hooks", _ASKING)
    asked = WillCompactParams(
        conversation_id=params.conversation_id,
        reason=reason,
        preparation=await run_long(_described, prepared),
        instructions=params.instructions,
    )
    asking = context.asking(prepared.path, lambda waiting: stage(waiting, _ASKING))
    return await context.hooks.will_compact(asked, asking)


async def adopted(
    hooks: Hooks, params: CompactParams, prepared: Preparation, answer: CompactionAnswer
) -> tuple[Preparation, FinishedSummary] | None:
    """The summary that a hook gave, with its cut; None where another one has to be written.

    One that would make things worse is passed over, and so is every one where a person has written theirs.
    """
    given = answer.given
    if given is None:
        return None
    if params.summary is not None:
        answer.problems.append(hooks.pass_over(given.hook, "A person has written this one."))
        return None
    try:
        return await run_long(adopt, prepared, given.hook, given.summary)
    except SummaryRejectedError as error:
        answer.problems.append(hooks.pass_over(given.hook, str(error)))
        return None


def _described(prepared: Preparation) -> CompactionPreparation:
    """What hooks are given. Reads the store."""
    cut, sizes = prepared.cut, prepared.sizes
    history, prefix = prepared.span(0, cut.history_end), prepared.span(cut.history_end, cut.first_kept)
    previous = prepared.path.compaction_entry()
    history_text, prefix_text = (
        call_in_process(serialize, messages_of(entries)) for entries in (history, prefix)
    )
    spoken = "\n\n".join(filter(None, (history_text, prefix_text)))
    parts = [tagged("conversation", spoken)] if spoken else []
    if previous is not None and previous.summary:
        parts.append(tagged_summary("previous-summary", previous.summary))
    return CompactionPreparation(
        **dict(preview_of(prepared)),
        text="\n\n".join(parts),
        history_entries=history,
        history_text=history_text,
        turn_prefix_entries=prefix,
        turn_prefix_text=prefix_text,
        previous_summary_text=previous.summary if previous is not None else None,
        sizes=CompactionSizes(
            context_window=sizes.window,
            reserve_tokens=sizes.reserve,
            keep_recent_tokens=sizes.keep_recent,
            max_summary_tokens=most_summary_tokens(prepared),
        ),
    )
