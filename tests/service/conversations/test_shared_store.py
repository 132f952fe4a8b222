"""The service on a PostgreSQL server that two of them share."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from conftest_service import Client, MakeClient, tool, turns, user
from postgres_server import PostgresServer, fresh_schema, missing_driver, postgres
from requirements import missing

from coppice.errors import CoppiceError, StaleLeafError
from coppice.protocol.navigation import SearchParams
from coppice.service.conversations.searching import Searching

__all__ = ["postgres"]


@pytest.fixture
def shared(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with fresh_schema(postgres) as url:
        monkeypatch.setenv("COPPICE_STORAGE_URL", url)
        yield url


@pytest.fixture
async def pair(shared: str, make_client: MakeClient) -> AsyncIterator[tuple[Client, Client]]:
    """Two windows on one workspace. They are closed before the schema goes."""
    assert shared
    made = await make_client(), await make_client()
    yield made
    for client in made:
        await client.service.close()


async def notified_of(client: Client, change: str, *, seconds: float = 100.0) -> dict[str, Any]:
    """The first notice of such a change, which should come within a second."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for params in client.notified("conversationChanged"):
            if change in params["changes"]:
                about: dict[str, Any] = params
                return about
        await asyncio.sleep(0.02)
    raise AssertionError(change)


def work(turn: int) -> list[dict[str, Any]]:
    path = f"src/part_{turn}.py"
    entries = [user(f"Please write part {turn}; never use globals in it.")]
    output = "wrote it\n" + " ".join(f"line{turn}x{number}" for number in range(150))
    return entries + tool(f"call{turn}", "write", {"path": path, "content": "x = 1"}, output)


async def test_what_one_server_does_the_other_shows(pair: tuple[Client, Client]) -> None:
    here, there = pair
    await there.ask("conversation/list")
    conversation = await here.conversation("Plant an oak.", "Planted.")
    assert (await notified_of(there, "created"))["conversationId"] == conversation
    [listed] = (await there.ask("conversation/list"))["conversations"]
    assert (listed["id"], listed["entryCount"], listed["firstMessage"]) == (conversation, 2, "Plant an oak.")
    here.notifications.clear()
    await there.ask("append", conversationId=conversation, entries=turns("And a beech."))
    params = await notified_of(here, "entries")
    entries = (await here.ask("entries", conversationId=conversation))["entries"]
    assert [entry["message"]["role"] for entry in entries] == ["user", "assistant", "user"]
    assert params["leafId"] == entries[-1]["id"]
    await here.ask("conversation/delete", conversationId=conversation)
    await notified_of(there, "deleted")
    assert (await there.ask("conversation/list"))["conversations"] == []


async def test_a_stale_server_is_refused(pair: tuple[Client, Client]) -> None:
    here, there = pair
    conversation = await here.conversation("Plant an oak.", "Planted.")
    leaf = (await there.ask("conversation/get", conversationId=conversation))["conversation"]["leafId"]
    await here.ask("append", conversationId=conversation, entries=turns("Here."), expectedLeafId=leaf)
    with pytest.raises(StaleLeafError):
        await there.ask("append", conversationId=conversation, entries=turns("There."), expectedLeafId=leaf)


async def test_a_conversation_is_compacted_and_read_by_the_other(pair: tuple[Client, Client]) -> None:
    here, there = pair
    conversation = await here.conversation()
    for turn in range(30):
        await here.ask("append", conversationId=conversation, entries=work(turn))
    sizes = {"compaction": {"keepRecentTokens": 2000}, "tokens": {"counter": "estimate"}}
    done = await there.ask("compact", conversationId=conversation, settings=sizes)
    assert done["tokensAfter"] < done["tokensBefore"]
    seen = await here.ask("context", conversationId=conversation)
    assert seen["compactionId"] == done["entry"]["id"]
    assert "globals" in done["entry"]["summary"]
    usage = await here.ask("usage", conversationId=conversation, detail=True)
    assert usage["tokens"] > 0
    files = await here.ask("files", conversationId=conversation)
    assert len(files["modifiedFiles"]) == 30


async def test_branches_marks_and_forks_are_shared(pair: tuple[Client, Client]) -> None:
    here, there = pair
    conversation = await here.conversation("Root.", "Stem.", "Left.", "Leaf.")
    entries = (await there.ask("entries", conversationId=conversation))["entries"]
    ids = [entry["id"] for entry in entries]
    await here.ask("navigate", conversationId=conversation, targetId=ids[1])
    await here.ask("append", conversationId=conversation, entries=turns("Right."))
    await there.ask("label", conversationId=conversation, entryId=ids[3], label="left")
    await there.ask("pin", conversationId=conversation, entryId=ids[0], pinned=True)
    nodes = (await here.ask("tree", conversationId=conversation, mode="branches"))["nodes"]
    assert [(node["preview"], node.get("label"), node["onCurrentPath"]) for node in nodes] == [
        ("Stem.", None, True),
        ("Leaf.", "left", False),
        ("Right.", None, True),
    ]
    back = await there.ask("navigate", conversationId=conversation, targetId=ids[3], summarize=False)
    assert back["leafId"] == ids[3]
    fork = await here.ask("conversation/fork", conversationId=conversation, entryId=ids[1])
    copied = (await there.ask("entries", conversationId=fork["conversation"]["id"]))["entries"]
    assert (len(copied), copied[0]["message"]["content"]) == (2, "Root.")


async def test_a_search_finds_what_the_other_server_stored(pair: tuple[Client, Client]) -> None:
    here, there = pair
    conversation = await here.conversation("请种一棵橡树", "An oak is planted.")
    for query in ("橡树", "oak plan"):
        [hit] = (await Searching(there.service.stores).search(SearchParams(query=query))).hits
        assert (hit.conversation_id, hit.on_current_branch) == (conversation, True)


async def test_an_export_from_the_server_is_imported_again(pair: tuple[Client, Client]) -> None:
    here, there = pair
    conversation = await here.conversation("Plant an oak.\0", "Planted.")
    content = (await here.ask("conversation/export", conversationId=conversation, format="coppice"))[
        "content"
    ]
    again = await there.ask("conversation/import", content=content)
    assert again["conversation"]["entryCount"] == 2
    entries = (await here.ask("entries", conversationId=again["conversation"]["id"]))["entries"]
    assert entries[0]["message"]["content"] == "Plant an oak.\0"


async def test_servers_work_on_through_dropped_connections(
    pair: tuple[Client, Client], postgres: PostgresServer
) -> None:
    here, there = pair
    conversation = await here.conversation("Root.")
    for number in range(10):
        postgres.drop_connections()
        client = (here, there)[number % 2]
        await client.ask("append", conversationId=conversation, entries=turns(f"Number {number}."))
    entries = (await there.ask("entries", conversationId=conversation))["entries"]
    assert [entry["message"]["content"] for entry in entries[1:]] == [f"Number {n}." for n in range(10)]


@pytest.mark.postgres
async def test_a_server_that_is_not_there_is_reported_without_its_password(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (reason := missing_driver()) is not None:
        missing("postgres", reason)
    monkeypatch.setenv("COPPICE_STORAGE_URL", "postgresql+psycopg://me:s3cret@127.0.0.1:1/db")
    client = await make_client()
    with pytest.raises(CoppiceError, match="database server") as failed:
        await client.ask("conversation/list")
    assert failed.value.code == "storage-failed"
    assert "s3cret" not in f"{failed.value} {failed.value.data}"
