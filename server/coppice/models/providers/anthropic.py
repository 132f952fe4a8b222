"""Anthropic's Messages."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Literal

from coppice.json_values import as_count, as_object, as_text, at, objects
from coppice.models.chat import ChatRequest, ContextEditing
from coppice.models.providers.answer import LONGEST_NAME, AnswerBuilder
from coppice.models.providers.answer_fault import AnswerFaultError
from coppice.models.providers.dialect import AnswerReader, Ending
from coppice.models.providers.error_response import ErrorResponse, error_response_in
from coppice.models.providers.failures import RefusedInStreamError
from coppice.models.providers.thinking import adaptive_thinking, budgeted_thinking
from coppice.protocol.tools import Tool
from coppice.tree.messages import StopReason, SystemMessage, Usage, present
from coppice.tree.rendering.anthropic import anthropic_request
from coppice.tree.view import ViewMessage

_VERSION: Final = "2023-06-01"
_CONTEXT_EDITING: Final = "context-management-2025-06-27"
"""The beta in which requests may have a `context_management`."""
_ABOUT_EDITING: Final = re.compile(
    r"context[ _-]management|clear_tool_uses|anthropic-beta|\bbeta\b", re.IGNORECASE
)
_ABOUT_THE_BODY: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
_STOPS: Final[dict[str, StopReason]] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "toolUse",
}
_BREAKPOINT: Final = {"type": "ephemeral"}
_COUNTS: Final = frozenset(
    {"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"}
)
"""The names in an answer's usage that are read. Others are not stored: a server can send millions."""
_Thinking = Literal["adaptive", "budget"]
"""How a level of thinking is asked for."""
_ABOUT_THINKING: Final = re.compile(r"thinking|effort|output_config", re.IGNORECASE)
_LOOKED_BACK: Final = 20
"""Blocks before a breakpoint in which the provider looks for the end of what it has cached."""

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class AnthropicDialect:
    """Anthropic's Messages API, version 2023-06-01.

    The requests of a turn mark what is to be cached; a summary's are made once. A server of this protocol
    that refuses the marks, or to edit the context, is sent none again. Newer models think adaptively, older
    ones in a budget; whichever is refused, the other is tried.
    """

    model: str
    provider: str = "anthropic"
    edits_context: bool = True
    _thinking: tuple[_Thinking, ...] = ("adaptive", "budget")
    _takes_breakpoints: bool = True

    def listing(self) -> str:
        """Without a limit a page has 20 models."""
        return "/models?limit=1000"

    def path(self, *, stream: bool) -> str:
        """One for both ways to answer."""
        del stream
        return "/messages"

    def headers(self, key: str | None, body: Mapping[str, Any] | None = None) -> dict[str, str]:
        """The API's version, the key as `x-api-key`, and the beta that the body needs."""
        headers = {"anthropic-version": _VERSION}
        if body is not None and "context_management" in body:
            headers["anthropic-beta"] = _CONTEXT_EDITING
        return headers if key is None else headers | {"x-api-key": key}

    def body(self, request: ChatRequest, max_tokens: int, *, stream: bool) -> dict[str, Any]:
        """The system prompt is a field of its own; roles alternate."""
        opening = [ViewMessage(None, SystemMessage(content=request.system))] if request.system else []
        rendered = anthropic_request([*opening, *request.messages])
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": max_tokens,
            "messages": rendered.messages,
            "stream": stream,
        }
        if rendered.system:
            body["system"] = rendered.system
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if request.thinking_level is not None and self._thinking:
            is_adaptive = self._thinking[0] == "adaptive" or request.thinking_level == "off"
            body |= (
                adaptive_thinking(request.thinking_level)
                if is_adaptive
                else budgeted_thinking(request.thinking_level, max_tokens)
            )
        if request.context_editing is not None and self.edits_context:
            body["context_management"] = {"edits": [_edit(request.context_editing)]}
        if request.purpose != "turn" or not self._takes_breakpoints:
            return body
        return _with_breakpoints(body, rendered.step_ends)

    def reader(self, builder: AnswerBuilder) -> "MessageReader":
        """A reader of one answer."""
        return MessageReader(builder)

    def adapt(self, error_response: ErrorResponse, sent: dict[str, Any]) -> bool:
        """Leave out what the error names: the marks of the cache, context editing, the level of thinking."""
        is_refused = error_response.status in _ABOUT_THE_BODY
        if "context_management" in sent and is_refused and _ABOUT_EDITING.search(error_response.message):
            if self.edits_context:
                _log.warning(
                    "The server of %s refuses context_management; Coppice clears old tool results instead.",
                    self.model,
                )
            self.edits_context = False
            return True
        if "thinking" in sent and is_refused and _ABOUT_THINKING.search(error_response.message):
            way = "budget" if sent["thinking"]["type"] == "enabled" else "adaptive"
            self._thinking = tuple(other for other in self._thinking if other != way)
            return True
        if not _has_breakpoints(sent) or "cache_control" not in error_response.message:
            return False
        self._takes_breakpoints = False
        return True


