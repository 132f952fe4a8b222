"""Whether a summary is begun in the background, or old tool results are cleared instead."""

from typing import Any
from unittest.mock import AsyncMock

import pytest
from conftest_service import Client, GatedSummarizer, MakeClient, assistant, tool
from service.recovery.test_compacting_ahead import statuses, work
from waiting import until

from coppice.errors import ModelFailedError
from coppice.tree.ids import new_entry_id

CLEARING: dict[str, Any] = {
    "model": {"contextWindow": 30_000},
    "tokens": {"counter": "estimate"},
    "compaction": {"keepRecentTokens": 2_000, "reserveTokens": 4_096},
}
OUTPUT = "an output of a command\n" * 400  # 2,300 tokens


def outputs(count: int, *, error: bool = False) -> list[dict[str, Any]]:
    """Calls with results of 2,300 tokens; those that failed are never cleared."""
    ids = [new_entry_id() for _ in range(count)]
    calls = [tool(each, "bash", {"command": f"make {each}"}, OUTPUT, error=error) for each in ids]
    return [entry for call in calls for entry in call]


async def test_none_is_begun_where_old_results_will_be_cleared_first(make_client: MakeClient) -> None:
    client = await make_client(CLEARING, GatedSummarizer())
    made = await client.conversation()
    await client.ask("append", conversationId=made, entries=[*work(17), *outputs(2), assistant("Done.")])
    for turns in (3, 1):
        done = await client.ask("preparePrompt", conversationId=made)
        assert done["usage"]["tokens"] > 0.8 * done["usage"]["thresholdTokens"]
        assert "contextEdit" not in done
        assert statuses(client) == []
        await client.ask("append", conversationId=made, entries=work(turns))
    assert "contextEdit" in await client.ask("preparePrompt", conversationId=made)
    assert statuses(client) == ["writing"]  # and now there is no other result to clear


async def test_where_no_result_can_be_cleared_one_is_begun(make_client: MakeClient) -> None:
    client = await make_client(CLEARING, GatedSummarizer())
    made = await client.conversation()
    failures = outputs(2, error=True)
    await client.ask("append", conversationId=made, entries=[*work(17), *failures, assistant("It fails.")])
    assert "contextEdit" not in await client.ask("preparePrompt", conversationId=made)
    assert statuses(client) == ["writing"]


async def one_for_results_that_can_be_cleared_later(client: Client) -> str:
    """A conversation with a summary, to which results were appended that would be cleared without it."""
    made = await client.conversation()
    await client.ask("append", conversationId=made, entries=[*work(19), *outputs(1)])
    assert "contextEdit" not in await client.ask("preparePrompt", conversationId=made)
    await until(lambda: statuses(client) == ["writing", "ready"])
    await client.ask("append", conversationId=made, entries=[*outputs(1), *work(4)])
    return made


async def test_where_one_is_there_no_results_are_cleared(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer(is_open=True)
    client = await make_client(CLEARING, summarizer)
    made = await one_for_results_that_can_be_cleared_later(client)
    done = await client.ask("preparePrompt", conversationId=made)
    assert "contextEdit" not in done
    assert done["compacted"] is True
    assert len(summarizer.requests) == 1


async def test_after_a_compaction_that_did_not_help_results_are_cleared(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await make_client(CLEARING, GatedSummarizer(is_open=True))
    made = await one_for_results_that_can_be_cleared_later(client)
    monkeypatch.setattr(client.service.compacting, "compact", AsyncMock(side_effect=ModelFailedError("No.")))
    done = await client.ask("preparePrompt", conversationId=made)
    assert (done["compacted"], done["message"]) == (False, "No.")
    assert "contextEdit" in await client.ask("preparePrompt", conversationId=made)
