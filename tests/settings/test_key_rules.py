"""Which environment variable a client may have sent to which endpoint."""

from typing import Any

import pytest

from coppice.settings.layers import (
    Layer,
    command_line_layer,
    editor_layer,
    request_layer,
    resolve,
    user_layer,
    workspace_layer,
)

OPENAI = "https://api.openai.com/v1"
OTHER = "https://models.example/v1"


def endpoint(variable: str | None = None, url: str | None = None, provider: str = "openai") -> dict[str, Any]:
    values = {"provider": provider, "apiKeyEnv": variable, "baseUrl": url}
    return {"model": {name: value for name, value in values.items() if value is not None}}


def variable_of(*layers: Layer) -> tuple[str | None, list[str]]:
    settings, problems = resolve(*layers)
    return settings.model.api_key_env, problems


@pytest.mark.parametrize(
    "layers",
    [
        [editor_layer(endpoint("MY_API_KEY", OTHER))],
        [editor_layer(endpoint("OPENAI_API_KEY"))],
        [editor_layer(endpoint("OPENAI_API_KEY", OPENAI))],
        [editor_layer(endpoint("ANTHROPIC_API_KEY", provider="anthropic"))],
        [user_layer({"apiKeys": {"allow": ["TOKEN"]}}), editor_layer(endpoint("TOKEN", OTHER))],
        [
            user_layer({"apiKeys": {"allow": ["OPENAI_API_KEY"]}}),
            editor_layer(endpoint("OPENAI_API_KEY", OTHER)),
        ],
        [user_layer(endpoint("SECRET", OTHER)), editor_layer({"model": {"name": "large"}})],
        [user_layer(endpoint("SECRET", OTHER)), editor_layer(endpoint(url=OTHER))],
        [user_layer(endpoint("OPENAI_API_KEY", OTHER))],
        [command_line_layer(endpoint("TOKEN", OTHER))],
        [command_line_layer(endpoint("OPENAI_API_KEY", OTHER))],
    ],
)
def test_a_key_goes_to_the_endpoint_that_it_was_set_for(layers: list[Layer]) -> None:
    variable, problems = variable_of(*layers)
    assert problems == []
    assert variable is not None


@pytest.mark.parametrize("variable", ["HOME", "AWS_SECRET_ACCESS_KEY", "_API_KEY_OF_MINE"])
def test_a_client_cannot_name_another_variable(variable: str) -> None:
    assert variable_of(editor_layer(endpoint(variable, OTHER)))[0] is None
    name_of_key, problems = variable_of(
        user_layer(endpoint("SECRET", OTHER)), editor_layer(endpoint(variable, OTHER))
    )
    assert name_of_key == "SECRET"
    assert "apiKeys.allow" in problems[0]


@pytest.mark.parametrize(
    "layers",
    [
        [editor_layer(endpoint("OPENAI_API_KEY", OTHER))],
        [editor_layer(endpoint("OPENAI_API_KEY", "http://127.0.0.1:9/v1"))],
        [editor_layer(endpoint("OPENAI_API_KEY", "https://api.openai.com@evil.example/v1"))],
        [editor_layer(endpoint("OPENAI_API_KEY", "https://[", provider="openai"))],
        [editor_layer(endpoint("ANTHROPIC_API_KEY"))],
        [user_layer(endpoint("SECRET", OTHER)), editor_layer(endpoint(url="https://evil.example/v1"))],
        [user_layer(endpoint("OPENAI_API_KEY")), editor_layer(endpoint(url="https://evil.example/v1"))],
        [user_layer(endpoint("SECRET", OTHER)), editor_layer({"model": {"provider": "anthropic"}})],
        [user_layer(endpoint("SECRET", OTHER)), command_line_layer(endpoint(url="https://other.example/v1"))],
    ],
)
def test_a_client_cannot_send_a_key_to_another_endpoint(layers: list[Layer]) -> None:
    variable, problems = variable_of(*layers)
    assert variable is None
    assert any("is for another endpoint" in problem for problem in problems)


def test_the_summarizers_key_is_held_to_the_same_rules() -> None:
    theirs = {"summarizer": {"provider": "openai", "baseUrl": OTHER, "apiKeyEnv": "OPENAI_API_KEY"}}
    assert resolve(editor_layer(theirs))[0].summarizer.api_key_env is None


def configured(variable: str, url: str | None = None, provider: str = "openai") -> dict[str, Any]:
    return {"models": {"Mine": endpoint(variable, url, provider)["model"]}}


@pytest.mark.parametrize(
    "layers",
    [
        [editor_layer(configured("MY_API_KEY", OTHER))],
        [editor_layer(configured("OPENAI_API_KEY"))],
        [editor_layer(configured("ANTHROPIC_API_KEY", provider="anthropic"))],
        [user_layer({"apiKeys": {"allow": ["TOKEN"]}}), editor_layer(configured("TOKEN", OTHER))],
        [user_layer(configured("SECRET", OTHER))],
    ],
)
def test_a_configured_model_has_its_key(layers: list[Layer]) -> None:
    settings, problems = resolve(*layers)
    assert problems == []
    assert settings.models["Mine"].api_key_env is not None


@pytest.mark.parametrize(
    "values",
    [
        configured("HOME", OTHER),
        configured("OPENAI_API_KEY", OTHER),
        configured("OPENAI_API_KEY", "https://api.openai.com@evil.example/v1"),
        configured("ANTHROPIC_API_KEY"),
    ],
)
def test_a_clients_configured_model_with_anothers_key_is_ignored(values: dict[str, Any]) -> None:
    settings, problems = resolve(user_layer({}), editor_layer(values))
    assert settings.models == {}
    assert problems[0].startswith("models.Mine: ")


def test_a_checkout_neither_adds_a_configured_model_nor_changes_one() -> None:
    mine = user_layer(configured("SECRET", OTHER))
    theirs = {"models": {"Mine": {"provider": "openai", "baseUrl": "https://evil.example/v1"}, "New": {}}}
    settings, problems = resolve(mine, workspace_layer(theirs), request_layer(theirs))
    assert list(settings.models) == ["Mine"]
    assert (settings.models["Mine"].base_url, settings.models["Mine"].api_key_env) == (OTHER, "SECRET")
    assert len(problems) == 4
