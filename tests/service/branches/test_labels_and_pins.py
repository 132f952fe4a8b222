"""Labels, pins, and compactions undone."""

from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, tool, user

from coppice.errors import ContextOverflowError, UnknownEntryError

SMALL = {"compaction": {"keepRecentTokens": 200}, "tokens": {"counter": "estimate"}}


@pytest.fixture
async def client(make_client: MakeClient) -> Client:
    made: Client = await make_client(SMALL)
    return made


async def long_conversation(client: Client) -> tuple[str, list[str]]:
    made = await client.conversation()
    entries: list[dict[str, Any]] = []
    for number in range(10):
        entries += [
            user(f"Question {number} " + "about it " * 30),
            *tool(f"c{number}", "read", {"path": f"f{number}"}, "y" * 300),
        ]
        entries.append(assistant(f"Answer {number} " + "because " * 30))
    done = await client.ask("append", conversationId=made, entries=entries)
    return made, done["entryIds"]


def text_of_view(view: dict[str, Any]) -> str:
    return "\n".join(str(message["content"]) for message in view["messages"])


async def test_an_empty_label_takes_the_name_away(client: Client) -> None:
    made, ids = await long_conversation(client)
    await client.ask("label", conversationId=made, entryId=ids[0], label="start")
    await client.ask("label", conversationId=made, entryId=ids[0], label=" ")
    nodes = (await client.ask("tree", conversationId=made))["nodes"]
    assert all("label" not in node for node in nodes)
    assert (await client.ask("conversation/get", conversationId=made))["conversation"]["leafId"] == ids[-1]


@pytest.mark.parametrize(
    ("index", "words"), [(0, "Question 0 about it"), (2, "yyyy"), (3, "Answer 0 because")]
)
async def test_a_pinned_entry_stays_verbatim_through_every_compaction(
    client: Client, index: int, words: str
) -> None:
    made, ids = await long_conversation(client)
    await client.ask("pin", conversationId=made, entryId=ids[index], pinned=True)
    first = await client.ask("compact", conversationId=made)
    view = await client.ask("context", conversationId=made)
    assert view["tokens"] == first["tokensAfter"]
    assert words in text_of_view(view)
    assert view["messages"][1]["entryId"] == ids[index]
    await client.ask("append", conversationId=made, entries=[user("more " * 200), assistant("yes " * 200)])
    await client.ask("compact", conversationId=made)
    assert words in text_of_view(await client.ask("context", conversationId=made))
    await client.ask("pin", conversationId=made, entryId=ids[index], pinned=False)
    after = await client.ask("context", conversationId=made)
    assert ids[index] not in [message.get("entryId") for message in after["messages"]]


async def test_a_pinned_summary_stays_when_another_takes_its_place(client: Client) -> None:
    made, _ = await long_conversation(client)
    first = (await client.ask("compact", conversationId=made))["entry"]
    await client.ask("pin", conversationId=made, entryId=first["id"], pinned=True)
    added = [user("more " * 200), assistant("yes " * 200), user("again " * 200), assistant("no " * 200)]
    await client.ask("append", conversationId=made, entries=added)
    await client.ask("compact", conversationId=made)
    view = await client.ask("context", conversationId=made)
    assert view["messages"][1]["entryId"] == first["id"]


async def test_a_pin_that_would_not_fit_is_refused_with_numbers(make_client: MakeClient) -> None:
    client = await make_client({**SMALL, "model": {"contextWindow": 20_000}})
    made = await client.conversation("z" * 80_000, "much")
    first = (await client.ask("entries", conversationId=made))["entries"][0]["id"]
    with pytest.raises(ContextOverflowError, match="20,000 tokens") as refusal:
        await client.ask("pin", conversationId=made, entryId=first, pinned=True)
    assert refusal.value.data["tokens"] == 20_000
    assert refusal.value.data["roomTokens"] < 20_000


async def test_what_says_nothing_to_a_model_cannot_be_pinned(client: Client) -> None:
    made = await client.conversation("a", "b")
    change = {"type": "model_change", "provider": "p", "modelId": "m"}
    added = await client.ask("append", conversationId=made, entries=[change])
    with pytest.raises(UnknownEntryError, match="not sent this entry"):
        await client.ask("pin", conversationId=made, entryId=added["entryIds"][0], pinned=True)


async def test_a_compaction_undone_gives_the_whole_view_back_with_the_work_done_since(client: Client) -> None:
    made, _ = await long_conversation(client)
    before = await client.ask("context", conversationId=made)
    entry = (await client.ask("compact", conversationId=made))["entry"]
    await client.ask("append", conversationId=made, entries=[user("since then"), assistant("indeed")])
    undone = await client.ask("undoCompaction", conversationId=made)
    view = await client.ask("context", conversationId=made)
    assert "compactionId" not in view
    assert view["messages"][: len(before["messages"])] == before["messages"]
    assert [message["role"] for message in view["messages"][len(before["messages"]) :]] == [
        "user",
        "assistant",
    ]
    assert view["messages"][-1]["entryId"] == undone["leafId"]
    ids = [node["id"] for node in (await client.ask("tree", conversationId=made, limit=1000))["nodes"]]
    assert entry["id"] in ids


async def test_a_compaction_can_be_undone_at_once(client: Client) -> None:
    made, ids = await long_conversation(client)
    await client.ask("compact", conversationId=made)
    assert await client.ask("undoCompaction", conversationId=made) == {"leafId": ids[-1]}


async def test_an_older_compaction_can_be_undone_and_the_newer_one_stays(client: Client) -> None:
    made, _ = await long_conversation(client)
    older = (await client.ask("compact", conversationId=made))["entry"]
    added = [user("more " * 200), assistant("yes " * 200), user("again " * 200), assistant("no " * 200)]
    await client.ask("append", conversationId=made, entries=added)
    newer = (await client.ask("compact", conversationId=made))["entry"]
    context = await client.ask("context", conversationId=made)
    await client.ask("undoCompaction", conversationId=made, compactionId=older["id"])
    view = await client.ask("context", conversationId=made)
    assert view["compactionId"] != newer["id"]
    assert text_of_view(view) == text_of_view(context)


async def test_without_a_compaction_there_is_nothing_to_undo(client: Client) -> None:
    made = await client.conversation("a", "b")
    with pytest.raises(UnknownEntryError, match="nothing to undo"):
        await client.ask("undoCompaction", conversationId=made)


async def test_an_entry_that_was_summarized_away_can_be_gone_back_to(client: Client) -> None:
    made, ids = await long_conversation(client)
    await client.ask("compact", conversationId=made)
    await client.ask("navigate", conversationId=made, targetId=ids[3])
    view = await client.ask("context", conversationId=made)
    assert [message["entryId"] for message in view["messages"]] == ids[:4]
