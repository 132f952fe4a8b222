"""A client's model that answered a request larger than its window: it has not read all of it."""

import asyncio
from typing import Any

import pytest
from conftest_service import Client, GatedSummarizer, MakeClient, assistant, user
from waiting import PATIENCE

WINDOW = 8_000
SETTINGS = {"model": {"contextWindow": WINDOW}, "tokens": {"counter": "estimate"}}
ANSWER = {"message": "The answer makes no sense."}


@pytest.fixture
async def client(make_client: MakeClient) -> Client:
    made: Client = await make_client(SETTINGS)
    return made


def reply(tokens: int, **more: Any) -> dict[str, Any]:
    return assistant("What was the question?", usage={"input": tokens, "output": 20}, **more)


async def grown(client: Client, tokens: int = 9_000) -> tuple[str, str]:
    """A conversation of about so many tokens that ends with a question, and the question's id."""
    made = await client.conversation()
    entries = [each for _ in range(tokens // 500) for each in (user("u" * 1_000), assistant("a" * 1_000))]
    done = await client.ask("append", conversationId=made, entries=[*entries, user("Now the last thing.")])
    return made, str(done["leafId"])


async def stored(client: Client, made: str, entry: dict[str, Any]) -> str:
    return str((await client.ask("append", conversationId=made, entries=[entry]))["leafId"])


async def view(client: Client, made: str) -> list[Any]:
    return list((await client.ask("context", conversationId=made))["messages"])


async def test_a_stored_reply_is_left_out_of_the_view_and_its_request_made_smaller(client: Client) -> None:
    made, _ = await grown(client)
    answer = await stored(client, made, reply(9_100))
    done = await client.ask("recover", conversationId=made, error=ANSWER)
    assert (done["action"], done["strategy"], done["attempt"]) == ("retry", "compacted", 1)
    assert (await view(client, made))[-1]["content"] == "Now the last thing."
    assert (await client.ask("usage", conversationId=made))["tokens"] < WINDOW
    nodes = (await client.ask("tree", conversationId=made, limit=1000))["nodes"]
    assert [node["onCurrentPath"] for node in nodes if node["id"] == answer] == [False]
    (ended,) = client.notified("compactionEnded")
    assert (ended["reason"], ended["willRetry"]) == ("overflow", True)


async def test_a_reply_that_was_not_stored_is_recognized_by_its_usage(client: Client) -> None:
    made, question = await grown(client)
    error = {**ANSWER, "usage": {"input": 100, "cacheRead": 9_000, "output": 5}}
    done = await client.ask("recover", conversationId=made, error=error)
    assert (done["action"], done["strategy"]) == ("retry", "compacted")
    assert (await view(client, made))[-1]["entryId"] == question


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        (reply(8_000), ANSWER),
        (reply(9_100, stopReason="error", errorMessage="reset"), ANSWER),
        (reply(9_100), {**ANSWER, "status": 429}),
        (reply(9_100), {**ANSWER, "code": "rate_limit_exceeded"}),
        (assistant("No usage."), ANSWER),
        (assistant("No usage."), {**ANSWER, "usage": {"input": 100, "output": 9_000}}),
    ],
)
async def test_whatever_else_it_is_changes_nothing(
    client: Client, entry: dict[str, Any], error: dict[str, Any]
) -> None:
    made, _ = await grown(client)
    leaf = await stored(client, made, entry)
    done = await client.ask("recover", conversationId=made, error=error)
    assert (done["action"], done["leafId"]) == ("not-overflow", leaf)
    assert client.notified("compactionStarted") == []


async def test_where_no_better_reply_can_be_had_it_stays(client: Client) -> None:
    made = await client.conversation()
    await client.ask("append", conversationId=made, entries=[user("z" * 40_000)])
    leaf = await stored(client, made, reply(10_000))
    done = await client.ask("recover", conversationId=made, error=ANSWER)
    assert (done["action"], done["leafId"]) == ("fail", leaf)
    conversation = (await client.ask("conversation/get", conversationId=made))["conversation"]
    assert conversation["leafId"] == leaf


async def test_a_model_that_never_reads_all_is_not_asked_for_ever(client: Client) -> None:
    made, _ = await grown(client)
    attempts = []
    for _ in range(8):
        await stored(client, made, reply(9_100))
        done = await client.ask("recover", conversationId=made, error=ANSWER)
        if done["action"] == "fail":
            break
        attempts.append(done["attempt"])
    assert done["action"] == "fail"
    assert attempts == list(range(1, len(attempts) + 1))
    assert len(attempts) <= 4
    assert len(client.notified("compactionStarted")) <= 3


async def test_a_recovery_that_is_cancelled_leaves_the_reply_where_it_was(make_client: MakeClient) -> None:
    waiting = GatedSummarizer()
    client: Client = await make_client(SETTINGS, waiting)
    made, _ = await grown(client)
    leaf = await stored(client, made, reply(9_100))
    task = asyncio.create_task(client.ask("recover", conversationId=made, error=ANSWER))
    await asyncio.wait_for(waiting.begun.wait(), PATIENCE)
    await client.ask("cancel", conversationId=made)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, PATIENCE)
    conversation = (await client.ask("conversation/get", conversationId=made))["conversation"]
    assert conversation["leafId"] == leaf


async def test_the_check_before_the_next_prompt_sees_it_too(client: Client) -> None:
    made, _ = await grown(client)
    await stored(client, made, reply(9_100))
    done = await client.ask("preparePrompt", conversationId=made, prompt="Go on.")
    assert done["compacted"] is True
    assert done["usage"]["tokens"] < WINDOW
