"""Cutting tool results on a branch of their own, end to end."""

from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, parallel_calls, tool, user

from coppice.recovery.truncation import LEAST_CHARS, LEAST_LIMIT

WINDOW = {"model": {"contextWindow": 8_000}, "tokens": {"counter": "estimate"}}
SMALL_RESERVE = {"reserveTokens": 1_000, "keepRecentTokens": 4_000, "maxSummaryTokens": 800}


@pytest.fixture
async def client(make_client: MakeClient) -> Client:
    made: Client = await make_client(WINDOW)
    return made


async def grown(client: Client, *entries: dict[str, Any]) -> tuple[str, list[str]]:
    made = await client.conversation()
    done = await client.ask("append", conversationId=made, entries=list(entries))
    return made, done["entryIds"]


async def view(client: Client, conversation: str) -> list[dict[str, Any]]:
    messages = (await client.ask("context", conversationId=conversation))["messages"]
    return list(messages)


def length(message: dict[str, Any]) -> int:
    return sum(len(block["text"]) for block in message["content"])


async def test_a_giant_result_is_cut_on_a_new_branch_and_the_old_one_stays(client: Client) -> None:
    made, ids = await grown(client, user("go"), *tool("c", "bash", {}, "x\n" * 50_000), assistant("done"))
    done = await client.ask("truncateToolResults", conversationId=made)
    assert (done["truncated"], done["truncatedCount"]) == (True, 1)
    assert done["leafId"] not in ids
    assert length((await view(client, made))[2]) <= 9_600
    path = (await client.ask("entries", conversationId=made))["entries"]
    assert path[1]["id"] == ids[1]
    assert path[2]["parentId"] == ids[1]
    assert not {entry["id"] for entry in path[2:]} & set(ids)
    old = (await client.ask("entries", conversationId=made, leafId=ids[-1]))["entries"]
    assert length(old[2]["message"]) == 100_000


async def test_a_second_truncation_finds_nothing(client: Client) -> None:
    made, _ = await grown(client, user("go"), *parallel_calls("a" * 50_000, "b" * 9_000, "c" * 9_000))
    first = await client.ask("truncateToolResults", conversationId=made)
    again = await client.ask("truncateToolResults", conversationId=made)
    assert (again["truncated"], again["leafId"]) == (False, first["leafId"])
    assert "too long" in again["reason"]


async def test_three_middling_results_lose_the_oldest_first(client: Client) -> None:
    made, _ = await grown(client, user("go"), *parallel_calls("a" * 9_000, "b" * 9_000, "c" * 9_000))
    done = await client.ask("truncateToolResults", conversationId=made)
    lengths = [length(message) for message in (await view(client, made))[2:]]
    assert done["truncatedCount"] == 1
    assert LEAST_CHARS <= lengths[0] <= LEAST_LIMIT
    assert lengths[1:] == [9_000, 9_000]


async def test_an_empty_conversation_has_nothing_to_truncate(client: Client) -> None:
    made = await client.conversation()
    done = await client.ask("truncateToolResults", conversationId=made)
    assert (done["truncated"], done["truncatedCount"], done["leafId"]) == (False, 0, None)


async def test_a_replayed_reply_s_count_is_not_the_size_of_the_shorter_view(client: Client) -> None:
    counted = assistant("done", usage={"input": 26_000, "output": 10})
    made, _ = await grown(client, user("go"), *tool("c", "bash", {}, "x" * 100_000), counted)
    assert (await client.ask("usage", conversationId=made))["tokens"] == 26_010
    await client.ask("truncateToolResults", conversationId=made)
    usage = await client.ask("usage", conversationId=made)
    assert usage["tokens"] < 2_500
    assert usage["source"] == "estimate"


async def test_a_count_from_before_the_cut_still_counts(client: Client) -> None:
    counted = assistant("", usage={"input": 3_000, "output": 10}, content=[{"type": "text", "text": "ok"}])
    made, _ = await grown(client, user("go"), counted, *tool("c", "bash", {}, "x" * 100_000))
    await client.ask("truncateToolResults", conversationId=made)
    usage = await client.ask("usage", conversationId=made)
    assert usage["source"] == "usage"
    assert 3_010 < usage["tokens"] < 5_600


