"""Tools that a model may call, and the messages about those that the client runs."""

from typing import Annotated, Any

from pydantic import Field

from coppice.protocol.base import ConversationParams, WireModel
from coppice.tree.messages import UserContent, WorkspaceState


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
