from typing import Any

import pytest
from models.provider_replies import answer, hang_before_headers, hurried
from summarizers.asking import KEY, PROVIDERS, Provider, asked, model_at, request

from coppice.models.chat import ModelLimits
from coppice.models.providers.deadlines import Deadlines
from coppice.models.providers.windows import listed_model, served_limits


def listing(**entry: Any) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": "other"}, {"id": "small-model", **entry}]}


@pytest.mark.parametrize(
    ("entry", "window", "output"),
    [
        ({"max_model_len": 32768, "owned_by": "vllm"}, 32768, None),
        ({"context_window": 131072, "max_completion_tokens": 32768}, 131072, 32768),
        ({"context_length": 65536}, 65536, None),
        (
            {
                "context_length": 200000,
                "top_provider": {"context_length": 131000, "max_completion_tokens": 8192},
            },
            131000,
            8192,
        ),
        ({"max_context_length": 128000}, 128000, None),
        ({"max_context_length": 2**31 - 1}, 100_000_000, None),
        ({"meta": {"n_ctx": 8192, "n_ctx_train": 131072}}, 8192, None),
        ({"meta": {"n_ctx_train": 131072}}, 131072, None),
        ({"max_input_tokens": 200000, "max_tokens": 64000}, 200000, 64000),
        ({"capabilities": {"limits": {"max_context_window_tokens": 128000}}}, 128000, None),
    ],
)
async def test_a_window_is_read_from_the_listing(
    entry: dict[str, Any], window: int, output: int | None
) -> None:
    async with asked("openai", pages={"/v1/models": listing(**entry)}) as (model, server):
        assert await model.limits() == ModelLimits(window, output, "server")
        assert await model.limits() == ModelLimits(window, output, "server")
    assert [each.path for each in server.asked].count("/v1/models") == 1
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("pages", "window"),
    [
        ({"/props": {"default_generation_settings": {"n_ctx": 4352}}}, 4352),  # llama.cpp
        (
            {"/api/v0/models": listing(max_context_length=131072, loaded_context_length=8192)},
            8192,
        ),  # LM Studio
        ({"/api/ps": {"models": [{"name": "small-model:latest", "context_length": 16384}]}}, 16384),  # Ollama
        ({"/api/ps": {"models": []}}, 4096),
        ({"/api/ps": {"models": [{"name": "another", "context_length": 16384}]}}, 4096),
    ],
)
async def test_the_window_that_is_loaded_counts(pages: dict[str, Any], window: int) -> None:
    pages = {"/v1/models": listing(meta={"n_ctx_train": 262144}), **pages}
    async with asked("openai", pages=pages) as (model, _):
        assert await model.limits() == ModelLimits(window, None, "server")


async def test_the_settings_window_needs_no_question() -> None:
    async with asked("openai", pages={"/v1/models": listing(context_length=5)}, contextWindow=9000) as (
        model,
        server,
    ):
        assert await model.limits() == ModelLimits(9000, None, "settings")
    assert server.asked == []


@pytest.mark.parametrize(
    "page",
    [
        None,
        [],
        {"data": "none"},
        {"data": [{"id": "small-model", "context_length": "long"}]},
        {"data": [{"id": "small-model", "context_length": -1}, {"id": "b"}]},
        {"data": [{"id": "small-model", "context_length": True}, {"id": "b"}]},
        "x" * 5_000_000,
    ],
    ids=["404", "empty", "text", "word", "negative", "true", "5 MB"],
)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_server_that_tells_nothing_leaves_the_default(provider: Provider, page: Any) -> None:
    async with asked(provider, pages={"/v1/models": page}) as (model, _):
        assert await model.limits() == ModelLimits(200_000, None, "default")


async def test_a_server_that_hangs_leaves_the_default_in_time() -> None:
    pages = {"/v1/models": hurried(hang_before_headers)}
    async with asked("openai", pages=pages, deadlines=Deadlines()) as (model, server):
        assert (await model.limits()).source == "default"
        assert (await model.limits()).source == "default"
    assert len(server.asked) == 1


async def test_no_key_and_no_server_leave_the_default() -> None:
    model = model_at("http://127.0.0.1:9/v1", environ={}, apiKeyEnv="MISSING")
    assert (await model.limits()).source == "default"
    await model.close()


async def test_the_server_s_longest_answer_bounds_the_request() -> None:
    page = listing(context_length=8192, max_output_tokens=300)
    async with asked("openai", answer("ok"), pages={"/v1/models": page}) as (model, server):
        await model.limits()
        await model.complete(request(max_tokens=4000))
    assert server.requests[0].body["max_tokens"] == 300


async def test_a_provider_s_own_address_is_asked_for_its_listing_alone() -> None:
    asked_for: list[str] = []

    async def ask(url: str) -> Any:
        asked_for.append(url)
        return listing()

    assert await served_limits("https://x/v1", "/models", "small-model", ask, has_own_addresses=False) is None
    assert asked_for == ["https://x/v1/models"]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ({"data": [{"id": "a"}, {"id": "m"}]}, {"id": "m"}),
        ([{"id": "a"}, {"id": "m"}], {"id": "m"}),
        ({"models": [{"name": "a"}, {"name": "m:latest"}]}, {"name": "m:latest"}),
        ({"data": [{"id": "/models/file.gguf"}]}, {"id": "/models/file.gguf"}),
        ({"id": "m", "type": "model"}, {"id": "m", "type": "model"}),
        ({"data": [{"id": "a"}, {"id": "b"}]}, {}),
        (None, {}),
    ],
)
def test_a_model_is_found_in_every_shape_of_listing(page: Any, expected: dict[str, Any]) -> None:
    assert listed_model(page, "m") == expected


@pytest.mark.parametrize(("provider", "query"), [("anthropic", "limit=1000"), ("gemini", "pageSize=1000")])
async def test_all_models_are_asked_for_where_a_page_has_few(provider: Provider, query: str) -> None:
    async with asked(provider) as (model, server):
        await model.limits()
    assert server.asked[0].path == f"/v1/models?{query}"
