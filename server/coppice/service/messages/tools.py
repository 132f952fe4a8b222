"""Messages about tools that the client runs."""

from typing import Any

from coppice.service.messages.base import ConversationParams, WireModel
from coppice.tree.messages import UserContent


class InvokeToolParams(ConversationParams):
    """Asked of the client for each tool call of the model; several calls of one reply at once.

    `arguments` are as the model wrote them: the tool's own schema has not been checked.
    """

    tool_call_id: str
    name: str
    arguments: dict[str, Any]


class InvokeToolResult(WireModel):
    """`content` is what the model is told; `details` are stored beside it and never sent to a model."""

    content: list[UserContent]
    is_error: bool = False
    details: Any = None
