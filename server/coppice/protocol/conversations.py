"""Messages of `coppice/conversation/*`."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from coppice.formats.registry import EXPORT_NAMES, IMPORT_NAMES
from coppice.protocol.base import ConversationParams, LongParams, WireModel, WorkspaceUri
from coppice.protocol.usage import UsageState
from coppice.providers import ThinkingLevel
from coppice.settings import MAX_MODEL_CHARS
from coppice.tree.entries import MAX_NAME_CHARS

Limit = Annotated[int, Field(ge=1, le=1000)]
Name = Annotated[str, Field(max_length=MAX_NAME_CHARS)]


class ConversationSource(WireModel):
    """Where an imported conversation came from: its file's name without folders, and where it worked."""

    format: str
    name: str | None = None
    session_id: str | None = None
    cwd: str | None = None


class Conversation(WireModel):
    """`first_message` is the start of the user's first message, for lists.

    `model` is the one of the settings' `models` that was chosen for it, `thinkingLevel` the level; where they
    are absent, or the settings have no such model, it is as the section `model` says.
    """

    id: str
    name: str | None = None
    workspace_uri: str
    created_at: str
    modified_at: str
    leaf_id: str | None
    entry_count: int
    first_message: str | None = None
    parent_conversation_id: str | None = None
    source: ConversationSource | None = None
    model: str | None = None
    thinking_level: str | None = None


class CreateParams(WireModel):
    """Without `workspaceUri` the conversation belongs to the first workspace folder."""

    workspace_uri: WorkspaceUri | None = None
    name: Name | None = None


class ConversationResult(WireModel):
    """The conversation as it is after the request."""

    conversation: Conversation


class ListParams(WireModel):
    """Without `workspaceUri` the conversations of every workspace folder are listed."""

    workspace_uri: WorkspaceUri | None = None
    limit: Limit = 50
    cursor: str | None = None


class ListResult(WireModel):
    """Newest first. `nextCursor` is present while there is more."""

    conversations: list[Conversation]
    next_cursor: str | None = None


class GetParams(ConversationParams):
    """The conversation to read."""


class GetResult(WireModel):
    """The conversation, and how full the model's window is.

    `turn` is present while a turn runs: in this server, or in another one on the same store.
    """

    conversation: Conversation
    usage: UsageState
    turn: Literal["here", "elsewhere"] | None = None


class RenameParams(ConversationParams):
    """The conversation's new name."""

    name: Name


class SetModelParams(ConversationParams):
    """Who answers in the conversation from now on: one of `models` in the settings, by its name there.

    Without it, the section `model` says who; without `thinkingLevel` the settings say which level.
    """

    model: Annotated[str, Field(max_length=MAX_MODEL_CHARS)] | None = None
    thinking_level: ThinkingLevel | None = None


class DeleteParams(ConversationParams):
    """The conversation to delete, with all its entries."""


class DeleteResult(WireModel):
    """Always `true`: a conversation that is not there is an error."""

    deleted: Literal[True] = True


if TYPE_CHECKING:
    ImportFormat = str
    ExportFormat = str
else:
    ImportFormat = Literal[IMPORT_NAMES]
    ExportFormat = Literal[EXPORT_NAMES]


class ImportParams(LongParams):
    """Either `uri`, a `file:` URI of a session file, or `content`, its text."""

    uri: str | None = None
    content: str | None = None
    format: ImportFormat = "auto"
    workspace_uri: WorkspaceUri | None = None


class ImportResult(WireModel):
    """`warnings` name what could not be taken over, with line numbers."""

    conversation: Conversation
    warnings: list[str]


class UpdateSourcesParams(LongParams):
    """Without `workspaceUri` the transcripts of every workspace folder are read."""

    workspace_uri: WorkspaceUri | None = None


class UpdateSourcesResult(WireModel):
    """How many transcripts of other agents were read, and how many conversations came or have grown.

    `problems` has a sentence for each that could not be read.
    """

    read: int
    created: int
    extended: int
    problems: list[str]


class ExportParams(LongParams, ConversationParams):
    """With `uri`, a `file:` URI, the export is written there; without, it comes back as `content`.

    One of more than 4,194,304 characters needs a `uri`: without, the error is `result-too-large`. A file
    that exists is replaced only with `overwrite`; a link is neither followed nor replaced.
    """

    format: ExportFormat
    uri: str | None = None
    overwrite: bool = False


class ExportResult(WireModel):
    """`content` is the export's text; `uri` the file that was written."""

    content: str | None = None
    uri: str | None = None
