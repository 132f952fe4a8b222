"""A page is bounded in bytes, whatever the entries contain."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client, user
from pydantic import ValidationError

from coppice.errors import ResultTooLargeError
from coppice.store.tree import paging

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"}
LARGEST_PAGE = 200_000
"""Characters of the pages of a conversation of a few entries, whose fields are long."""


async def pages(client: Client, conversation: str, **more: Any) -> list[list[str]]:
    """The ids of each page of `coppice/entries`, in the order in which they are asked for."""
    start, following = ("before", "nextBefore") if "backward" in more else ("after", "nextAfter")
    pages_of_ids = []
    params = {"conversationId": conversation, "limit": 1000, **more}
    while True:
        page = await client.ask("entries", **params)
        pages_of_ids.append([entry["id"] for entry in page["entries"]])
        if following not in page:
            return pages_of_ids
        params[start] = page[following]


async def test_a_page_of_entries_ends_before_it_is_too_large(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "PAGE_CHARS", 10_000)
    talk = await client.conversation()
    texts = ["x" * 3_000] * 5 + ["y" * 50_000] + ["z"] * 3 + ["x" * 9_000]
    sent = await client.ask("append", conversationId=talk, entries=[user(text) for text in texts])
    ids = sent["entryIds"]
    assert await pages(client, talk) == [ids[:3], ids[3:5], ids[5:6], ids[6:]]
    backward = await pages(client, talk, backward=True)
    assert backward == [ids[6:], ids[5:6], ids[2:5], ids[:2]]
    assert await pages(client, talk, leafId=ids[4]) == [ids[:3], ids[3:5]]
    assert await pages(client, talk, leafId=ids[4], backward=True, before=ids[2]) == [ids[:2]]


async def test_a_page_of_large_entries_has_four_million_characters(client: Client) -> None:
    talk = await client.conversation()
    for _ in range(3):
        entries = [user("x" * 1_000_000) for _ in range(3)]
        await client.ask("append", conversationId=talk, entries=entries)
    assert [len(page) for page in await pages(client, talk)] == [4, 4, 1]


async def test_files_come_in_pages_by_path_and_nothing_is_left_out(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = await client.conversation()
    changed = [f"{number:02}" + "p" * 500 for number in (5, 3, 1, 4, 2)]
    await client.ask("append", conversationId=talk, entries=[activity("modified", changed)])
    await client.ask("append", conversationId=talk, entries=[activity("deleted", ["03" + "p" * 500, "00"])])
    await client.ask("append", conversationId=talk, entries=[git_update("a"), git_update("b" * 2_150)])
    whole = await client.ask("files", conversationId=talk)
    assert "nextCursor" not in whole
    assert len(whole["gitUpdates"]) == 2

    monkeypatch.setattr(paging, "PAGE_CHARS", 2_200)
    page = await client.ask("files", conversationId=talk)
    assert [update["target"][0] for update in page["gitUpdates"]] == ["b"]
    all_pages = [page]
    while "nextCursor" in all_pages[-1]:
        cursor = all_pages[-1]["nextCursor"]
        all_pages.append(await client.ask("files", conversationId=talk, cursor=cursor))
    assert [[record["path"][:2] for record in page["records"]] for page in all_pages] == [
        ["01", "00"],
        ["03", "02"],
        ["05", "04"],
    ]
    assert not any("gitUpdates" in page for page in all_pages[1:])
    for name in ("modifiedFiles", "deletedFiles"):
        assert [path for page in all_pages for path in page[name]] == whole[name]


async def test_an_export_without_a_file_is_refused_when_it_is_too_long_for_an_answer(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    talk = await client.conversation("Plant an oak. " * 100)
    for name in ("coppice", "pi", "markdown"):
        asked = {"conversationId": talk, "format": name}
        monkeypatch.undo()
        content = (await client.ask("conversation/export", **asked))["content"]
        monkeypatch.setattr(paging, "PAGE_CHARS", len(content))
        assert await client.ask("conversation/export", **asked) == {"content": content}
        monkeypatch.setattr(paging, "PAGE_CHARS", len(content) - 1)
        with pytest.raises(ResultTooLargeError, match="Name a file with `uri`"):
            await client.ask("conversation/export", **asked)
        file = tmp_path / name
        await client.ask("conversation/export", **asked, uri=file.as_uri())
        assert file.read_text() == content


async def test_long_ids_times_names_and_labels_make_no_page_large(client: Client) -> None:
    long = 1_000_000
    first, second = "a" * long, "b" * long
    content = [
        {"role": "assistant", "content": [call(long)]},
        {"role": "toolResult", "toolCallId": "c1", "toolName": "t" * long, "content": [text("An oak.")]},
    ]
    entries = [
        {"type": "message", "id": first, "parentId": None, **user("Plant an oak.")},
        {"type": "message", "id": second, "parentId": first, "timestamp": "2" * long, "message": content[0]},
        {"type": "message", "id": "r", "parentId": second, "message": content[1]},
        {
            "type": "compaction",
            "id": "c",
            "parentId": "r",
            "summary": "Oaks.",
            "firstKeptEntryId": "k" * long,
        },
        {"type": "label", "id": "l", "parentId": "c", "targetId": first, "label": "l" * long},
        {"type": "session_info", "id": "i", "parentId": "l", "name": "n" * long},
    ]
    header = HEADER | {"id": "s" * long, "timestamp": "1" * long, "cwd": "/" + "d" * long}
    timed = ({"timestamp": "2026-01-01T00:00:00.000Z", **each} for each in [header, *entries])
    lines = "\n".join(map(json.dumps, timed))
    made = await client.ask("conversation/import", content=lines, format="pi")
    about = {"conversationId": made["conversation"]["id"]}

    listing = await client.ask("tree", **about, limit=1000)
    node = listing["nodes"][0]
    assert len(node["label"]) == 1_000
    assert listing["nodes"][1]["parentId"] == node["id"]
    answers = [
        made,
        listing,
        await client.ask("tree", **about, mode="branches"),
        await client.ask("outline", **about),
        await client.ask("conversation/list"),
        await client.ask("conversation/search", query="oak"),
        await client.ask("recall", **about, query="Which oak was planted?"),
        await client.ask("recall", **about, entryIds=[node["id"], "r"]),
    ]
    assert all(len(json.dumps(answer)) < LARGEST_PAGE for answer in answers)
    assert answers[-1]["items"][0]["text"] == "Plant an oak."
    assert answers[-3]["hits"]


async def test_a_long_time_is_not_appended(client: Client) -> None:
    talk = await client.conversation()
    with pytest.raises(ValidationError):
        await client.ask("append", conversationId=talk, entries=[user("Now.") | {"timestamp": "2" * 101}])
    assert await pages(client, talk) == [[]]


async def test_a_branch_point_lists_a_thousand_branches_and_the_one_on_the_path(client: Client) -> None:
    roots: list[dict[str, Any]] = [{"id": f"r{number}", "parentId": None} for number in range(1_100)]
    branches: list[dict[str, Any]] = [{"id": f"b{number}", "parentId": "r0"} for number in range(1_100)]
    entries = [{"type": "message", "timestamp": "", **user("Plant."), **each} for each in [*roots, *branches]]
    lines = "\n".join(map(json.dumps, [HEADER, *entries]))
    made = await client.ask("conversation/import", content=lines, format="pi")
    about = {"conversationId": made["conversation"]["id"]}
    [late] = (await client.ask("outline", **about, leafId="r1099"))["forks"]
    assert (late["entryId"], len(late["alternatives"])) == ("r1099", 1_000)
    shape = await client.ask("outline", **about, leafId="b0")
    assert [fork["entryId"] for fork in shape["forks"]] == ["r0", "b0"]
    for fork in shape["forks"]:
        kind = fork["entryId"][0]
        assert fork["alternatives"] == [f"{kind}0", *(f"{kind}{number}" for number in range(101, 1_100))]


def activity(kind: str, paths: list[str]) -> dict[str, Any]:
    changes = [{"path": path, "kind": kind, "source": "watcher"} for path in paths]
    return {"type": "file_activity", "changes": changes}


def git_update(target: str) -> dict[str, Any]:
    update = {"action": "checkout", "target": target, "commit": "26c4206e"}
    return {"type": "file_activity", "changes": [], "omitted": 1, "gitUpdate": update}


def call(chars: int) -> dict[str, Any]:
    return {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "p" * chars}}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}
