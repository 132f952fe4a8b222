"""Messages that find and read earlier entries, word for word."""

import re
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from coppice.protocol.base import ConversationParams, LongParams, WireModel
from coppice.protocol.tools import Tool
from coppice.tree.entries import MAX_ID_CHARS
from coppice.tree.messages import TextContent

SEARCH_TOOL: Final = "history_search"
READ_TOOL: Final = "history_read"
HISTORY_TOOLS: Final = frozenset({SEARCH_TOOL, READ_TOOL})
"""The tools that look up the history. Their results repeat entries and are neither found nor summarized."""
_MCP_TOOLS: Final = re.compile(r"(?:.{0,40}coppice[_-]{1,2})?(?:history_(?:search|read|overview)|note_list)")
"""Their names, and those that agents give the tools of `coppice mcp`, as `mcp__coppice__history_search`."""

EntryId = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS)]
RecallScope = Literal["path", "conversation", "workspace"]


def is_history_tool(name: object) -> bool:
    """Whether a tool of this name looks up the history, ours or that of `coppice mcp` in any agent."""
    return isinstance(name, str) and _MCP_TOOLS.fullmatch(name) is not None


class RecallParams(LongParams, ConversationParams):
    """With `query`, a question, what answers it best; with `entryIds`, those entries; else the newest.

    `after` and `before` are ids of entries: what was appended after the one and before the other is looked
    through. `path` is the current path, `conversation` all its branches. `maxTokens` bounds the texts of one
    page by estimate, `limit` their number; `cursor` is a page's `nextCursor`.
    """

    query: Annotated[str, Field(max_length=4000)] | None = None
    entry_ids: Annotated[list[EntryId], Field(max_length=100)] | None = None
    before: EntryId | None = None
    after: EntryId | None = None
    scope: RecallScope = "path"
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    max_tokens: Annotated[int, Field(ge=50, le=100_000)] = 4000
    cursor: Annotated[str, Field(pattern=r"^\d{1,9}:\d{1,9}$")] | None = None


class RecallItem(WireModel):
    """`text` is the entry's, word for word: whole, or with `truncated` the part that was found.

    `type` is the entry's. Of a tool's result, `call` is the start of the arguments it was called with and
    `path` the file that it is about. With `attached` the text is in a user's message, but an application put
    it there: a file, a selection, a reminder.
    """

    conversation_id: str
    entry_id: str
    timestamp: str
    type: str
    role: str | None = None
    attached: bool | None = None
    tool_name: str | None = None
    call: str | None = None
    path: str | None = None
    text: str
    tokens: int
    on_current_path: bool
    truncated: bool | None = None


class RecallResult(WireModel):
    """`nextCursor` is present while there is more."""

    items: list[RecallItem]
    next_cursor: str | None = None


class HistoryToolsParams(WireModel):
    """No properties."""


class HistoryToolsResult(WireModel):
    """The definitions of the tools that `coppice/callHistoryTool` runs, for a client with its own loop."""

    tools: list[Tool]


class CallHistoryToolParams(LongParams, ConversationParams):
    """A call of `history_search` or `history_read`, with the arguments that the model wrote."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    arguments: dict[str, Any]


class CallHistoryToolResult(WireModel):
    """What the model is to be given as the result of its call."""

    content: list[TextContent]
    is_error: bool = False
