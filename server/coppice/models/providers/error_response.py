"""Error responses of model servers, in the shapes that they are sent in."""

import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx

from coppice.json_values import as_count, as_object, as_text, at, objects
from coppice.models.providers.answer import LONGEST_MESSAGE
from coppice.models.providers.events import read_at_most

LONGEST_BODY: Final = 64_000
"""Bytes of an error that are read; the rest of it is dropped."""

_CODE_SHAPE: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,80}")
_TAGS: Final = re.compile(r"<[^<>]*>")
_SPACES: Final = re.compile(r"[\s\x00-\x1f\x7f]+")
_RETRY_IN: Final = re.compile(r"\b(?:re)?try (?:again )?in ([\d.]+) ?(ms|s|m)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """`status` is None within a stream that began well. `message` is the server's, one line, unredacted."""

    status: int | None
    code: str | None
    message: str
    retry_after: float | None = None
    window: int | None = None
    """The window in tokens, where the error names it in a field of its own (llama.cpp)."""


async def read_error_response(response: httpx.Response) -> ErrorResponse:
    """The error that `response` is; reads no more than `LONGEST_BODY` of it."""
    body = await read_at_most(response, LONGEST_BODY)
    error_response = error_response_of(response.status_code, body[:LONGEST_BODY].decode("utf-8", "replace"))
    pause = _retry_after(response.headers)
    return error_response if pause is None else replace(error_response, retry_after=pause)


def error_response_of(status: int | None, text: str) -> ErrorResponse:
    """What an error's body holds, whatever its form."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if data is None:
        return ErrorResponse(status, None, _one_line(_TAGS.sub(" ", text)))
    return error_response_in(data, status) or ErrorResponse(status, None, _one_line(text))


def error_response_in(data: Any, status: int | None) -> ErrorResponse | None:
    """The error in `data`, or None when there is none. `status` is None for what came with a 200.

    Shapes: `{"error": {message, code, type}}` (OpenAI, Anthropic and most others), `{"error": "…"}` (Ollama,
    Hugging Face), `[{"error": …}]` (Gemini), `{"object": "error", message, code}` (older vLLM, Mistral),
    `{"detail": …}` (FastAPI), `{"message": …}` (Bedrock), `{"base_resp": {status_code, status_msg}}`
    (MiniMax, with status 200).
    """
    if isinstance(data, list):
        data = next(objects(data), {})
    data = as_object(data)
    error = data.get("error")
    if isinstance(error, str) and error:
        return ErrorResponse(status, _code(data.get("error_type")), _one_line(error))
    if as_object(error):
        return _of_fields(as_object(error), status)
    if at(data, "base_resp", "status_code"):
        base = as_object(data["base_resp"])
        return ErrorResponse(status, _code(base["status_code"]), _one_line(as_text(base.get("status_msg"))))
    if data.get("object") == "error" or (status is not None and (data.get("message") or data.get("detail"))):
        return _of_fields(data, status)
    return None


def _of_fields(error: dict[str, Any], status: int | None) -> ErrorResponse:
    words = error.get("message") or error.get("detail") or error.get("code") or error.get("type") or ""
    message = words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)
    raw = at(error, "metadata", "raw")
    if isinstance(raw, str) and raw:
        message = f"{message}: {raw}"
    named_status = as_count(error.get("code"))
    if status is None and named_status is not None and 400 <= named_status < 600:  # noqa: PLR2004 - HTTP's own
        status = named_status
    codes = (_code(error.get("code")), _code(error.get("type")), _code(error.get("status")))
    named = [code for code in codes if code and not code.isdigit()]
    numbers = [code for code in codes if code and code.isdigit() and code != str(status)]
    return ErrorResponse(
        status,
        next(iter([*numbers, *named]), None),
        _one_line(message),
        _named_pause(message),
        as_count(error.get("n_ctx")),
    )


def _code(value: Any) -> str | None:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else as_text(value)
    return text if _CODE_SHAPE.fullmatch(text) else None


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()[:LONGEST_MESSAGE]


def _retry_after(headers: httpx.Headers) -> float | None:
    """Seconds from `retry-after-ms` or `retry-after`, the latter a number or a date (RFC 9110, 10.2.3)."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        when = parsedate_to_datetime(value)
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _named_pause(message: str) -> float | None:
    """The pause that OpenAI, Groq and Gemini write into the sentence itself."""
    match = _RETRY_IN.search(message)
    if match is None:
        return None
    number = _number(match[1].rstrip("."))
    return None if number is None else number * {"ms": 0.001, "s": 1, "m": 60}[match[2].lower()]
