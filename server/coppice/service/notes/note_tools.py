"""The tools with which a model writes notes in turns that the server runs.

What it writes is an agent's note, shown as one; the user's own notes it can neither replace nor remove.
"""

import asyncio
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from coppice.errors import CoppiceError, UnknownNoteError
from coppice.protocol.base import problems_of
from coppice.protocol.history import EntryId
from coppice.protocol.notes import (
    MAX_NOTE_CHARS,
    AddNoteParams,
    ListNotesParams,
    NoteResult,
    RemoveNoteParams,
    ReplaceNoteParams,
)
from coppice.protocol.tools import Tool
from coppice.service.notes.notebook import NOTE_TAG, USER, agent_author
from coppice.service.notes.notes import Notes
from coppice.tree.messages import TextContent, ToolCall, ToolResultMessage, present
from coppice.tree.tags import tagged

ADD_TOOL: Final = "note_add"
REPLACE_TOOL: Final = "note_replace"
REMOVE_TOOL: Final = "note_remove"

_Text = Annotated[str, AfterValidator(str.strip), Field(min_length=1, max_length=MAX_NOTE_CHARS)]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AddArguments(_Arguments):
    """Of `note_add`."""

    text: _Text


class RemoveArguments(_Arguments):
    """Of `note_remove`."""

    id: EntryId


class ReplaceArguments(RemoveArguments):
    """Of `note_replace`."""

    text: _Text


def _tool(name: str, description: str, **properties: dict[str, Any]) -> Tool:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return Tool(name=name, description=description, input_schema=schema)


_ID_SCHEMA: Final = {"type": "string", "description": "a note's id"}
_TEXT_SCHEMA: Final = {"type": "string", "maxLength": MAX_NOTE_CHARS}

TOOLS: Final = (
    _tool(
        ADD_TOOL,
        "Remember a lasting note for this project: a decision, rule or finding that later conversations and "
        "other agents need. No secrets, nothing that only the work at hand needs.",
        text=_TEXT_SCHEMA,
    ),
    _tool(
        REPLACE_TOOL,
        "Replace an agent's outdated note by a new text. The user's notes stay.",
        id=_ID_SCHEMA,
        text=_TEXT_SCHEMA,
    ),
    _tool(REMOVE_TOOL, "Remove an agent's note that no longer holds. The user's notes stay.", id=_ID_SCHEMA),
)
"""Their definitions are in every request of a turn, and so are short: some 200 tokens together."""


class NoteTools:
    """The tools for one turn: its calls run one after the other, in their order."""

    def __init__(self, notes: Notes, workspace_uri: str, model: str) -> None:
        """`model` is the name of the model that calls, the author of what it writes."""
        self._notes = notes
        self._workspace_uri = workspace_uri
        self._author = agent_author(model)
        self._order = asyncio.Lock()

    async def result_of(self, call: ToolCall) -> ToolResultMessage:
        """The result of a call for the model, with the note's id in its details.

        A mistake of the model is described in the result.
        """
        try:
            async with self._order:
                text, note_id = await self._run(call)
        except ValidationError as error:
            return _result(
                call, f"The arguments are not as the tool's schema wants them: {problems_of(error)}."
            )
        except CoppiceError as error:
            return _result(call, str(error))
        return _result(call, text, note_id)

    async def _run(self, call: ToolCall) -> tuple[str, str]:
        workspace = self._workspace_uri
        if call.name == ADD_TOOL:
            added = AddArguments.model_validate(call.arguments)
            wanted = AddNoteParams(workspace_uri=workspace, text=added.text, author=self._author)
            return _stored(await self._notes.add(wanted), added.text)
        if call.name == REPLACE_TOOL:
            newer = ReplaceArguments.model_validate(call.arguments)
            await self._refuse_if_user_wrote(newer.id)
            replacement = ReplaceNoteParams(
                workspace_uri=workspace, text=newer.text, author=self._author, note_id=newer.id
            )
            return _stored(await self._notes.replace(replacement), newer.text)
        removed = RemoveArguments.model_validate(call.arguments)
        await self._refuse_if_user_wrote(removed.id)
        note = (await self._notes.remove(RemoveNoteParams(workspace_uri=workspace, note_id=removed.id))).note
        return f"Removed, and {ADD_TOOL} stores it again:\n{tagged(NOTE_TAG, note.text)}", note.id

    async def _refuse_if_user_wrote(self, note_id: str) -> None:
        held = await self._notes.list_all(ListNotesParams(workspace_uri=self._workspace_uri))
        if any(note.id == note_id and note.author == USER for note in held.notes):
            raise UnknownNoteError("The user wrote this note: only the user replaces or removes it.")


def _stored(result: NoteResult, text: str) -> tuple[str, str]:
    note = result.note
    masked = "" if note.text == text else " What looks like a key or a token in it was left out."
    return f"Noted for this project (id {note.id}).{masked}", note.id


def _result(call: ToolCall, text: str, note_id: str | None = None) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=[TextContent(text=text)],
        is_error=note_id is None,
        **present(details=None if note_id is None else {"noteId": note_id}),
    )
