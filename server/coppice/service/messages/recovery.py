"""Messages of turns that a client runs by itself: turn marks, the check before a prompt, and recovery."""

from typing import Annotated, Literal

from pydantic import Field

from coppice.models.chat import Tool
from coppice.service.messages.base import ConversationParams, ProgressToken, WireModel
from coppice.service.messages.usage import UsageState
from coppice.tree.entries import CompactionEntry
from coppice.tree.messages import Usage, UserContent

Window = Annotated[int, Field(ge=1)]
TurnId = Annotated[str, Field(min_length=1, max_length=200)]


class PreparePromptParams(ConversationParams):
    """`prompt` is what the user is about to say; it is not stored. `tools` and `system` are sent with it."""

    prompt: str | list[UserContent] | None = None
    context_window: Window | None = None
    tools: list[Tool] | None = None
    system: str | None = None
    work_done_token: ProgressToken | None = None


class PreparePromptResult(WireModel):
    """`entry` is the compaction that was made.

    `message` says why none was made although one was due.
    """

    compacted: bool
    entry: CompactionEntry | None = None
    usage: UsageState
    message: str | None = None


class RequestError(WireModel):
    """What a model request failed with. `code` is the provider's own, `status` that of HTTP.

    `usage` is that of a reply that did come although the request was larger than the window: the model has
    not read all of it. Where such a reply stands at the leaf its own usage tells that.
    """

    message: str
    status: int | None = None
    code: str | int | None = None
    provider: str | None = None
    model: str | None = None
    usage: Usage | None = None


class RecoverParams(ConversationParams):
    error: RequestError
    turn_id: TurnId | None = None
    context_window: Window | None = None
    work_done_token: ProgressToken | None = None


class RecoverResult(WireModel):
    """With `retry` the view of `leafId` is worth another try; it was `compacted` or `truncated` for that.

    `attempt` counts the overflows since the last successful reply, this one included; it is 0 for an error
    that is no overflow. `message` says why, and with `fail` what a person can do. A reply to a part of the
    request is left out of the view with `retry`, and stands at the leaf again with `fail`.
    """

    action: Literal["retry", "fail", "not-overflow"]
    strategy: Literal["compacted", "truncated"] | None = None
    attempt: int
    leaf_id: str | None
    message: str | None = None


class TruncateToolResultsParams(ConversationParams):
    context_window: Window | None = None


class TruncateToolResultsResult(WireModel):
    """`reason` says why nothing was truncated. `leafId` is the new branch's where something was."""

    truncated: bool
    truncated_count: int
    reason: str | None = None
    leaf_id: str | None


class TurnParams(ConversationParams):
    turn_id: TurnId | None = None


class TurnResult(WireModel):
    """`turnId` is null where a turn was ended and none ran."""

    turn_id: str | None


class AbortTurnParams(ConversationParams):
    """Asked of the client whose turn runs: a compaction was asked for and waits for the turn's end."""

    turn_id: str
    reason: Literal["compaction"] = "compaction"


class AbortTurnResult(WireModel):
    aborted: bool
