"""Messages: what a person, a model or a tool wrote.

A superset of the messages of Pi's session format, version 3. Unknown properties are kept, and a property
that was sent as `null` stays `null`, so that what goes in comes out.
"""

import json
from functools import cache
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from coppice.tree.base import CamelModel

Timestamp = int | float | str
"""When a message was made: an ISO 8601 UTC string, or milliseconds since 1970 as Pi writes it."""


class DataModel(CamelModel):
    """A stored value. It serializes to what it was made from: unset properties are left out."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @model_serializer(mode="wrap")
    def _only_what_was_set(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        untagged = _untagged(type(self))
        for name in untagged.keys() - self.model_fields_set:
            data.pop(untagged[name], None)
            data.pop(name, None)
        return data


@cache
def _untagged(model: type[DataModel]) -> dict[str, str]:
    """The names of the fields that are no tags, with their names on the wire."""
    fields = model.model_fields.items()
    return {name: field.alias or name for name, field in fields if not isinstance(field.default, str)}


def present(**fields: Any) -> dict[str, Any]:
    """The fields that are not None: a model that is given a None writes it as `null`."""
    return {name: value for name, value in fields.items() if value is not None}


class TextContent(DataModel):
    """A block of text. `text_signature` is Gemini's proof that it is its own, sent back with it."""

    type: Literal["text"] = "text"
    text: str
    text_signature: str | None = None


class ImageContent(DataModel):
    """`data` is base64."""

    type: Literal["image"] = "image"
    data: str
    mime_type: str


class ThinkingContent(DataModel):
    """`thinking_signature` is a provider's proof that the thinking is its own model's, sent back with it.

    Of thinking that is `redacted` there is nothing but that. Where a provider signs nothing and yet wants its
    thinking back, it is the name of the property that the thinking came in, as in Pi's sessions.
    """

    type: Literal["thinking"] = "thinking"
    thinking: str
    thinking_signature: str | None = None
    redacted: bool | None = None


class ToolCall(DataModel):
    """`invalid_arguments` is what a model wrote where that is no JSON object; `arguments` is then empty.

    `thought_signature` is Gemini's proof that the call is its own, sent back with it.
    """

    type: Literal["toolCall"] = "toolCall"
    id: str
    name: str
    arguments: dict[str, Any]
    invalid_arguments: str | None = None
    thought_signature: str | None = None

    @property
    def arguments_json(self) -> str:
        """The arguments as the text of a JSON object."""
        return json.dumps(self.arguments, ensure_ascii=False)


UserContent = Annotated[TextContent | ImageContent, Field(discriminator="type")]
AssistantContent = Annotated[TextContent | ThinkingContent | ToolCall, Field(discriminator="type")]
StopReason = Literal["stop", "length", "toolUse", "error", "aborted"]


class Usage(DataModel):
    """What the provider counted for one request, in tokens.

    `cleared_tokens` are those of the `cleared_tool_results` that it left out itself; no other count has them.
    """

    input: int
    output: int
    cache_read: int | None = None
    cache_write: int | None = None
    cleared_tool_results: int | None = None
    cleared_tokens: int | None = None
    total_tokens: int | None = None

    @property
    def request_tokens(self) -> int:
        """The size of the request alone."""
        return self.input + (self.cache_read or 0) + (self.cache_write or 0)

    @property
    def context_tokens(self) -> int:
        """The size of the request and its answer: the provider's total, else the sum of the parts."""
        return self.total_tokens or self.request_tokens + self.output


WorkspaceState = Annotated[str, Field(min_length=1, max_length=4000)]
"""A client's name for the files of its workspace at one moment; only the client understands it."""


class _Message(DataModel):
    timestamp: Timestamp | None = None


class UserMessage(_Message):
    """A message of a person. `workspaceState` names the files as they were when it was written."""

    role: Literal["user"] = "user"
    content: str | list[UserContent]
    workspace_state: WorkspaceState | None = None


class RequestTimes(DataModel):
    """How long a request took, in milliseconds: to the first piece of its answer, and to the end."""

    first_token: int
    whole: int


