"""Messages of `coppice/conversation/*`."""

from typing import Annotated, Literal

from pydantic import Field

from coppice.service.messages.base import ConversationParams, WireModel
from coppice.service.messages.usage import UsageState

Limit = Annotated[int, Field(ge=1, le=1000)]


class ConversationSource(WireModel):
    """Where an imported conversation came from: its file's name without folders, and where it worked."""

    format: str
    name: str | None = None
    session_id: str | None = None
    cwd: str | None = None


class Conversation(WireModel):
    """`first_message` is the start of the first thing the user said, for lists."""

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


class CreateParams(WireModel):
    """Without `workspaceUri` the conversation belongs to the first workspace folder."""

    workspace_uri: str | None = None
    name: str | None = None


class ConversationResult(WireModel):
    conversation: Conversation


class ListParams(WireModel):
    """Without `workspaceUri` the conversations of every workspace folder are listed."""

    workspace_uri: str | None = None
    limit: Limit = 50
    cursor: str | None = None


class ListResult(WireModel):
    """Newest first. `nextCursor` is present while there is more."""

    conversations: list[Conversation]
    next_cursor: str | None = None


class GetParams(ConversationParams):
    pass


class GetResult(WireModel):
    conversation: Conversation
    usage: UsageState


class RenameParams(ConversationParams):
    name: str


class DeleteParams(ConversationParams):
    pass


class DeleteResult(WireModel):
    deleted: Literal[True] = True


ImportFormat = Literal["auto", "coppice", "pi", "claude-code"]
ExportFormat = Literal["coppice", "pi", "markdown"]


class ImportParams(WireModel):
    """Either `uri`, a `file:` URI of a session file, or `content`, its text."""

    uri: str | None = None
    content: str | None = None
    format: ImportFormat = "auto"
    workspace_uri: str | None = None


class ImportResult(WireModel):
    """`warnings` name what could not be taken over, with line numbers."""

    conversation: Conversation
    warnings: list[str]


class ExportParams(ConversationParams):
    """With `uri`, a `file:` URI, the export is written there; without, it comes back as `content`."""

    format: ExportFormat
    uri: str | None = None


class ExportResult(WireModel):
    content: str | None = None
    uri: str | None = None
