"""Whether a failed model request failed because it does not fit the model's window.

A status or a code decides where it can. Then messages that speak of something else are set aside: a limit of
tokens a minute, an empty account. Last come the words that providers use; each line below names
whose they are. Providers change them, so users can add phrases of their own (`overflow.phrases`).
"""

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

_OVERFLOW_CODES: Final = frozenset(
    {
        "context_length_exceeded",  # OpenAI, Azure, Groq, Cerebras, LM Studio, llama-cpp-python
        "context_window_exceeded",  # LiteLLM
        "contextwindowexceedederror",  # LiteLLM
        "exceed_context_size_error",  # llama.cpp
        "model_context_window_exceeded",  # z.ai, Anthropic
        "model_max_prompt_tokens_exceeded",  # GitHub Copilot
        "request_too_large",  # Anthropic, by bytes
        "1261",  # z.ai
    }
)
_OTHER_CODES: Final = frozenset(
    {
        "authentication_error",
        "billing_error",
        "billing_hard_limit_reached",
        "insufficient_quota",
        "invalid_api_key",
        "model_not_found",
        "not_found_error",
        "overloaded_error",
        "permission_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "resource_exhausted",
        "throttlingexception",
    }
)
_OTHER_STATUSES: Final = frozenset({401, 402, 403, 404, 407, 408, 409, 425, 429, 529})

_SOMETHING_ELSE: Final = re.compile(
    r"""
      rate.?limit | too\ many\ requests | throttl | overloaded
    | \bper[-\ ](?:second|min|hour|day|month) | \b(?:daily|hourly|weekly|monthly)\b
    | \b[TR]P[MD]\b
    | wait\ before\ trying\ again | try\ again\ (?:in|later) | retry\ (?:in|after)\b
    | quota | insufficient\ (?:balance|credit|fund) | credit\ balance | more\ credits | can\ only\ afford
    | settings/credits | payment\ required
    """,
    re.IGNORECASE | re.VERBOSE,
)

_PHRASES: Final = re.compile(
    r"""
      prompt\ is\ too\ long                                              # Anthropic, Vertex
    | exceed\ context\ limit:                                            # Anthropic, with the answer
    | request_too_large | request\ exceeds\ the\ maximum\ size           # Anthropic, by bytes
    | input\ is\ too\ long\ for\ requested\ model                        # Bedrock
    | too\ many\ input\ tokens | max(?:imum)?\ input\ token              # Bedrock
    | context[_ ]length[_ ]exceeded                                      # OpenAI, Azure, Groq
    | maximum\ context\ length                                           # OpenAI, Azure, vLLM, OpenRouter
    | exceeds?\ the\ (?:model'?s?\ )?context\ window                     # OpenAI's Responses
    | input\ tokens\ exceed\ the\ configured\ limit                      # OpenAI, Azure
    | input\ token\ count.{0,40}exceeds\ the\ maximum                    # Gemini
    | maximum\ prompt\ length                                            # xAI
    | reduce\ the\ length\ of\ the\ (?:messages|prompt|input)            # Groq, Cerebras, Together
    | token\ count\ of\ [\d,]+\ exceeds\ the\ limit\ of                  # GitHub Copilot
    | exceeds?\ the\ available\ context\ size                            # llama.cpp
    | tokens\ \([\d,]+\)\ exceed\ context\ window                        # llama-cpp-python
    | context\ length\ of\ only | greater\ than\ the\ context\ length    # LM Studio
    | context\ size\ has\ been\ exceeded                                # LM Studio
    | prompt\ too\ long;\ exceeded | input\ length\ exceeds\ the\ context\ length  # Ollama
    | context\ window\ exceeds\ limit                                    # MiniMax
    | exceeded\ model\ token\ limit                                      # Kimi
    | too\ large\ for\ model\ with\ [\d,]+\ maximum                      # Mistral
    | prompt\ exceeds\ max(?:imum)?\ length | model_context_window_exceeded  # z.ai
    | inputs`?\ tokens\ \+\ `?max_new_tokens`?\ must\ be                 # Hugging Face, Together
    | inputs`?\ must\ have\ less\ than\ [\d,]+\ tokens                   # Hugging Face, Together
    | ContextWindowExceededError                                         # LiteLLM
    | longer\ than\ the\ model'?s\ context\ length                       # SGLang
    | input\ length\ [\d,]+\ exceeds\ the\ maximum\ length               # Volcano Engine
    | range\ of\ input\ length\ should\ be                               # DashScope
    | must\ be\ less\ than\ max_seq_len                                  # SiliconFlow
    | too\ many\ tokens | token\ limit\ exceeded                          # proxies and gateways
    | 4(?:00|13)\ (?:status\ code\ )?\(no\ body\)                        # Cerebras, as SDKs report it
    """,
    re.IGNORECASE | re.VERBOSE,
)

_REPORTED_WINDOWS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"maximum (?:context|prompt) length (?:is|of) ([\d,]+)",
        r"maximum context length:? \(?([\d,]+)",
        r"tokens > ([\d,]+) maximum",
        r"exceed context limit: [\d,]+ \+ [\d,]+ > ([\d,]+)",
        r"exceed context window of ([\d,]+)",
        r"context length of only ([\d,]+)",
        r"too large for model with ([\d,]+) maximum",
        r"maximum number of tokens allowed \(([\d,]+)\)",
        r"exceeds? the (?:configured )?limit of ([\d,]+)",
        r"exceed the configured limit of ([\d,]+)",
        r"exceeded model token limit: ([\d,]+)",
        r"while limit is ([\d,]+)",
        r"max_new_tokens`? must be <= ([\d,]+)",
        r"must be less than max_seq_len \(([\d,]+)\)",
        r"\"?n_ctx\"?\s*[:=]\s*([\d,]+)",
    )
)
_SMALLEST_WINDOW: Final = 256  # tokens; no model has a smaller window
_MOST_DIGITS: Final = 15
"""Of a window, commas aside; what has more is as large as any."""
_MOST_CHARS: Final = 64_000
"""Of a message, which are looked at: as many as `coppice.models.providers` reads. The patterns hold the
interpreter, 0.5 s for a million characters."""


def is_overflow(
    status: int | None, code: str | None, message: str, extra_phrases: Sequence[str] = ()
) -> bool:
    """Whether a provider's refusal means that the request is too long for the model.

    `code` is the provider's own, its `error.code` or `error.type`; `message` is its text for people.
    `extra_phrases` are plain texts, found in any case.
    """
    message = message[:_MOST_CHARS]
    lowered_code = (code or "").lower()
    if lowered_code in _OVERFLOW_CODES:
        return True
    if lowered_code in _OTHER_CODES or status in _OTHER_STATUSES or _SOMETHING_ELSE.search(message):
        return False
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or _PHRASES.search(message):
        return True
    lowered = message.lower()
    return any(phrase.lower() in lowered for phrase in extra_phrases if phrase.strip())


def is_silent_overflow(request_tokens: int, context_window: int) -> bool:
    """Whether a model answered a request that does not fit its window: it has not read all of it.

    Some servers cut what is too long without a word; the usage of the answer is the only trace.
    """
    return request_tokens > context_window


def reported_window(message: str) -> int | None:
    """The window, in tokens, that an overflow message names; None when it names none."""
    for pattern in _REPORTED_WINDOWS:
        if match := pattern.search(message, 0, _MOST_CHARS):
            window = int(match[1].replace(",", "")[:_MOST_DIGITS] or 0)
            return window if window >= _SMALLEST_WINDOW else None
    return None
