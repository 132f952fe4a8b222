"""Messages of turns that a client runs by itself: turn marks, the check before a prompt, clearing, and
recovery.
"""

from typing import Annotated, Literal

from pydantic import Field

from coppice.protocol.base import ConversationParams, LongParams, WireModel
from coppice.protocol.tools import Skill, Tool
from coppice.protocol.usage import UsageState
from coppice.settings import MAX_TOKENS, Tokens
from coppice.tree.entries import CompactionEntry, ContextEditEntry
from coppice.tree.messages import Usage, UserContent

TurnId = Annotated[str, Field(min_length=1, max_length=200)]


class ClearToolResultsParams(ConversationParams):
    """The newest `keepTokens` of the view stay; by default as many as `compaction.clear.keepTokens` says.

    With `preview` nothing is stored.
    """

    context_window: Tokens | None = None
    keep_tokens: Annotated[int, Field(ge=0, le=MAX_TOKENS)] | None = None
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


class PreparePromptParams(LongParams, ConversationParams):
    """`prompt` is the user's next message; it is not stored.

    `tools`, `system` and `skills` are sent with it.
    """

    prompt: str | list[UserContent] | None = None
    context_window: Tokens | None = None
    tools: list[Tool] | None = None
    system: str | None = None
    skills: list[Skill] | None = None


class PreparePromptResult(WireModel):
    """`entry` is the compaction that was made, `contextEdit` the entry that cleared tool results before.

    `message` is the reason if none was made although one was due.
    """

    compacted: bool
    entry: CompactionEntry | None = None
    context_edit: ContextEditEntry | None = None
    usage: UsageState
    message: str | None = None


class RequestError(WireModel):
    """What a model request failed with. `code` is the provider's own, `status` that of HTTP.

    `usage` is that of a reply that did come although the request was larger than the window: the model has
    not read all of it. Where such a reply is at the leaf, its own usage is read.
    """

    message: str
    status: int | None = None
    code: str | int | None = None
    provider: str | None = None
    model: str | None = None
    usage: Usage | None = None


class RecoverParams(LongParams, ConversationParams):
    """The error that a request to the model failed with. `turnId` is the client's own turn."""

    error: RequestError
    turn_id: TurnId | None = None
    context_window: Tokens | None = None


class RecoverResult(WireModel):
    """With `retry` the view of `leafId` is worth another try; it was `compacted` or `truncated` for that.

    `attempt` counts the overflows since the last successful reply, this one included; it is 0 for an error
    that is no overflow. `message` says why, and with `fail` what a person can do. A reply to a part of the
    request is left out of the view with `retry`, and is at the leaf again with `fail`.
    """

    action: Literal["retry", "fail", "not-overflow"]
    strategy: Literal["compacted", "truncated"] | None = None
    attempt: int
    leaf_id: str | None
    message: str | None = None


class TruncateToolResultsParams(ConversationParams):
    """The model's window; by default that of the settings."""

    context_window: Tokens | None = None


class TruncateToolResultsResult(WireModel):
    """`leafId` is the new branch's where something was truncated.

    `leftOutCount` of the results have nothing left, since not even 2,000 characters of each fit. `reason`
    says so, or why nothing was truncated.
    """

    truncated: bool
    truncated_count: int
    left_out_count: int = 0
    reason: str | None = None
    leaf_id: str | None


class TurnParams(ConversationParams):
    """The id of the client's turn; one is made where `coppice/turn/begin` has none."""

    turn_id: TurnId | None = None


class TurnResult(WireModel):
    """`turnId` is null where a turn was ended and none ran."""

    turn_id: str | None


class AbortTurnParams(ConversationParams):
    """Asked of the client whose turn runs: a compaction was asked for and waits for the turn's end."""

    turn_id: str
    reason: Literal["compaction"] = "compaction"


class AbortTurnResult(WireModel):
    """Whether the turn has ended; if not, nothing is compacted."""

    aborted: bool
