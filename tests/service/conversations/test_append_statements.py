"""What an append costs: the statements of its transaction, however long the conversation is."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, tool, turns, user
from sqlalchemy import event
from sqlalchemy.pool import Pool

from coppice.errors import StaleLeafError
from coppice.service.core.conversation_path import ConversationPath
from coppice.store.tree import paths
from coppice.tree.messages import UserMessage

MOST = 7
"""Version, conversation with its leaf, entry, landmark, conversation, change, commit."""
NOT_COUNTED = ("PRAGMA", "BEGIN")
"""What a writer that waits for another process sends again and again."""
OF_ITS_OWN_IDS = 1
"""Whether the ids that a client gave its entries are in use."""

counts_statements = pytest.mark.skipif(
    "COPPICE_STORAGE_URL" in os.environ, reason="counts SQLite's statements"
)


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """What the driver of writers is given from now on, also what SQLAlchemy does not see."""
    sent: list[str] = []

    def note(statement: str) -> None:
        is_writer = threading.current_thread().name.startswith("coppice-write")
        if is_writer and not statement.startswith(NOT_COUNTED):
            sent.append(statement)

    def trace(connection: object, _record: object) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.set_trace_callback(note)

    event.listen(Pool, "connect", trace)
    yield sent
    event.remove(Pool, "connect", trace)


@pytest.fixture
async def quick(make_client: MakeClient, statements: list[str]) -> Client:
    settings = {
        "tokens": {"counter": "estimate"},
        "summarizer": {"provider": "offline"},
        "compaction": {"keepRecentTokens": 200},
        "model": {"contextWindow": 50_000},
    }
    made: Client = await make_client(settings)
    return made


async def of_one_append(client: Client, made: str, statements: list[str]) -> int:
    statements.clear()
    await client.ask("append", conversationId=made, entries=[user("And now?")])
    return len(statements)


@counts_statements
async def test_an_append_reads_back_nothing_of_what_it_wrote(quick: Client, statements: list[str]) -> None:
    made = await quick.conversation("Hi", "Hello.")
    assert 0 < await of_one_append(quick, made, statements) <= MOST
    talk = [user("Look."), *tool("c1", "read", {"path": "a.py"}, "x = 1"), assistant("I looked.")] * 100
    calls = [each["message"]["content"][0] for each in talk if each["message"]["role"] == "assistant"]
    for number, call in enumerate(each for each in calls if each["type"] == "toolCall"):
        call["id"] = f"c{number}"
    await quick.ask("append", conversationId=made, entries=talk)
    assert 0 < await of_one_append(quick, made, statements) <= MOST


async def entries_of(client: Client, made: str) -> list[Any]:
    return list((await client.ask("entries", conversationId=made))["entries"])


async def added(client: Client, made: str, text: str, after: str | None) -> str:
    """The id of a message that a turn stores."""
    message = UserMessage(content=text)
    return await client.service.trees.add(made, message, after=after, context_window=1_000)


@counts_statements
async def test_what_a_turn_stores_costs_an_append(quick: Client, statements: list[str]) -> None:
    made = await quick.conversation("Hi", "Hello.")
    first = await added(quick, made, "And now?", None)
    statements.clear()
    second = await added(quick, made, "And then?", first)
    assert 0 < len(statements) <= MOST, statements
    await quick.ask("append", conversationId=made, entries=[user("Meanwhile.")])
    third = await added(quick, made, "At last?", second)
    entries = await entries_of(quick, made)
    assert [entry["id"] for entry in entries[-4:]] == [first, second, entries[-2]["id"], third]
    store = quick.service.stores.of_conversation(made)
    store.set_leaf(made, first, modified_at="2026-01-01T00:00:00Z")
    with pytest.raises(StaleLeafError):
        await added(quick, made, "Nobody reads this.", third)
    assert (await quick.ask("conversation/get", conversationId=made))["conversation"]["leafId"] == first


async def test_the_usage_after_an_append_is_that_of_the_stored_path(make_client: MakeClient) -> None:
    client = await make_client({"tokens": {"counter": "estimate"}})
    made = await client.conversation("Hi", "Hello.")
    done = await client.ask("append", conversationId=made, entries=[user("so it is " * 100)])
    assert done["usage"] == await client.ask("usage", conversationId=made)
    assert (
        done["leafId"]
        == (await client.ask("conversation/get", conversationId=made))["conversation"]["leafId"]
    )


@counts_statements
async def test_a_compaction_makes_no_append_dearer(
    quick: Client, statements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await quick.conversation("Read a.py.")
    reading = [*tool("c1", "read", {"path": "a.py"}, "x = 1"), user("Go on, " * 200), user("Go on, " * 200)]
    await quick.ask("append", conversationId=made, entries=reading)
    assert (await quick.ask("compact", conversationId=made))["entry"]["details"]["readFiles"]
    with monkeypatch.context() as patch:
        patch.setattr(paths, "json", None)  # would raise: the files are read where they are asked for
        assert 0 < await of_one_append(quick, made, statements) <= MOST, statements
    named = [user("Mine.", id="mine")]
    statements.clear()
    await quick.ask("append", conversationId=made, entries=named)
    assert 0 < len(statements) <= MOST + OF_ITS_OWN_IDS, statements
    before = await quick.ask("usage", conversationId=made)

    await quick.ask("pin", conversationId=made, entryId=(await entries_of(quick, made))[0]["id"], pinned=True)
    done = await quick.ask("append", conversationId=made, entries=named)
    assert done["usage"] == await quick.ask("usage", conversationId=made) != before
    compaction = {"type": "compaction", "summary": "So it was.", "firstKeptEntryId": "mine"}
    done = await quick.ask("append", conversationId=made, entries=[compaction])
    assert done["usage"] == await quick.ask("usage", conversationId=made) != before


@pytest.mark.parametrize(
    ("method", "params"),
    [("compact", {}), ("clearToolResults", {"keepTokens": 0}), ("truncateToolResults", {})],
)
async def test_what_was_stored_is_not_read_again(
    quick: Client, monkeypatch: pytest.MonkeyPatch, method: str, params: dict[str, Any]
) -> None:
    made = await quick.conversation("Read a.py.")
    reading = [*tool("c1", "read", {"path": "a.py"}, "x = 1\n" * 30_000), assistant("I read it.")]
    talk = turns("Go on, " * 200, "Yes.", "Go on, " * 200)
    await quick.ask("append", conversationId=made, entries=[*reading, *talk])
    before = len(quick.notified("usageChanged"))
    monkeypatch.setattr(ConversationPath, "to", None)  # would raise
    await quick.ask(method, conversationId=made, **params)
    [changed] = quick.notified("usageChanged")[before:]
    assert changed["usage"] == await quick.ask("usage", conversationId=made)