async def test_a_pinned_result_stays_whole_and_pins_go_along(make_client: MakeClient) -> None:
    client = await make_client({"tokens": {"counter": "estimate"}})
    made, ids = await grown(
        client, user("go"), *parallel_calls("a" * 20_000, "b" * 20_000), assistant("noted")
    )
    await client.ask("pin", conversationId=made, entryId=ids[3], pinned=True)
    await client.ask("truncateToolResults", conversationId=made, contextWindow=8_000)
    assert [length(message) <= 9_600 for message in (await view(client, made))[2:4]] == [True, False]
    again = await client.ask("truncateToolResults", conversationId=made, contextWindow=8_000)
    assert again["truncated"] is False


async def test_a_compaction_in_the_replayed_part_keeps_the_same_entries(make_client: MakeClient) -> None:
    client = await make_client({**WINDOW, "compaction": SMALL_RESERVE})
    early = [entry for n in range(8) for entry in (user(f"step {n} " + "x" * 2_000), assistant("y" * 2_000))]
    made, _ = await grown(client, *early, user("go"), *tool("c", "bash", {}, "x" * 11_000), assistant("ok"))
    await client.ask("compact", conversationId=made)
    before = await view(client, made)
    await client.ask("append", conversationId=made, entries=[user("next")])
    await client.ask("truncateToolResults", conversationId=made)
    after = await view(client, made)
    assert [m["role"] for m in after] == [m["role"] for m in before] + ["user"]
    assert [m["content"] for m in after[:2]] == [m["content"] for m in before[:2]]
    cut = next(m for m in after if m["role"] == "toolResult")
    assert length(cut) <= 9_600


async def test_the_files_are_the_same_afterwards(client: Client) -> None:
    activity = {
        "type": "file_activity",
        "changes": [{"path": "notes.md", "kind": "modified", "source": "editor"}],
    }
    read = tool("r", "read", {"path": "src/a.py"}, "x" * 40_000)
    made, _ = await grown(client, user("go"), activity, *read, activity, assistant("read"), activity)
    before = await client.ask("files", conversationId=made)
    await client.ask("truncateToolResults", conversationId=made)
    after = await client.ask("files", conversationId=made)
    assert after["readFiles"] == before["readFiles"]
    assert after["modifiedFiles"] == before["modifiedFiles"]
    assert [r["writes"] for r in after["records"]] == [r["writes"] for r in before["records"]]


async def test_a_view_for_a_window_has_its_results_cut_and_stores_nothing(client: Client) -> None:
    made, ids = await grown(
        client, user("go"), *parallel_calls("x\n" * 50_000, "b" * 9_000, "c" * 9_000), assistant("done")
    )
    whole = await client.ask("context", conversationId=made)
    fitted = await client.ask("context", conversationId=made, contextWindow=8_000)
    assert fitted == await client.ask("context", conversationId=made, contextWindow=8_000)
    assert [message["role"] for message in fitted["messages"]] == [
        message["role"] for message in whole["messages"]
    ]
    assert length(whole["messages"][2]) == 100_000
    assert LEAST_CHARS <= length(fitted["messages"][2]) <= LEAST_LIMIT
    assert length(fitted["messages"][4]) == 9_000
    assert fitted["tokens"] < 8_000 < whole["tokens"]
    assert (await client.ask("conversation/get", conversationId=made))["conversation"]["leafId"] == ids[-1]
    assert await client.ask("context", conversationId=made, contextWindow=200_000) == whole
    stored = await client.ask("truncateToolResults", conversationId=made, contextWindow=8_000)
    assert stored["truncated"] is True
    cut = (await client.ask("context", conversationId=made))["messages"]
    assert [message.get("content") for message in cut] == [
        message.get("content") for message in fitted["messages"]
    ]


async def test_a_pinned_result_is_whole_in_a_view_for_a_window(make_client: MakeClient) -> None:
    client = await make_client({"tokens": {"counter": "estimate"}})
    made, ids = await grown(client, user("go"), *tool("c", "bash", {}, "x" * 50_000), assistant("done"))
    await client.ask("pin", conversationId=made, entryId=ids[2], pinned=True)
    fitted = await client.ask("context", conversationId=made, contextWindow=8_000)
    assert length(fitted["messages"][2]) == 50_000


async def test_an_empty_conversation_has_an_empty_view_for_a_window(client: Client) -> None:
    made = await client.conversation()
    shown = await client.ask("context", conversationId=made, contextWindow=4_000)
    assert (shown["messages"], shown["tokens"]) == ([], 0)
