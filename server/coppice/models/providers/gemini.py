"""Gemini's generateContent."""

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
from coppice.models.providers.thinking import BUDGETS
from coppice.protocol.tools import Tool
from coppice.tree.messages import StopReason, SystemMessage, Usage
from coppice.tree.rendering.gemini import gemini_request
from coppice.tree.view import ViewMessage

_SIGNATURE: Final = re.compile(r"thought.?signature", re.IGNORECASE)
_THINKING: Final = re.compile(r"thinking|thoughts", re.IGNORECASE)
_STOPS: Final[dict[str, StopReason]] = {"STOP": "stop", "MAX_TOKENS": "length"}
_BROKEN: Final = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "TOO_MANY_TOOL_CALLS",
        "UNEXPECTED_TOOL_CALL",
        "OTHER",
        "LANGUAGE",
    }
)
"""Reasons that are faults of the answer, or of the request's form; all others are refusals."""


@dataclass(slots=True)
class GeminiDialect:
    """What a model turned out not to take is remembered for the requests that follow.

    Models that do not think refuse to be asked for their thoughts, and some a budget. Newer ones refuse calls
    without a signature, which those of other models are.
    """

    model: str
    provider: str = "gemini"
    edits_context: bool = False
    _asks_thoughts: bool = True
    _takes_budget: bool = True
    _signs_all: bool = False

    def listing(self) -> str:
        """Without a size a page has 50 models."""
        return "/models?pageSize=1000"

    def path(self, *, stream: bool) -> str:
        """The model is part of it, and so is the way to answer."""
        return f"/models/{self.model}:{'streamGenerateContent?alt=sse' if stream else 'generateContent'}"

    def headers(self, key: str | None, body: Mapping[str, Any] | None = None) -> dict[str, str]:
        """The key in a header of its own, never in the URL."""
        del body
        return {} if key is None else {"x-goog-api-key": key}

    def body(self, request: ChatRequest, max_tokens: int, *, stream: bool) -> dict[str, Any]:
        """The system prompt is a field of its own."""
        del stream
        opening = [ViewMessage(None, SystemMessage(content=request.system))] if request.system else []
        rendered = gemini_request([*opening, *request.messages], self.provider, signs_all=self._signs_all)
        generation: dict[str, Any] = {"maxOutputTokens": max_tokens}
        if request.temperature is not None:
            generation["temperature"] = request.temperature
        thinking: dict[str, Any] = {"includeThoughts": True} if self._asks_thoughts else {}
        if request.thinking_level is not None and self._takes_budget:
            thinking["thinkingBudget"] = BUDGETS[request.thinking_level]
        if thinking:
            generation["thinkingConfig"] = thinking
        body: dict[str, Any] = {"contents": rendered.contents, "generationConfig": generation}
        if rendered.system:
            body["systemInstruction"] = {"parts": [{"text": rendered.system}]}
        if request.tools:
            body["tools"] = [{"functionDeclarations": [_tool(tool) for tool in request.tools]}]
        return body

    def reader(self, builder: AnswerBuilder) -> "ContentReader":
        """A reader of one answer."""
        return ContentReader(builder)

    def adapt(self, error_response: ErrorResponse, sent: dict[str, Any]) -> bool:
        """Leave out, or add, what the error names."""
        if error_response.status != HTTPStatus.BAD_REQUEST:
            return False
        if not self._signs_all and _SIGNATURE.search(error_response.message):
            self._signs_all = True
            return True
        thinking = sent["generationConfig"].get("thinkingConfig", {})
        if not thinking or not _THINKING.search(error_response.message):
            return False
        if "thinkingBudget" in thinking:
            self._takes_budget = False
        else:
            self._asks_thoughts = False
        return True


def make_dialect(model: str, is_own_endpoint: bool) -> GeminiDialect:  # noqa: FBT001, ARG001 - a DialectFactory
    """A DialectFactory; the endpoint makes no difference. A name may begin with `models/`, as listed."""
    return GeminiDialect(model.removeprefix("models/"))


def _tool(tool: Tool) -> dict[str, Any]:
    schema = tool.input_schema or {"type": "object", "properties": {}}
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": schema}


class ContentReader(AnswerReader):
    """Reads one answer: pieces that each look like a whole one."""

    def __init__(self, builder: AnswerBuilder) -> None:
        super().__init__(builder)
        self._usage: Usage | None = None

    def _event(self, event: Any) -> bool:
        self.whole(event)
        return True

    def whole(self, data: Any) -> None:
        """Take in a piece, or an answer that was not streamed."""
        if error := error_response_in(data, None):
            raise RefusedInStreamError(error)
        piece = as_object(data)
        self._model = as_text(piece.get("modelVersion"))[:LONGEST_NAME] or self._model
        self._usage = _usage(piece.get("usageMetadata")) or self._usage
        self._reason = as_text(at(piece, "promptFeedback", "blockReason")) or self._reason
        for candidate in objects(piece.get("candidates")):
            if as_count(candidate.get("index")) not in (0, None):
                continue
            self._understood = True
            for part in objects(at(candidate, "content", "parts")):
                self._part(part)
            self._reason = as_text(candidate.get("finishReason")) or self._reason

    def ending(self) -> Ending:
        """Raises AnswerFaultError for a part of an answer, for none, and where a filter stopped it."""
        reason = self._reason
        if reason is None:
            if not self._understood:
                raise AnswerFaultError("bad-answer", "sent no answer of Gemini's. Check baseUrl.")
            raise AnswerFaultError("cut-off", "broke off in the middle of the answer. Try again.")
        if reason in _BROKEN:
            raise AnswerFaultError("bad-answer", f"ended the answer with {reason}. Try again.")
        if reason not in _STOPS:
            raise AnswerFaultError("refused", "will not answer this: its content filter stopped the answer.")
        calls = self._builder.last_call and reason == "STOP"
        return Ending("toolUse" if calls else _STOPS[reason], self._usage, self._model)

    def _part(self, part: dict[str, Any]) -> None:
        text, call = as_text(part.get("text")), as_object(part.get("functionCall"))
        if part.get("thought") is True:
            self._builder.thinking(text)
        else:
            self._builder.text(text)
            if not call:
                self._builder.sign_text(as_text(part.get("thoughtSignature")))
        if call:
            opened = self._builder.open_call(as_text(call.get("id")), as_text(call.get("name")))
            self._builder.whole_arguments(opened, call.get("args"))
            self._builder.sign_call(opened, as_text(part.get("thoughtSignature")))


def _usage(value: Any) -> Usage | None:
    """Tokens by kind: thoughts are output; what was read from a cache is not counted as input too."""
    usage = as_object(value)
    prompt = as_count(usage.get("promptTokenCount"))
    if prompt is None:
        return None
    output = sum(as_count(usage.get(name)) or 0 for name in ("candidatesTokenCount", "thoughtsTokenCount"))
    cached = as_count(usage.get("cachedContentTokenCount")) or 0
    total = as_count(usage.get("totalTokenCount")) or prompt + output
    return Usage(input=max(0, prompt - cached), output=output, cache_read=cached, total_tokens=total)
