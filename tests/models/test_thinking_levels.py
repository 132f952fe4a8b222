"""How each protocol is asked to think more or less, and what is sent where that is refused."""

from typing import Any

import pytest
from models.provider_replies import answer, error
from summarizers.asking import PROVIDERS, asked, request

from coppice.providers import THINKING_LEVELS, ThinkingLevel

FIELDS = ("reasoning_effort", "reasoning", "thinking", "output_config")


def about_thinking(body: dict[str, Any]) -> dict[str, Any]:
    fields = {name: body[name] for name in FIELDS if name in body}
    budget = body.get("generationConfig", {}).get("thinkingConfig", {}).get("thinkingBudget")
    return fields if budget is None else {**fields, "thinkingBudget": budget}


ASKED: dict[str, dict[ThinkingLevel, dict[str, Any]]] = {
    "openai": {
        "off": {"reasoning_effort": "none"},
        "low": {"reasoning_effort": "low"},
        "medium": {"reasoning_effort": "medium"},
        "high": {"reasoning_effort": "high"},
    },
    "openai-responses": {
        "off": {"reasoning": {"effort": "none"}},
        "low": {"reasoning": {"effort": "low"}},
        "medium": {"reasoning": {"effort": "medium"}},
        "high": {"reasoning": {"effort": "high"}},
    },
    "gemini": {
        "off": {"thinkingBudget": 0},
        "low": {"thinkingBudget": 1_024},
        "medium": {"thinkingBudget": 8_192},
        "high": {"thinkingBudget": 24_576},
    },
    "anthropic": {
        "off": {"thinking": {"type": "disabled"}},
        "low": {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
        "medium": {"thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}},
        "high": {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
    },
}
REFUSALS = {
    "openai": "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
    "openai-responses": "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    "gemini": "Thinking budget is not supported for this model.",
    "anthropic": "adaptive thinking is not supported on this model",
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("level", THINKING_LEVELS)
async def test_a_level_is_asked_for_in_the_words_of_the_protocol(provider: str, level: ThinkingLevel) -> None:
    async with asked(provider, answer("ok")) as (model, server):
        await model.complete(request(thinking_level=level))
    assert about_thinking(server.requests[0].body) == ASKED[provider][level]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_without_a_level_nothing_is_asked(provider: str) -> None:
    async with asked(provider, answer("ok")) as (model, server):
        await model.complete(request())
    assert about_thinking(server.requests[0].body) == {}


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_model_that_refuses_the_level_is_asked_without_it_from_then_on(provider: str) -> None:
    script = [error(400, REFUSALS[provider]), answer("ok"), answer("ok")]
    async with asked(provider, *script) as (model, server):
        for _ in range(2):
            assert (await model.complete(request(thinking_level="high"))).content
    assert [about_thinking(each.body) for each in server.requests] == [ASKED[provider]["high"], {}, {}]


async def test_an_older_model_of_anthropics_thinks_in_a_budget_of_half_the_answer() -> None:
    script = [error(400, REFUSALS["anthropic"]), answer("ok"), answer("ok"), answer("ok")]
    async with asked("anthropic", *script) as (model, server):
        for most in (100_000, 8_000, 2_000):
            await model.complete(request(thinking_level="high", max_tokens=most))
    sent = [about_thinking(each.body).get("thinking") for each in server.requests[1:]]
    assert sent == [
        {"type": "enabled", "budget_tokens": 24_576},
        {"type": "enabled", "budget_tokens": 4_000},
        None,
    ]


async def test_a_model_of_anthropics_that_takes_neither_is_asked_for_no_thinking() -> None:
    refused = error(400, "thinking: Extra inputs are not permitted")
    async with asked("anthropic", refused, refused, answer("ok"), answer("ok")) as (model, server):
        for _ in range(2):
            await model.complete(request(thinking_level="high", max_tokens=100_000))
    assert [len(about_thinking(each.body)) for each in server.requests] == [2, 1, 0, 0]
