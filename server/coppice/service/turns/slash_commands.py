"""Commands that a person types where a message to the model is expected."""

import re
from typing import Final

from coppice.errors import InvalidNoteError
from coppice.protocol.compaction import CompactParams
from coppice.protocol.notes import MAX_NOTE_CHARS, AddNoteParams
from coppice.protocol.prompt import PromptParams, PromptResult
from coppice.protocol.usage import UsageParams, UsageState
from coppice.service.compaction.compacting import Compacting
from coppice.service.core.context import Context
from coppice.service.core.progress import Progress
from coppice.service.core.workers import run_read
from coppice.service.notes.notes import Notes
from coppice.service.turns.prompting import Prompting
from coppice.service.views.views import Views
from coppice.tree.messages import TextContent

_COMMAND: Final = re.compile(r"/(?P<name>compact|note)(?:\s+(?P<rest>.*))?", re.DOTALL)


class SlashCommands:
    """`coppice/prompt`: runs the command that the text is, and otherwise the turn."""

    def __init__(
        self, context: Context, prompting: Prompting, compacting: Compacting, views: Views, notes: Notes
    ) -> None:
        self._context = context
        self._prompting = prompting
        self._compacting = compacting
        self._views = views
        self._notes = notes

    async def prompt(self, params: PromptParams, progress: Progress) -> PromptResult:
        """As `Prompting.prompt`, but for a text that is a command: it stores no message and asks no model.

        `/compact [focus]` does what `Compacting.compact` does, and `/note TEXT` what `Notes.add` does.
        """
        command = _COMMAND.fullmatch(_typed_text(params).strip())
        if command is None:
            return await self._prompting.prompt(params, progress)
        rest = (command["rest"] or "").strip()
        if command["name"] == "note":
            return await self._note(params, rest)
        wanted = CompactParams(conversation_id=params.conversation_id, instructions=rest or None)
        entry_id = (await self._compacting.compact(wanted, progress)).entry.id
        usage = await self._usage(params)
        return PromptResult(stop_reason="compacted", entry_ids=[], usage=usage, compactions=[entry_id])

    async def _note(self, params: PromptParams, text: str) -> PromptResult:
        if not 0 < len(text) <= MAX_NOTE_CHARS:
            raise InvalidNoteError(
                f"Type the note after the command, in at most {MAX_NOTE_CHARS:,} characters: "
                "/note Releases are cut on Tuesdays."
            )
        _, conversation = await run_read(self._context.find, params.conversation_id)
        await self._notes.add(AddNoteParams(workspace_uri=conversation.workspace_uri, text=text))
        usage = await self._usage(params)
        return PromptResult(stop_reason="noted", entry_ids=[], usage=usage, compactions=[])

    async def _usage(self, params: PromptParams) -> UsageState:
        return await self._views.usage(
            UsageParams(
                conversation_id=params.conversation_id,
                tools=params.tools,
                system=params.system,
                skills=params.skills,
            )
        )


def _typed_text(params: PromptParams) -> str:
    """The text of the prompt where it is nothing but one text."""
    content = params.content
    if isinstance(content, list):
        return content[0].text if len(content) == 1 and isinstance(content[0], TextContent) else ""
    return content or ""
