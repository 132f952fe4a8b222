"""What summaries took that were written and not taken."""

from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, user
from waiting import until

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.errors import SummaryRejectedError

WINDOW: dict[str, Any] = {
    "model": {"contextWindow": 20_000},
    "tokens": {"counter": "estimate"},
    "compaction": {"keepRecentTokens": 2_000, "clear": {"enabled": False}},
}


class PaidSummarizer:
    """Writes `text`, for a request with 100 tokens."""

    text = "## Goal\nThe parser."

    async def summarize(self, _: SummaryRequest) -> WrittenSummary:
        return WrittenSummary(self.text, "m", details={"requests": 1, "tokens": {"input": 100, "output": 9}})


async def worked(client: Client, turns: int) -> str:
    made = await client.conversation()
    entries = [entry for _ in range(turns) for entry in (user("u" * 2_000), assistant("a" * 2_000))]
    await client.ask("append", conversationId=made, entries=entries)
    return made


async def inputs(client: Client, made: str) -> tuple[int, int]:
    """What all summaries took, and those that were not taken."""
    spent = (await client.ask("usage", conversationId=made, spent=True))["spent"]
    return spent["whole"]["input"], spent["unused"]["input"]


async def test_one_that_is_stored_is_used(make_client: MakeClient) -> None:
    client = await make_client(WINDOW, PaidSummarizer())
    made = await worked(client, 8)
    await client.ask("compact", conversationId=made)
    assert await inputs(client, made) == (100, 0)


async def test_a_draft_is_unused(make_client: MakeClient) -> None:
    client = await make_client(WINDOW, PaidSummarizer())
    made = await worked(client, 8)
    before = await client.ask("context", conversationId=made)
    await client.ask("compact", conversationId=made, draft=True)
    assert await inputs(client, made) == (100, 100)
    assert await client.ask("context", conversationId=made) == before


async def test_a_rejected_one_is_unused(make_client: MakeClient) -> None:
    summarizer = PaidSummarizer()
    client = await make_client(WINDOW, summarizer)
    made = await worked(client, 8)
    summarizer.text = " "
    with pytest.raises(SummaryRejectedError):
        await client.ask("compact", conversationId=made)
    assert await inputs(client, made) == (100, 100)


@pytest.mark.parametrize(("wishes", "unused"), [({}, 0), ({"instructions": "The names."}, 100)])
async def test_one_of_the_background_is_unused_where_another_is_taken(
    make_client: MakeClient, wishes: dict[str, str], unused: int
) -> None:
    client = await make_client(WINDOW, PaidSummarizer())
    usage = await client.ask("usage", conversationId=await client.conversation())
    made = await worked(client, int(usage["thresholdTokens"] * 0.9) // 1_000)
    await client.ask("preparePrompt", conversationId=made)
    ahead = client.service.compacting.ahead

    await until(lambda: ahead.status(made) == "ready")
    await client.ask("compact", conversationId=made, **wishes)
    assert await inputs(client, made) == (100 + unused, unused)


async def test_a_draft_leaves_the_leaf_where_it_was(make_client: MakeClient) -> None:
    client = await make_client(WINDOW, PaidSummarizer())
    made = await worked(client, 8)
    path = await client.ask("entries", conversationId=made)
    await client.ask("compact", conversationId=made, draft=True)
    await client.ask(
        "append", conversationId=made, entries=[user("x")], expectedLeafId=path["entries"][-1]["id"]
    )
    assert await inputs(client, made) == (100, 100)
