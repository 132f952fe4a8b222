"""Messages of `coppice/sample`: what the editor's own model is asked and answers."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from coppice.protocol.tools import Tool
from coppice.tree.messages import Message, StopReason, ToolCall, Usage

Purpose = Literal["summary", "turn"]


class _Sampling(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="ignore", strict=True, defer_build=True
    )


class SampleParams(_Sampling):
    """What the editor's own model is asked: messages as the protocol's own, without the ids of entries.

    `maxTokens` bounds the answer. `purpose` lets an editor choose a cheaper model for summaries. `tools` may
    be called in the answer to a turn. Where there is a `partialResultToken`, pieces of the answer may be sent
    on it, as `$/progress`, before the whole of it is given.
    """

    messages: list[Message]
    system: str | None = None
    max_tokens: Annotated[int, Field(ge=1)]
    purpose: Purpose
    tools: list[Tool] | None = None
    partial_result_token: int | str | None = None


class SamplePiece(_Sampling):
    """A piece of the answer as it arrives. The result holds the whole text all the same."""

    kind: Literal["text", "thinking"]
    text: str


class SampleResult(_Sampling):
    """The model's answer. A `stopReason` that is absent counts as `stop`, or `toolUse` with `toolCalls`."""

    text: str
    tool_calls: list[ToolCall] | None = None
    model: str | None = None
    usage: Usage | None = None
    stop_reason: StopReason | None = None
