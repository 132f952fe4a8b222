"""Commands that a person types where a message to the model is expected."""

import re
from typing import Final

from coppice.protocol.compaction import CompactParams
from coppice.protocol.prompt import PromptParams, PromptResult
from coppice.protocol.usage import UsageParams
from coppice.service.compaction.compacting import Compacting
from coppice.service.core.progress import Progress
from coppice.service.turns.prompting import Prompting
from coppice.service.views.views import Views
from coppice.tree.messages import TextContent

_COMPACT: Final = re.compile(r"/compact(?:\s+(?P<focus>.*))?", re.DOTALL)


class SlashCommands:
    """`coppice/prompt`: runs the command that the text is, and otherwise the turn."""

    def __init__(self, prompting: Prompting, compacting: Compacting, views: Views) -> None:
        self._prompting = prompting
        self._compacting = compacting
        self._views = views

    async def prompt(self, params: PromptParams, progress: Progress) -> PromptResult:
        """As `Prompting.prompt`; as `Compacting.compact` for `/compact [focus]`, which stores no message."""
        command = _COMPACT.fullmatch(_typed_text(params).strip())
        if command is None:
            return await self._prompting.prompt(params, progress)
        wanted = CompactParams(
            conversation_id=params.conversation_id, instructions=(command["focus"] or "").strip() or None
        )
        entry_id = (await self._compacting.compact(wanted, progress)).entry.id
        usage = await self._views.usage(
            UsageParams(
                conversation_id=params.conversation_id,
                tools=params.tools,
                system=params.system,
                skills=params.skills,
            )
        )
        return PromptResult(stop_reason="compacted", entry_ids=[], usage=usage, compactions=[entry_id])


def _typed_text(params: PromptParams) -> str:
    """The text of the prompt where it is nothing but one text."""
    content = params.content
    if isinstance(content, list):
        return content[0].text if len(content) == 1 and isinstance(content[0], TextContent) else ""
    return content or ""
