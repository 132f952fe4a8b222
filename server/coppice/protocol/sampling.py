"""Messages of `coppice/sample`: what the editor's own model is asked and answers."""

from typing import Annotated, Literal

from pydantic import Field

from coppice.protocol.base import ProgressToken, WireModel
from coppice.protocol.tools import Tool
from coppice.tree.messages import Message, StopReason, ToolCall, Usage

Purpose = Literal["summary", "turn"]


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
