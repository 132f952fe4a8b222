"""OpenAI's chat completions, as OpenAI and the many servers compatible with it speak them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from coppice.models.chat import ChatRequest
from coppice.models.providers.answer import AnswerBuilder
from coppice.models.providers.error_response import ErrorResponse
from coppice.models.providers.openai_stream import CompletionReader
from coppice.models.providers.thinking import effort_of
from coppice.protocol.tools import Tool
from coppice.tree.messages import SystemMessage
from coppice.tree.rendering.openai import openai_messages
from coppice.tree.rendering.reasoning import REASONING_NAMES
from coppice.tree.view import ViewMessage

_LIMIT_NAMES: Final = ("max_tokens", "max_completion_tokens")
_ABOUT_THE_BODY: Final = (400, 422)
_TROUBLE: Final = 500
"""Chat templates that fail on a role do so with this, in llama.cpp."""

_NO_USAGE_OPTION: Final = re.compile(r"stream_options|include_usage", re.IGNORECASE)
_EFFORT: Final = re.compile(r"\breasoning.?effort\b", re.IGNORECASE)
_TEMPERATURE: Final = re.compile(r"\btemperature\b", re.IGNORECASE)
_LIMIT_NAME: Final = re.compile(r"\bmax_(?:completion_)?tokens\b", re.IGNORECASE)
_REASONING: Final = re.compile("|".join(REASONING_NAMES), re.IGNORECASE)
_UNKNOWN: Final = re.compile(
    r"unsupported|not supported|unknown|unrecognized|not permitted|not allowed|extra.?forbidden|unexpected"
    r"|use ['\"`]?max_",
    re.IGNORECASE,
)
_ROLES: Final = re.compile(
    r"system role|system message|role.{0,120}\b(?:system|developer)\b|\b(?:system|developer)\b.{0,120}\brole"
    r"|roles must alternate|unexpected (?:message )?role|incorrect role",
    re.IGNORECASE,
)


@dataclass(slots=True)
class OpenAIDialect:
    """What a server turned out not to take is remembered for the requests that follow.

    OpenAI itself wants `max_completion_tokens`, the others know `max_tokens`; whichever is refused, the other
    is tried. `developer` goes as `system`, which every server takes and OpenAI reads as the same. Where a
    chat template takes no system message, or none here, its text is put before the first user message.
    Thinking goes back while a turn calls tools: DeepSeek and Kimi demand it, others read over it.
    """

    model: str
    is_openai_itself: bool
    provider: str = "openai"
    edits_context: bool = False
    _asks_usage: bool = True
    _takes_temperature: bool = True
    _plain_roles: bool = False
    _with_reasoning: bool = True
    _takes_effort: bool = True
    _refused_limits: set[str] = field(default_factory=set)

    def listing(self) -> str:
        """It has no pages."""
        return "/models"

    def path(self, *, stream: bool) -> str:
        """One for both ways to answer."""
        del stream
        return "/chat/completions"

    def headers(self, key: str | None, body: Mapping[str, Any] | None = None) -> dict[str, str]:
        """The key as a bearer token."""
        del body
        return {} if key is None else {"authorization": f"Bearer {key}"}

    def body(self, request: ChatRequest, max_tokens: int, *, stream: bool) -> dict[str, Any]:
        """Fields that a server has refused before are left out, see `adapt`."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": self._messages(request),
            self._limit_name: max_tokens,
            "stream": stream,
        }
        if stream and self._asks_usage:
            body["stream_options"] = {"include_usage": True}
        if request.temperature is not None and self._takes_temperature:
            body["temperature"] = request.temperature
        if request.thinking_level is not None and self._takes_effort:
            body["reasoning_effort"] = effort_of(request.thinking_level)
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if request.cache_key is not None and self.is_openai_itself:
            body["prompt_cache_key"] = request.cache_key
        return body

    def reader(self, builder: AnswerBuilder) -> CompletionReader:
        """A reader of one answer."""
        return CompletionReader(builder)

    def adapt(self, error_response: ErrorResponse, sent: dict[str, Any]) -> bool:
        """Leave out or rename the field that the error names; whether the request can be sent again."""
        if error_response.status is None or not (
            error_response.status in _ABOUT_THE_BODY or error_response.status >= _TROUBLE
        ):
            return False
        words = f"{error_response.code or ''} {error_response.message}"
        if "stream_options" in sent and _NO_USAGE_OPTION.search(words):
            self._asks_usage = False
            return True
        if "reasoning_effort" in sent and _EFFORT.search(words):
            self._takes_effort = False
            return True
        if _sent_reasoning(sent) and _REASONING.search(words):
            self._with_reasoning = False
            return True
        if "temperature" in sent and _TEMPERATURE.search(words):
            self._takes_temperature = False
            return True
        if _LIMIT_NAME.search(words) and _UNKNOWN.search(words):
            self._refused_limits |= sent.keys() & set(_LIMIT_NAMES)
            return self._limit_name not in sent
        if sent["messages"] != _with_plain_roles(sent["messages"]) and _ROLES.search(words):
            self._plain_roles = True
            return True
        return False

    @property
    def _limit_name(self) -> str:
        """What the bound of the answer is called here. The last one stays when none is taken."""
        names = _LIMIT_NAMES[::-1] if self.is_openai_itself else _LIMIT_NAMES
        return next((name for name in names if name not in self._refused_limits), names[-1])

    def _messages(self, request: ChatRequest) -> list[dict[str, Any]]:
        opening = [ViewMessage(None, SystemMessage(content=request.system))] if request.system else []
        rendered = openai_messages([*opening, *request.messages], with_reasoning=self._with_reasoning)
        for message in rendered:
            if message["role"] == "developer":
                message["role"] = "system"
        return _with_plain_roles(rendered) if self._plain_roles else _with_one_opening(rendered)


def make_dialect(model: str, is_own_endpoint: bool) -> OpenAIDialect:  # noqa: FBT001 - a DialectFactory
    """A DialectFactory."""
    return OpenAIDialect(model, is_openai_itself=is_own_endpoint)


def _tool(tool: Tool) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema or {"type": "object", "properties": {}},
    }
    return {"type": "function", "function": function}


def _sent_reasoning(body: dict[str, Any]) -> bool:
    return any(name in message for message in body["messages"] for name in REASONING_NAMES)


def _with_one_opening(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The system messages at the beginning as one: many chat templates take only one."""
    count = next((index for index, each in enumerate(messages) if each["role"] != "system"), len(messages))
    if count < 2:  # noqa: PLR2004 - one is one
        return messages
    text = "\n\n".join(each["content"] for each in messages[:count] if each["content"])
    return [{"role": "system", "content": text}, *messages[count:]]


def _with_plain_roles(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """No system role, and no two user messages, nor two replies without calls, in a row."""
    plain: list[dict[str, Any]] = []
    for message in messages:
        sent = {**message, "role": "user"} if message["role"] == "system" else message
        last = plain[-1] if plain else None
        if last and last["role"] == sent["role"] and _mergeable(last) and _mergeable(sent):
            plain[-1] = {"role": sent["role"], "content": _joined(last["content"], sent["content"])}
        else:
            plain.append(sent)
    return plain


def _mergeable(message: dict[str, Any]) -> bool:
    return message["role"] in ("user", "assistant") and not message.get("tool_calls")


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_blocks(first), *_blocks(second)]


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])
