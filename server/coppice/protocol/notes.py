"""Messages of `coppice/note/*`."""

from typing import Annotated, Final

from pydantic import Field

from coppice.protocol.base import WireModel, WorkspaceUri
from coppice.protocol.conversations import Name

MAX_NOTE_CHARS: Final = 4_000
"""Of one note. A note of that length takes half of what is shown of all."""

NoteText = Annotated[str, Field(min_length=1, max_length=MAX_NOTE_CHARS, pattern=r"\S")]


class NotesParams(WireModel):
    """Params of a request about the notes of a workspace, by default of the first workspace folder."""

    workspace_uri: WorkspaceUri | None = None


class AddNoteParams(NotesParams):
    """`author` is who wrote the text: `user`, or the name of an agent."""

    text: NoteText
    author: Name = "user"


class ReplaceNoteParams(AddNoteParams):
    """`noteId` is the note that the new one takes the place of."""

    note_id: str


class RemoveNoteParams(NotesParams):
    """`noteId` is the note that shall hold no longer."""

    note_id: str


class ListNotesParams(NotesParams):
    """All notes that hold."""


class Note(WireModel):
    """A note of a workspace. A note that replaces another has an id of its own."""

    id: str
    timestamp: str
    author: str
    text: str


class NoteResult(WireModel):
    """The note that was stored or, after `coppice/note/remove`, removed: add its text again to undo that.

    What looks like a key or a token in the text was left out.
    """

    note: Note


class ListNotesResult(WireModel):
    """The notes that hold, oldest first. `conversationId` is the conversation that they are stored in.

    `coppice/conversationChanged` with that id says that they have changed.
    """

    notes: list[Note]
    conversation_id: str