def make_dialect(model: str, is_own_endpoint: bool) -> AnthropicDialect:  # noqa: FBT001, ARG001 - a DialectFactory
    """A DialectFactory; the endpoint makes no difference."""
    return AnthropicDialect(model)


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema or {"type": "object", "properties": {}},
    }


def _edit(editing: ContextEditing) -> dict[str, Any]:
    return {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "input_tokens", "value": editing.trigger_tokens},
        "keep": {"type": "tool_uses", "value": editing.keep_tool_uses},
        "clear_at_least": {"type": "input_tokens", "value": editing.least_gain_tokens},
    }


class MessageReader(AnswerReader):
    """Reads one message, streamed as events or whole."""

    def __init__(self, builder: AnswerBuilder) -> None:
        super().__init__(builder)
        self._usage: dict[str, int] = {}

    def _event(self, event: Any) -> bool:
        event = as_object(event)
        place = as_count(event.get("index")) or 0
        match event.get("type"):
            case "message_start":
                self._message(as_object(event.get("message")))
            case "content_block_start":
                self._block(place, as_object(event.get("content_block")))
            case "content_block_delta":
                self._delta(place, as_object(event.get("delta")))
            case "message_delta":
                self._reason = as_text(at(event, "delta", "stop_reason")) or self._reason
                self._count(event.get("usage"))
                self._edits(event)
            case "message_stop":
                self._reason = self._reason or "end_turn"
                return False
            case "error":
                raise RefusedInStreamError(
                    error_response_in(event, None) or ErrorResponse(None, None, "an error")
                )
            case None:
                if error := error_response_in(event, None):
                    raise RefusedInStreamError(error)
        return True

    def whole(self, data: Any) -> None:
        """Take in a message that was not streamed."""
        if error := error_response_in(data, None):
            raise RefusedInStreamError(error)
        message = as_object(data)
        if message.get("type") != "message":
            return
        self._message(message)
        self._edits(message)
        for place, block in enumerate(objects(message.get("content"))):
            self._block(place, block)
        self._reason = as_text(message.get("stop_reason")) or "end_turn"

    def ending(self) -> Ending:
        """How the answer ended, with its usage. AnswerFaultError where it is not complete."""
        if not self._understood:
            raise AnswerFaultError("bad-answer", "sent no message. Check baseUrl.")
        if self._reason is None:
            raise AnswerFaultError("cut-off", "broke off in the middle of the answer. Try again.")
        if self._reason == "refusal":
            raise AnswerFaultError("refused", "will not answer this: its safety check stopped the answer.")
        return Ending(_STOPS.get(self._reason, "stop"), self._counted(), self._model)

    def _message(self, message: dict[str, Any]) -> None:
        self._understood = True
        self._model = as_text(message.get("model"))[:LONGEST_NAME] or None
        self._count(message.get("usage"))

    def _block(self, place: int, block: dict[str, Any]) -> None:
        match block.get("type"):
            case "text":
                self._builder.text(as_text(block.get("text")))
            case "thinking":
                self._builder.open_thinking()
                self._builder.thinking(as_text(block.get("thinking")))
                self._builder.sign_thinking(as_text(block.get("signature")))
            case "redacted_thinking":
                self._builder.redacted_thinking(as_text(block.get("data")))
            case "tool_use":
                call = self._builder.open_call(as_text(block.get("id")), as_text(block.get("name")))
                self._calls[place] = call
                self._builder.whole_arguments(call, as_object(block.get("input")))

    def _delta(self, place: int, delta: dict[str, Any]) -> None:
        match delta.get("type"):
            case "text_delta":
                self._builder.text(as_text(delta.get("text")))
            case "thinking_delta":
                self._builder.thinking(as_text(delta.get("thinking")))
            case "signature_delta":
                self._builder.sign_thinking(as_text(delta.get("signature")))
            case "input_json_delta" if place in self._calls:
                self._builder.arguments(self._calls[place], as_text(delta.get("partial_json")))

    def _count(self, usage: Any) -> None:
        """Counts in later events are totals so far, not additions."""
        counts = as_object(usage)
        for name in _COUNTS:
            if (count := as_count(counts.get(name))) is not None:
                self._usage[name] = count

    def _edits(self, answer: dict[str, Any]) -> None:
        """What was cleared of the request, in all edits together."""
        edits = list(objects(at(answer, "context_management", "applied_edits")))
        for name in ("cleared_tool_uses", "cleared_input_tokens"):
            if counts := [count for edit in edits if (count := as_count(edit.get(name))) is not None]:
                self._usage[name] = sum(counts)

    def _counted(self) -> Usage | None:
        usage = self._usage
        if "input_tokens" not in usage or "output_tokens" not in usage:
            return None
        return Usage(
            input=usage["input_tokens"],
            output=usage["output_tokens"],
            cache_read=usage.get("cache_read_input_tokens"),
            cache_write=usage.get("cache_creation_input_tokens"),
            **present(
                cleared_tool_results=usage.get("cleared_tool_uses"),
                cleared_tokens=usage.get("cleared_input_tokens"),
            ),
        )


