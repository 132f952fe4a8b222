"""OpenAI's Responses API: requests. What is asked is stored nowhere, and reasoning goes back encrypted."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from coppice.models.chat import ChatRequest
from coppice.models.providers.answer import AnswerBuilder
from coppice.models.providers.error_response import ErrorResponse
from coppice.models.providers.responses_stream import ResponseReader
from coppice.models.providers.thinking import effort_of
from coppice.protocol.tools import Tool
from coppice.tree.rendering.responses import REASONING, responses_input

_ENCRYPTED: Final = "reasoning.encrypted_content"
_ABOUT_REASONING: Final = re.compile(r"encrypted|reasoning", re.IGNORECASE)
_EFFORT: Final = re.compile(r"\breasoning.?effort\b", re.IGNORECASE)
_TEMPERATURE: Final = re.compile(r"\btemperature\b", re.IGNORECASE)


@dataclass(slots=True)
class ResponsesDialect:
    """What a model turned out not to take is remembered for the requests that follow.

    Models that do not reason refuse to be asked for encrypted reasoning, and those that do a temperature.
    Reasoning that another model of the provider wrote may be refused, and is left out then.
    """

    model: str
    provider: str = "openai-responses"
    edits_context: bool = False
    _takes_temperature: bool = True
    _asks_reasoning: bool = True
    _with_reasoning: bool = True
    _takes_effort: bool = True

    def listing(self) -> str:
        """It has no pages."""
        return "/models"

    def path(self, *, stream: bool) -> str:
        """One for both ways to answer."""
        del stream
        return "/responses"

    def headers(self, key: str | None, body: Mapping[str, Any] | None = None) -> dict[str, str]:
        """The key as a bearer token."""
        del body
        return {} if key is None else {"authorization": f"Bearer {key}"}

    def body(self, request: ChatRequest, max_tokens: int, *, stream: bool) -> dict[str, Any]:
        """The system prompt is a field of its own. `store` is false: the provider keeps nothing."""
        items = responses_input(request.messages, self.provider)
        if not self._with_reasoning:
            items = [item for item in items if item.get("type") != REASONING]
        body: dict[str, Any] = {
            "model": self.model,
            "input": items,
            "max_output_tokens": max_tokens,
            "store": False,
            "stream": stream,
        }
        if request.system:
            body["instructions"] = request.system
        if self._asks_reasoning:
            body["include"] = [_ENCRYPTED]
        if request.temperature is not None and self._takes_temperature:
            body["temperature"] = request.temperature
        if request.thinking_level is not None and self._takes_effort:
            body["reasoning"] = {"effort": effort_of(request.thinking_level)}
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if request.cache_key is not None:
            body["prompt_cache_key"] = request.cache_key
        return body

    def reader(self, builder: AnswerBuilder) -> ResponseReader:
        """A reader of one answer."""
        return ResponseReader(builder)

    def adapt(self, error_response: ErrorResponse, sent: dict[str, Any]) -> bool:
        """Leave out what the error names."""
        if error_response.status != HTTPStatus.BAD_REQUEST:
            return False
        words = f"{error_response.code or ''} {error_response.message}"
        if "temperature" in sent and _TEMPERATURE.search(words):
            self._takes_temperature = False
            return True
        if "reasoning" in sent and _EFFORT.search(words):
            self._takes_effort = False
            return True
        if not _ABOUT_REASONING.search(words):
            return False
        if any(item.get("type") == REASONING for item in sent["input"]):
            self._with_reasoning = False
            return True
        if "include" in sent:
            self._asks_reasoning = False
            return True
        return False


def make_dialect(model: str, is_own_endpoint: bool) -> ResponsesDialect:  # noqa: FBT001, ARG001 - a DialectFactory
    """A DialectFactory; the endpoint makes no difference."""
    return ResponsesDialect(model)


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema or {"type": "object", "properties": {}},
        "strict": False,
    }
