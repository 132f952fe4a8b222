"""Tools that a model may call, the messages about those that the client runs, and `coppice/sample`: what the
editor's own model is asked and answers.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from coppice.protocol.base import ConversationParams, ProgressToken, WireModel
from coppice.tree.messages import Message, StopReason, ToolCall, Usage, UserContent, WorkspaceState

Purpose = Literal["summary", "turn"]


class Tool(WireModel):
    """A tool that a model may call. `inputSchema` is the JSON Schema of its arguments."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    description: str = ""
    input_schema: Annotated[dict[str, Any], Field(default_factory=dict)]


class Skill(WireModel):
    """Instructions that a request carries apart from `system`. `text` is what the model is sent of them."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    text: str


class InvokeToolParams(ConversationParams):
    """Asked of the client for each tool call of the model; several calls of one reply at once.

    `arguments` are as the model wrote them: the tool's own schema has not been checked.
    """

    tool_call_id: str
    name: str
    arguments: dict[str, Any]


class InvokeToolResult(WireModel):
    """`content` is sent to the model; `details` are stored with it and never sent to a model.

    `workspaceState` names the files as they are after the call, where it may have changed some. With
    `endsTurn` the turn ends once the results of all calls of the reply are stored, without another request to
    the model: `coppice/prompt` without content goes on, with other tools where the client offers others.
    """

    content: list[UserContent]
    is_error: bool = False
    details: Any = None
    workspace_state: WorkspaceState | None = None
    ends_turn: bool = False


class SampleParams(WireModel):
    """What the editor's own model is asked: messages as the protocol's own, without the ids of entries.

    `maxTokens` bounds the answer. `purpose` lets an editor choose a cheaper model for summaries; `model` is
    the name that the settings give the model. `tools` may be called in the answer to a turn. Where there is a
    `partialResultToken`, pieces of the answer may be sent on it, as `$/progress`, before the whole of it is
    given.
    """

    messages: list[Message]
    system: str | None = None
    max_tokens: Annotated[int, Field(ge=1)]
    purpose: Purpose
    model: str | None = None
    tools: list[Tool] | None = None
    partial_result_token: ProgressToken | None = None


class SamplePiece(WireModel):
    """A piece of the answer as it arrives. The result holds the whole text all the same."""

    kind: Literal["text", "thinking"]
    text: str


class SampleResult(WireModel):
    """The model's answer. A `stopReason` that is absent counts as `stop`, or `toolUse` with `toolCalls`."""

    text: str
    tool_calls: list[ToolCall] | None = None
    model: str | None = None
    usage: Usage | None = None
    stop_reason: StopReason | None = None
