"""Each message of `provider_messages.json` is as its provider sends it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.recovery.overflow import is_overflow, reported_window

MESSAGES = json.loads(Path(__file__).with_name("provider_messages.json").read_text(encoding="utf-8"))
OVERFLOWS: list[dict[str, Any]] = MESSAGES["overflow"]
OTHERS: list[dict[str, Any]] = MESSAGES["other"]
NAMED_PROVIDERS = (
    "Anthropic Bedrock OpenAI Azure Gemini xAI Groq OpenRouter Copilot llama.cpp LM_Studio Ollama MiniMax"
    " Kimi Mistral z.ai Cerebras Hugging_Face LiteLLM Together"
)


@pytest.mark.parametrize("provider", NAMED_PROVIDERS.split())
def test_every_provider_in_use_has_a_message(provider: str) -> None:
    assert any(provider.replace("_", " ") in row["provider"] for row in OVERFLOWS)


@pytest.mark.parametrize("row", OVERFLOWS, ids=[row["provider"] for row in OVERFLOWS])
def test_a_provider_s_own_words_for_a_full_window_are_known(row: dict[str, Any]) -> None:
    assert is_overflow(row["status"], row["code"], row["message"])


@pytest.mark.parametrize(
    "message", [row["message"] for row in OVERFLOWS if row["message"] and "Entity" not in row["message"]]
)
def test_the_words_alone_are_enough(message: str) -> None:
    assert is_overflow(None, None, message)
    assert is_overflow(None, None, message.upper())


@pytest.mark.parametrize("row", OTHERS, ids=[row["what"] for row in OTHERS])
def test_what_only_looks_like_it_is_no_overflow(row: dict[str, Any]) -> None:
    assert not is_overflow(row["status"], row["code"], row["message"])


@pytest.mark.parametrize("status", [401, 402, 403, 404, 429])
def test_a_status_that_means_something_else_outweighs_the_words(status: int) -> None:
    assert not is_overflow(status, None, "prompt is too long: 213462 tokens > 200000 maximum")


def test_a_code_outweighs_a_status() -> None:
    assert is_overflow(429, "context_length_exceeded", "Too many requests")


def test_a_user_s_phrase_is_found_in_any_case() -> None:
    assert not is_overflow(400, None, "El contexto está LLENO.")
    assert is_overflow(400, None, "El contexto está LLENO.", ["contexto está lleno"])


def test_an_empty_phrase_matches_nothing() -> None:
    assert not is_overflow(400, None, "Bad request", ["", "  "])


def test_a_user_s_phrase_does_not_make_a_rate_limit_an_overflow() -> None:
    assert not is_overflow(429, None, "too large for now", ["too large"])


@pytest.mark.parametrize("row", OVERFLOWS, ids=[row["provider"] for row in OVERFLOWS])
def test_the_window_is_read_from_the_words(row: dict[str, Any]) -> None:
    assert reported_window(row["message"]) == row["window"]


@given(st.one_of(st.none(), st.integers()), st.one_of(st.none(), st.text()), st.text(), st.lists(st.text()))
def test_no_message_breaks_the_judgement(
    status: int | None, code: str | None, message: str, phrases: list[str]
) -> None:
    assert is_overflow(status, code, message, phrases) in (True, False)
    window = reported_window(message)
    assert window is None or window > 0


def test_a_window_of_any_number_of_digits_is_a_number() -> None:
    assert reported_window(f"{'9' * 5_000} tokens > {'9' * 5_000} maximum") == 10**15 - 1


def test_of_a_message_of_any_length_the_beginning_is_looked_at() -> None:
    words, filling = "tokens > 8,192 maximum; prompt is too long", "x" * 64_000
    assert is_overflow(None, None, words + filling)
    assert reported_window(words + filling) == 8_192
    assert not is_overflow(None, None, filling + words)
    assert reported_window(filling + words) is None
    assert not is_overflow(None, None, filling + "My own words", ["my own words"])
