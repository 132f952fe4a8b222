"""Reading a path in pages, from its root and from its leaf."""

from typing import Any

import pytest
from conftest_service import Client, turns
from pydantic import ValidationError

from coppice.errors import UnknownEntryError

TEXTS = [f"message {number}" for number in range(7)]


def texts_of(page: Any) -> list[str]:
    contents = [entry["message"]["content"] for entry in page["entries"]]
    return [content if isinstance(content, str) else content[0]["text"] for content in contents]


async def test_the_last_page_ends_with_the_leaf_and_is_root_first(client: Client) -> None:
    about = {"conversationId": await client.conversation(*TEXTS)}
    page = await client.ask("entries", **about, backward=True, limit=3)
    assert texts_of(page) == TEXTS[4:]
    assert page["nextBefore"] == page["entries"][0]["id"]
    assert "nextAfter" not in page


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
async def test_pages_read_backward_make_the_path_that_is_read_forward(client: Client, limit: int) -> None:
    about = {"conversationId": await client.conversation(*TEXTS)}
    collected: list[str] = []
    before = None
    while True:
        page = await client.ask("entries", **about, backward=True, before=before, limit=limit)
        collected = texts_of(page) + collected
        before = page.get("nextBefore")
        if before is None:
            break
    assert collected == texts_of(await client.ask("entries", **about)) == TEXTS


async def test_a_branch_is_read_backward_across_its_fork(client: Client) -> None:
    about = {"conversationId": await client.conversation(*TEXTS)}
    fork = (await client.ask("entries", **about))["entries"][2]["id"]
    await client.ask("append", **about, parentId=fork, entries=turns("elsewhere", "and on"))
    page = await client.ask("entries", **about, backward=True, limit=4)
    assert texts_of(page) == ["message 1", "message 2", "elsewhere", "and on"]


async def test_nothing_is_in_front_of_the_root(client: Client) -> None:
    about = {"conversationId": await client.conversation(*TEXTS)}
    root = (await client.ask("entries", **about, limit=1))["entries"][0]["id"]
    assert await client.ask("entries", **about, backward=True, before=root) == {"entries": []}


async def test_an_entry_off_the_path_is_no_place_to_read_from(client: Client) -> None:
    about = {"conversationId": await client.conversation(*TEXTS)}
    with pytest.raises(UnknownEntryError):
        await client.ask("entries", **about, backward=True, before="elsewhere")


@pytest.mark.parametrize("params", [{"backward": True, "after": "e"}, {"before": "e"}])
async def test_a_page_is_bounded_on_the_side_it_is_read_from(client: Client, params: dict[str, Any]) -> None:
    about = {"conversationId": await client.conversation(*TEXTS)}
    with pytest.raises(ValidationError, match="reading"):
        await client.ask("entries", **about, **params)
