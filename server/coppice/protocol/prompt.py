"""Messages of `coppice/prompt`: a turn that the server runs itself, and its partial results."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from coppice.protocol.base import ConversationParams, StreamingParams, WireModel
from coppice.protocol.compaction import CompactionStatus
from coppice.protocol.tools import Skill, Tool
from coppice.protocol.usage import UsageState
from coppice.tree.messages import (
    AssistantMessage,
    ToolResultMessage,
    UserContent,
    UserMessage,
    WorkspaceState,
)

DEFAULT_STEPS: Final = 50
"""Model requests that a turn may make by default."""


class PromptParams(StreamingParams, ConversationParams):
    """`content` is the user's message; it is appended first, unless the turn cannot begin. Without it the
    turn goes on where the last one was stopped or failed, or where the last reply was cut off at its limit;
    where the model has answered otherwise that is `nothing-to-continue`. A text that is `/compact`, with or
    without words after it, is a command: the conversation is compacted with these words as the instructions.
    `/note TEXT` adds a note of the user's. A command appends no message and asks no model for a reply.

    `tools` are offered to the model where the client answers `coppice/invokeTool`. `system` is sent before
    the conversation, with the texts of `skills` after it; neither is stored. A step is one request to the
    model with the tool calls of its answer; the turn stops after `maxSteps` of them. On `partialResultToken`
    the turn is reported as it happens.

    `patience` is for how many seconds the turn waits for a reply in all, while the provider has too many
    requests, fails, or is not reached; a single `retry-after` of more than ten minutes ends the turn at once.

    `workspaceState` is the client's name for the files of the workspace as they are now: it is stored with
    the user's message, as that of a tool's answer is with its result. A client that records the files finds
    there which ones belong to an entry, when a user goes back or to another branch.
    """

    content: Annotated[str | list[UserContent], Field(min_length=1)] | None = None
    tools: list[Tool] | None = None
    system: str | None = None
    skills: list[Skill] | None = None
    max_steps: Annotated[int, Field(ge=1, le=1000)] = DEFAULT_STEPS
    patience: Annotated[int, Field(ge=0, le=86_400)] = 0
    workspace_state: WorkspaceState | None = None


class PromptResult(WireModel):
    """`stopReason` is the last reply's, `maxSteps` when the turn was stopped before the model was done, or
    `tool` when the result of a tool ended it (`endsTurn`).
    It is `compacted` or `noted` when the content was the command `/compact` or `/note`: no turn ran.

    `entryIds` are the messages that were appended, in order; `compactions` are the entries of the
    compactions that were made on the way.
    """

    stop_reason: Literal["stop", "length", "maxSteps", "tool", "compacted", "noted"]
    entry_ids: list[str]
    usage: UsageState
    compactions: list[str]


class TextUpdate(WireModel):
    """A piece of the reply's text."""

    kind: Literal["text"] = "text"
    text: str


class ThinkingUpdate(WireModel):
    """A piece of the reply's thinking."""

    kind: Literal["thinking"] = "thinking"
    text: str


class ToolCallUpdate(WireModel):
    """A tool call of the reply, once it is complete."""

    kind: Literal["toolCall"] = "toolCall"
    tool_call_id: str
    name: str
    arguments: dict[str, Any]


class MessageUpdate(WireModel):
    """A message was appended as `entryId`: the user's, a reply that is complete, or a tool's result.

    A reply takes the place of its pieces.
    """

    kind: Literal["message"] = "message"
    entry_id: str
    message: Annotated[UserMessage | AssistantMessage | ToolResultMessage, Field(discriminator="role")]


class CompactionUpdate(WireModel):
    """A compaction began (`started`) or ended. `compactionId` is that of `coppice/compactionStarted`.

    `entryId` is the compaction that was stored.
    """

    kind: Literal["compaction"] = "compaction"
    compaction_id: str | None = None
    entry_id: str | None = None
    status: Literal["started"] | CompactionStatus


class RetryUpdate(WireModel):
    """The request was too long and is made again, after this `strategy`; `attempt` counts from 1.

    The pieces of the unfinished reply that were sent are to be dropped.
    """

    kind: Literal["retry"] = "retry"
    attempt: int
    strategy: Literal["compacted", "truncated"]


class WaitUpdate(WireModel):
    """The provider failed for the moment: `message` says how. The request is made again in `seconds`, or
    after `coppice/askNow`; `attempt` counts from 1.

    The pieces of the unfinished reply that were sent are to be dropped.
    """

    kind: Literal["wait"] = "wait"
    attempt: int
    seconds: int
    message: str


class AskNowResult(WireModel):
    """`waited`: a turn of this server waited for the provider of the conversation, and asks it now."""

    waited: bool


PromptUpdate = Annotated[
    TextUpdate
    | ThinkingUpdate
    | ToolCallUpdate
    | MessageUpdate
    | CompactionUpdate
    | RetryUpdate
    | WaitUpdate,
    Field(discriminator="kind"),
]