class AssistantMessage(_Message):
    """A model's reply. `stopReason` is absent where the source did not record it.

    `milliseconds` are those of its request, where the server made it.
    """

    role: Literal["assistant"] = "assistant"
    content: list[AssistantContent]
    provider: str | None = None
    model: str | None = None
    usage: Usage | None = None
    milliseconds: RequestTimes | None = None
    stop_reason: StopReason | None = None
    error_message: str | None = None

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls among the content, in order."""
        return [block for block in self.content if isinstance(block, ToolCall)]

    @property
    def failed(self) -> bool:
        """Whether the reply broke off or never came; a model never sees it again."""
        return self.stop_reason in ("error", "aborted")


DENIED: Final = {"denied": True}
"""`details` of a result: the user did not allow the call, and the content says so, with the reason if one was
given. Set by a client that asked or by the importer of a format that records it, whatever the content is.
"""
ANSWERED: Final = {"answered": True}
"""`details` of a result: the call asked the user. What they answered is in `answer` beside it, set by the
client that asked or by the importer of a format that records it apart from what the model wrote.
"""
NOT_RUN: Final = {"notRun": True}
"""`details` of an error: the call was not carried out, or was broken off, and the content says why. Set by
whoever answers the call, client or server.
"""


class ToolResultMessage(_Message):
    """What a tool returned for the call `toolCallId`. `details` is for clients; a model is not sent it.

    With `denied: true` in `details` the user did not allow the call: the reason, if they gave one, is in the
    content. With `answered: true` the call asked the user, and what they answered is the text `answer` beside
    it, which the client that asked sets: a model that summarizes is given it in place of the content. To
    several questions it is an answer each, on lines of their own in the order of the questions, with
    `(no answer)` in place of one that is missing and the further lines of an answer indented. What answers
    none of the questions comes last; what answers one of several that cannot be told apart ends with
    `(to one of N questions)`. Without `answer`, as in results that older versions imported, or in those of an
    error, the content counts as the tool's.

    With `notRun: true` in those of an error the call was not carried out, or was broken off: its content is
    no output.

    What an answer is shown to be for is the call's argument `question`, or `question` or `prompt` of each
    object in its `questions`.

    `workspaceState` names the files as they are after the call.
    """

    role: Literal["toolResult"] = "toolResult"
    tool_call_id: str
    tool_name: str
    content: list[UserContent]
    is_error: bool = False
    details: Any = None
    workspace_state: WorkspaceState | None = None


class BashExecutionMessage(_Message):
    """A command the user ran outside the conversation."""

    role: Literal["bashExecution"] = "bashExecution"
    command: str
    output: str
    exit_code: int | None = None
    cancelled: bool = False
    truncated: bool = False
    exclude_from_context: bool | None = None


class DeveloperMessage(_Message):
    """Instructions of the application."""

    role: Literal["developer"] = "developer"
    content: str | list[TextContent]


class SystemMessage(_Message):
    """Instructions of the system."""

    role: Literal["system"] = "system"
    content: str | list[TextContent]


class CustomRoleMessage(_Message):
    """Pi's extension message in its older shape, before it became the entry `custom_message`."""

    role: Literal["custom"] = "custom"
    custom_type: str
    content: str | list[UserContent]
    display: bool = True
    details: Any = None


class BranchSummaryRoleMessage(_Message):
    """Pi's branch summary in message form."""

    role: Literal["branchSummary"] = "branchSummary"
    summary: str
    from_id: str | None = None


class CompactionSummaryRoleMessage(_Message):
    """Pi's compaction summary in message form."""

    role: Literal["compactionSummary"] = "compactionSummary"
    summary: str
    tokens_before: int | None = None


Message = Annotated[
    UserMessage
    | AssistantMessage
    | ToolResultMessage
    | BashExecutionMessage
    | DeveloperMessage
    | SystemMessage
    | CustomRoleMessage
    | BranchSummaryRoleMessage
    | CompactionSummaryRoleMessage,
    Field(discriminator="role"),
]


def text_of(content: str | list[Any]) -> str:
    """The text of a message's content; images and other blocks are left out."""
    if isinstance(content, str):
        return content
    return "".join(block.text for block in content if isinstance(block, TextContent))
