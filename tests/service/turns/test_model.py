"""`coppice/model`: which model the settings name, and what is missing where none can answer."""

from typing import Any

import pytest
from conftest_service import MakeClient

OPENAI = {"provider": "openai", "name": "m", "baseUrl": "http://127.0.0.1:9/v1", "contextWindow": 8_000}


async def test_the_model_of_the_settings_is_named(make_client: MakeClient) -> None:
    client = await make_client({"model": OPENAI})
    assert await client.ask("model") == {
        "provider": "openai",
        "name": "m",
        "contextWindow": 8_000,
        "thinkingLevels": ["off", "low", "medium", "high"],
        "models": [],
    }


@pytest.mark.parametrize(
    "model",
    [{}, {"provider": "openai"}],
    ids=["none", "no name"],
)
async def test_a_model_that_cannot_answer_has_a_problem(
    make_client: MakeClient, model: dict[str, Any]
) -> None:
    client = await make_client({"model": model})
    result = await client.ask("model")
    assert result["provider"] == model.get("provider", "none")
    assert result["problem"]
