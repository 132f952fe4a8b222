"""A configured model that is chosen for a conversation: who is asked, what is recorded, who cannot choose."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client, MakeClient, user
from models.provider_replies import answer
from models.provider_server import Exchange, ProviderServer

from coppice.errors import ConversationBusyError, NoModelError

PRICES = {"input": 1.0, "cachedInput": 0.1, "cacheWrite": 1.25, "output": 4.0, "currency": "€"}


def settings(usual: str, fast: str) -> dict[str, Any]:
    return {
        "model": {"provider": "openai", "name": "usual", "baseUrl": usual, "contextWindow": 100_000},
        "models": {
            "Fast": {
                "provider": "anthropic",
                "name": "fast",
                "baseUrl": fast,
                "contextWindow": 50_000,
                "prices": PRICES,
            }
        },
    }


async def choose(client: Client, made: str, model: str | None, level: str | None = None) -> dict[str, Any]:
    chosen = await client.ask("conversation/setModel", conversationId=made, model=model, thinkingLevel=level)
    conversation: dict[str, Any] = chosen["conversation"]
    return conversation


async def path_of(client: Client, made: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = (await client.ask("entries", conversationId=made))["entries"]
    return entries


async def test_the_models_of_the_settings_are_listed(make_client: MakeClient) -> None:
    client = await make_client(settings("http://127.0.0.1:9/v1", "http://127.0.0.1:9"))
    (fast,) = (await client.ask("model"))["models"]
    assert fast == {
        "id": "Fast",
        "provider": "anthropic",
        "name": "fast",
        "contextWindow": 50_000,
        "thinkingLevels": ["off", "low", "medium", "high"],
        "prices": PRICES,
    }


async def test_the_chosen_model_answers_and_the_choice_is_recorded(make_client: MakeClient) -> None:
    async with (
        ProviderServer([answer("Usual.")]) as usual,
        ProviderServer([answer("Fast.")]) as fast,
    ):
        client = await make_client(settings(usual.url, fast.url))
        made = await client.conversation("Hello")
        conversation = await choose(client, made, "Fast", "high")
        assert (conversation["model"], conversation["thinkingLevel"]) == ("Fast", "high")
        assert "model" in client.notified("conversationChanged")[-1]["changes"]
        assert client.notified("usageChanged")[-1]["usage"]["contextWindow"] == 50_000
        await client.ask("prompt", conversationId=made, content="Who are you?")
        (request,) = fast.requests
        assert (request.body["model"], request.body["output_config"]) == ("fast", {"effort": "high"})
        conversation = await choose(client, made, None)
        assert "model" not in conversation
        await client.ask("prompt", conversationId=made, content="And now?")
        assert [request.body["model"] for request in usual.requests] == ["usual"]
        assert "reasoning_effort" not in usual.requests[0].body
    changes = [entry for entry in await path_of(client, made) if entry["type"].endswith("_change")]
    assert [(each.get("modelId"), each.get("thinkingLevel")) for each in changes] == [
        ("fast", None), (None, "high"), ("usual", None), (None, "default"),
    ]  # fmt: skip


async def test_the_same_choice_is_recorded_once(make_client: MakeClient) -> None:
    client = await make_client(settings("http://127.0.0.1:9/v1", "http://127.0.0.1:9"))
    made = await client.conversation("Hello")
    first = await choose(client, made, "Fast")
    assert await choose(client, made, "Fast") == first
    assert [entry["type"] for entry in await path_of(client, made)] == ["message", "model_change"]


async def test_a_model_that_the_settings_do_not_have_is_refused(make_client: MakeClient) -> None:
    client = await make_client(settings("http://127.0.0.1:9/v1", "http://127.0.0.1:9"))
    made = await client.conversation("Hello")
    with pytest.raises(NoModelError, match="It has Fast"):
        await choose(client, made, "Slow")
    assert len(await path_of(client, made)) == 1


async def test_without_the_chosen_model_the_usual_one_answers(make_client: MakeClient) -> None:
    client = await make_client(settings("http://127.0.0.1:9/v1", "http://127.0.0.1:9"))
    made = await client.conversation("Hello")
    await choose(client, made, "Fast")
    other = await make_client({**settings("http://127.0.0.1:9/v1", "x"), "models": {}})
    assert (await other.ask("usage", conversationId=made))["contextWindow"] == 100_000
    assert (await client.ask("usage", conversationId=made))["contextWindow"] == 50_000


async def test_no_model_is_chosen_while_a_turn_runs(make_client: MakeClient) -> None:
    asked, goes_on = asyncio.Event(), asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        asked.set()
        await goes_on.wait()
        await answer("Done.")(exchange)

    async with ProviderServer([slow]) as server:
        client = await make_client(settings(server.url, "http://127.0.0.1:9"))
        made = await client.conversation()
        turn = asyncio.create_task(client.ask("prompt", conversationId=made, content="Go."))
        await asked.wait()
        with pytest.raises(ConversationBusyError):
            await choose(client, made, "Fast")
        goes_on.set()
        assert (await turn)["stopReason"] == "stop"


async def test_a_fork_keeps_the_choice_and_an_import_makes_none(
    make_client: MakeClient, tmp_path: Path
) -> None:
    client = await make_client(settings("http://127.0.0.1:9/v1", "http://127.0.0.1:9"))
    made = await client.conversation("Hello")
    await choose(client, made, "Fast", "low")
    leaf = (await path_of(client, made))[-1]["id"]
    fork = (await client.ask("conversation/fork", conversationId=made, entryId=leaf))["conversation"]
    assert (fork["model"], fork["thinkingLevel"]) == ("Fast", "low")
    exported = (await client.ask("conversation/export", conversationId=made, format="coppice"))["content"]
    assert any(json.loads(line).get("modelId") == "fast" for line in exported.splitlines())
    imported = (await client.ask("conversation/import", content=exported))["conversation"]
    assert "model" not in imported
    assert (await client.ask("usage", conversationId=imported["id"]))["contextWindow"] == 100_000


async def test_an_appended_entry_makes_no_choice(make_client: MakeClient) -> None:
    client = await make_client(settings("http://127.0.0.1:9/v1", "http://127.0.0.1:9"))
    made = await client.conversation("Hello")
    change = {"type": "model_change", "provider": "anthropic", "modelId": "fast"}
    await client.ask("append", conversationId=made, entries=[change, user("more")])
    assert "model" not in (await client.ask("conversation/get", conversationId=made))["conversation"]