def _with_breakpoints(body: dict[str, Any], step_ends: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """`body` with breakpoints, four at most: after the tools and the system prompt, after the results that
    the newest context edits cleared, and after the newest messages.

    A cached beginning is read up to a breakpoint that an earlier request of the same beginning set, or one
    within 20 blocks before one of this request
    (https://docs.claude.com/en/docs/build-with-claude/prompt-caching). So the end of the request before is
    marked again where more blocks came since. The next context edit changes the view after what the newest
    one cleared: the request after it reads the cache up to there, where the requests before it were marked.
    """
    marked = dict(body)
    if "system" in body:
        marked["system"] = [_marked({"type": "text", "text": body["system"]})]
    elif body.get("tools"):
        marked["tools"] = [*body["tools"][:-1], _marked(body["tools"][-1])]
    messages = list(body["messages"])
    ends = [
        (place, len(message["content"]) - 1)
        for place, message in enumerate(messages)
        if message["role"] == "user"
    ]
    last, before = ends[-1:], ends[-2:-1]
    since = sum(len(message["content"]) for message in messages[before[0][0] + 1 :]) if before else 0
    # The last two of the list are marked.
    others = [*before, *step_ends] if since <= _LOOKED_BACK else [*step_ends[:-1], *before, *step_ends[-1:]]
    for place, block in {*last, *others[-2:]}:
        blocks = list(messages[place]["content"])
        blocks[block] = _marked(blocks[block])
        messages[place] = {**messages[place], "content": blocks}
    return marked | {"messages": messages}


def _has_breakpoints(body: dict[str, Any]) -> bool:
    """Whether `_with_breakpoints` made the body: every request ends with a message of the user."""
    return any("cache_control" in message["content"][-1] for message in body["messages"][-1:])


def _marked(block: dict[str, Any]) -> dict[str, Any]:
    return {**block, "cache_control": _BREAKPOINT}
