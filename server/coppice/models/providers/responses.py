"""OpenAI's Responses API. What is asked is stored nowhere, and reasoning goes back encrypted."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from coppice.json_values import as_count, as_object, as_text, at, objects
from coppice.models.chat import ChatRequest
from coppice.models.providers.answer import LONGEST_NAME, AnswerBuilder
from coppice.models.providers.answer_fault import AnswerFaultError
from coppice.models.providers.dialect import AnswerReader, Ending
from coppice.models.providers.error_response import ErrorResponse, error_response_in
from coppice.models.providers.failures import RefusedInStreamError
from coppice.models.providers.thinking import effort_of
from coppice.protocol.tools import Tool
from coppice.tree.messages import StopReason, Usage
from coppice.tree.rendering.responses import REASONING, reasoning_item, responses_input

_CUT: Final = "max_output_tokens"
_INCOMPLETE: Final = "incomplete"  # and why is not stated
_FILTERED: Final = "content_filter"
_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})

_ENCRYPTED: Final = "reasoning.encrypted_content"
_ABOUT_REASONING: Final = re.compile(r"encrypted|reasoning", re.IGNORECASE)
_EFFORT: Final = re.compile(r"\breasoning.?effort\b", re.IGNORECASE)
_TEMPERATURE: Final = re.compile(r"\btemperature\b", re.IGNORECASE)


class ResponseReader(AnswerReader):
    """Reads one response. `_reason` is its status, or why it is incomplete."""

    def __init__(self, builder: AnswerBuilder) -> None:
        super().__init__(builder)
        self._usage: Usage | None = None
        self._refused = False

    def _event(self, event: Any) -> bool:
        event = as_object(event)
        kind, place = as_text(event.get("type")), as_count(event.get("output_index")) or 0
        delta = as_text(event.get("delta"))
        if kind in _ENDS:
            self._end(as_object(event.get("response")), kind.removeprefix("response."))
            return False
        match kind:
            case "response.created":
                self._understood = True
            case "response.output_item.added":
                self._begin(place, as_object(event.get("item")))
            case "response.output_text.delta":
                self._builder.text(delta)
            case "response.refusal.delta":
                self._refused = True
            case "response.reasoning_summary_part.added" if event.get("summary_index"):
                self._builder.thinking("\n\n")
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._builder.thinking(delta)
            case "response.function_call_arguments.delta" if place in self._calls:
                self._builder.arguments(self._calls[place], delta)
            case "response.output_item.done":
                self._sign(as_object(event.get("item")))
            case "error" | "":
                _raise_error(event)
        return True

    def whole(self, data: Any) -> None:
        """Take in a response that was not streamed."""
        response = as_object(data)
        if response.get("object") != "response":
            if error := error_response_in(data, None):
                raise RefusedInStreamError(error)
            return
        self._understood = True
        for place, item in enumerate(objects(response.get("output"))):
            self._begin(place, item)
            parts = list(objects(item.get("summary"))) or [
                part for part in objects(item.get("content")) if part.get("type") == "reasoning_text"
            ]
            self._builder.thinking("\n\n".join(as_text(part.get("text")) for part in parts))
            self._sign(item)
            for part in objects(item.get("content")):
                self._refused = self._refused or part.get("type") == "refusal"
                self._builder.text(as_text(part.get("text")) if part.get("type") == "output_text" else "")
            if place in self._calls:
                self._builder.arguments(self._calls[place], as_text(item.get("arguments")))
        self._end(response, as_text(response.get("status")))

    def ending(self) -> Ending:
        """Raises AnswerFaultError for a part of an answer, for none, and where the model refused."""
        if not self._understood:
            raise AnswerFaultError("bad-answer", "sent no response. Check baseUrl.")
        if self._reason is None:
            raise AnswerFaultError("cut-off", "broke off in the middle of the answer. Try again.")
        if self._refused or self._reason == _FILTERED:
            raise AnswerFaultError("refused", "will not answer this: its content filter stopped the answer.")
        return Ending(self._stop_reason(), self._usage, self._model)

    def _stop_reason(self) -> StopReason:
        if self._reason in (_CUT, _INCOMPLETE):
            return "length"
        return "toolUse" if self._builder.last_call else "stop"

    def _begin(self, place: int, item: dict[str, Any]) -> None:
        self._understood = True
        match item.get("type"):
            case "function_call":
                self._calls[place] = self._builder.open_call(
                    as_text(item.get("call_id")), as_text(item.get("name"))
                )
            case "reasoning":
                self._builder.open_thinking()

    def _sign(self, item: dict[str, Any]) -> None:
        """Keeps a reasoning item that is to go back as the signature of its block, as Pi does."""
        if item.get("type") == REASONING and (signature := reasoning_item(item)):
            self._builder.sign_thinking(json.dumps(signature, ensure_ascii=False))

    def _end(self, response: dict[str, Any], status: str) -> None:
        self._understood = True
        self._model = as_text(response.get("model"))[:LONGEST_NAME] or self._model
        self._usage = _usage(response.get("usage")) or self._usage
        if status == "failed":
            error = error_response_in(response, None)
            raise RefusedInStreamError(error or ErrorResponse(None, None, "the response failed"))
        if status in ("completed", "incomplete"):
            self._reason = as_text(at(response, "incomplete_details", "reason")) or status


def _raise_error(event: dict[str, Any]) -> None:
    """Raises what an event says that is an error itself, or holds one."""
    if error := error_response_in(event, None):
        raise RefusedInStreamError(error)
    if event.get("type") == "error":
        code, message = as_text(event.get("code")), as_text(event.get("message"))
        raise RefusedInStreamError(ErrorResponse(None, code or None, message or "an error"))


def _usage(value: Any) -> Usage | None:
    """Tokens by kind; what was read from a cache is not counted as input too."""
    usage = as_object(value)
    prompt, output = as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
    if prompt is None or output is None:
        return None
    cached = as_count(at(usage, "input_tokens_details", "cached_tokens")) or 0
    total = as_count(usage.get("total_tokens")) or prompt + output
    return Usage(input=max(0, prompt - cached), output=output, cache_read=cached, total_tokens=total)


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
