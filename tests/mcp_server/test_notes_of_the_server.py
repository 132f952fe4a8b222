"""The notes of `coppice mcp` and those of the server are the same, in the same workspace."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client
from mcp_server.conftest import Start

from coppice.service.service import Service


@pytest.fixture
async def server(folder: Path) -> AsyncIterator[Client]:
    """A server whose client has the workspace's folder open."""
    service = Service()
    await service.start([folder.as_uri()], {})
    yield Client(service)
    await service.close()


async def view(server: Client, conversation_id: str) -> str:
    """What the model of the conversation is sent with a prompt."""
    await server.ask("preparePrompt", conversationId=conversation_id, prompt="And now?")
    shown: list[Any] = (await server.ask("context", conversationId=conversation_id, format="openai"))[
        "messages"
    ]
    return "\n".join(str(message["content"]) for message in shown)


async def test_a_note_of_an_agent_is_listed_by_the_server_and_in_its_next_view(
    server: Client, start: Start
) -> None:
    conversation = await server.conversation("Hi", "Hello.")
    assert "history-note" not in await view(server, conversation)
    agent = start("--agent", "pine-agent")
    agent.call("note_add", text="Releases are cut on Tuesdays.")
    [note] = (await server.ask("note/list"))["notes"]
    assert (note["author"], note["text"]) == ("pine-agent", "Releases are cut on Tuesdays.")
    shown = await view(server, conversation)
    assert f'id="{note["id"]}"' in shown
    assert "\nReleases are cut on Tuesdays.\n</history-note>" in shown
    await server.ask("note/remove", noteId=note["id"])
    assert agent.call("note_list") == "This project has no notes yet. note_add adds one."


async def test_a_note_of_the_server_is_listed_and_found_by_an_agent(server: Client, start: Start) -> None:
    agent = start()
    assert "no notes" in agent.call("note_list")
    note = (await server.ask("note/add", text="The larch server is for staging."))["note"]
    listed = agent.call("note_list")
    assert f'<history-note id="{note["id"]}"' in listed
    assert 'author="user">\nThe larch server is for staging.\n</history-note>' in listed
    assert "for staging" in agent.call("history_search", query="What is the larch server for?")
    await server.ask("note/replace", noteId=note["id"], text="The larch server is gone.")
    listed = agent.call("note_list")
    assert "The larch server is gone." in listed
    assert "for staging" not in listed
