"""What hooks have to say about a compaction, and making a summary of theirs the one that is stored."""

import asyncio

from coppice.errors import SummaryRejectedError
from coppice.service.hooks import CompactionAnswer, Hooks
from coppice.service.messages.compaction import CompactionReason, CompactParams
from coppice.service.messages.hooks import CompactionPreparation, WillCompactParams
from coppice.service.preparing import Preparation, preview_of
from coppice.service.server_requests import WILL_COMPACT
from coppice.service.span_requests import Stage
from coppice.service.summarizing import FinishedSummary, adopt, text_to_summarize


async def ask_hooks(
    hooks: Hooks, params: CompactParams, prepared: Preparation, reason: CompactionReason, stage: Stage
) -> CompactionAnswer:
    """What the hooks answer, one after the other. Raises CancelledByHookError."""
    if not hooks.are_there(WILL_COMPACT):
        return CompactionAnswer(params.instructions)
    stage("Asking hooks", 2)
    asked = WillCompactParams(
        conversation_id=params.conversation_id,
        reason=reason,
        preparation=await asyncio.to_thread(_told, prepared),
        instructions=params.instructions,
    )
    return await hooks.will_compact(asked, prepared.path.settings.hooks.timeout_seconds)


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
        return await asyncio.to_thread(adopt, prepared, given.hook, given.summary)
    except SummaryRejectedError as error:
        answer.problems.append(hooks.pass_over(given.hook, str(error)))
        return None


def _told(prepared: Preparation) -> CompactionPreparation:
    return CompactionPreparation(**dict(preview_of(prepared)), text=text_to_summarize(prepared))
