"""What an append costs: the statements of its transaction, however long the conversation is."""

from collections.abc import Iterator

import pytest
from conftest_service import Client, MakeClient, assistant, tool, user
from sqlalchemy import event
from sqlalchemy.engine import Engine

MOST = 10


@pytest.fixture
def statements() -> Iterator[list[str]]:
    sent: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield sent
    event.remove(Engine, "before_cursor_execute", note)


async def of_one_append(client: Client, made: str, statements: list[str]) -> int:
    statements.clear()
    await client.ask("append", conversationId=made, entries=[user("And now?"), assistant("Now.")])
    return len(statements)


async def test_an_append_reads_back_nothing_of_what_it_wrote(
    make_client: MakeClient, statements: list[str]
) -> None:
    client = await make_client({"tokens": {"counter": "estimate"}})
    made = await client.conversation("Hi", "Hello.")
    assert await of_one_append(client, made, statements) <= MOST
    talk = [user("Look."), *tool("c1", "read", {"path": "a.py"}, "x = 1"), assistant("I looked.")] * 100
    calls = [each["message"]["content"][0] for each in talk if each["message"]["role"] == "assistant"]
    for number, call in enumerate(each for each in calls if each["type"] == "toolCall"):
        call["id"] = f"c{number}"
    await client.ask("append", conversationId=made, entries=talk)
    assert await of_one_append(client, made, statements) <= MOST


async def test_the_usage_after_an_append_is_that_of_the_stored_path(make_client: MakeClient) -> None:
    client = await make_client({"tokens": {"counter": "estimate"}})
    made = await client.conversation("Hi", "Hello.")
    done = await client.ask("append", conversationId=made, entries=[user("so it is " * 100)])
    assert done["usage"] == await client.ask("usage", conversationId=made)
    assert (
        done["leafId"]
        == (await client.ask("conversation/get", conversationId=made))["conversation"]["leafId"]
    )
