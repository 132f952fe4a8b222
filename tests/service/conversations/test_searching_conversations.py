"""`coppice/conversation/search` over conversations and workspace folders."""

from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client, assistant, user

from coppice.errors import UnknownConversationError
from coppice.protocol.navigation import SearchParams
from coppice.service.conversations.searching import Searching


async def hits(client: Client, query: str, **params: Any) -> list[dict[str, Any]]:
    wanted = SearchParams.model_validate({"query": query, **params})
    result = await Searching(client.service.stores).search(wanted)
    listed: list[dict[str, Any]] = result.model_dump(mode="json", by_alias=True)["hits"]
    return listed


async def test_every_conversation_of_the_workspace_is_searched(client: Client) -> None:
    one = await client.conversation("Plant an oak.", "An oak is planted.")
    two = await client.conversation("请种一棵橡树，an oak")
    oak_hits = await hits(client, "oak")
    assert [hit["conversationId"] for hit in oak_hits] == [two, one, one]
    assert [hit["snippet"] for hit in oak_hits] == [
        "请种一棵橡树，an oak",
        "An oak is planted.",
        "Plant an oak.",
    ]
    assert all(hit["onCurrentBranch"] for hit in oak_hits)
    assert [hit["conversationId"] for hit in await hits(client, "橡树")] == [two]
    assert len(await hits(client, "oak", limit=2)) == 2


async def test_one_conversation_can_be_searched_on_all_its_branches(client: Client) -> None:
    one = await client.conversation("Plant an oak.", "Which one?")
    await client.conversation("Another oak.")
    [root] = [hit["entryId"] for hit in await hits(client, "plant", conversationId=one)]
    await client.ask("append", conversationId=one, parentId=root, entries=[assistant("The oak by the gate.")])
    oak_hits = await hits(client, "oak", conversationId=one)
    assert [hit["onCurrentBranch"] for hit in oak_hits] == [True, True]
    assert [hit["onCurrentBranch"] for hit in await hits(client, "which", conversationId=one)] == [False]
    with pytest.raises(UnknownConversationError):
        await hits(client, "oak", conversationId="nowhere")


async def test_all_workspace_folders_are_searched_and_the_newest_comes_first(
    client: Client, tmp_path: Path
) -> None:
    folders = [(tmp_path / name).as_uri() for name in ("a", "b")]
    await client.service.set_workspace_folders(folders)
    for day, folder in ((2, folders[0]), (3, folders[1]), (1, folders[1])):
        made = await client.ask("conversation/create", workspaceUri=folder)
        entry = user(f"An oak on day {day}.", timestamp=f"2025-01-0{day}T00:00:00Z")
        await client.ask("append", conversationId=made["conversation"]["id"], entries=[entry])
    snippets = [hit["snippet"] for hit in await hits(client, "oak")]
    assert snippets == ["An oak on day 3.", "An oak on day 2.", "An oak on day 1."]
    assert len(await hits(client, "oak", workspaceUri=folders[0])) == 1
    assert len(await hits(client, "oak", limit=2)) == 2


async def test_nothing_but_punctuation_finds_nothing(client: Client) -> None:
    await client.conversation("Plant an oak.")
    assert await hits(client, '"*?!') == []
