"""Messages of `coppice/clearToolResults`."""

from typing import Annotated

from pydantic import Field

from coppice.protocol.base import ConversationParams, WireModel
from coppice.tree.entries import ContextEditEntry


class ClearToolResultsParams(ConversationParams):
    """The newest `keepTokens` of the view stay; by default as many as `compaction.clear.keepTokens` says.

    With `preview` nothing is stored.
    """

    context_window: Annotated[int, Field(ge=1)] | None = None
    keep_tokens: Annotated[int, Field(ge=0)] | None = None
    preview: bool = False


class ClearedToolResult(WireModel):
    """A tool result of the entry `entryId`, and the tokens that clearing it saves."""

    entry_id: str
    tool_name: str
    saved_tokens: int


class ClearToolResultsResult(WireModel):
    """What is cleared, oldest first, and the tokens of the view before and after.

    `entry` is the context edit. There is none with `preview`, nor where nothing can be cleared: `reason` says
    so.
    """

    cleared: list[ClearedToolResult]
    tokens_before: int
    tokens_after: int
    entry: ContextEditEntry | None = None
    leaf_id: str | None
    reason: str | None = None
