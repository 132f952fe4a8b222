"""What a fork and an undone compaction take along."""

import json
from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, tool, user

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.errors import NothingToCompactError

SMALL = {"compaction": {"keepRecentTokens": 200}, "tokens": {"counter": "estimate"}}


class Brief:
    async def summarize(self, _: SummaryRequest) -> WrittenSummary:
        return WrittenSummary("## Goal\nThe parser.", "brief")


@pytest.fixture
async def client(make_client: MakeClient) -> Client:
    made: Client = await make_client(SMALL, Brief())
    return made


async def worked(client: Client, turns: int = 10) -> tuple[str, list[str]]:
    made = await client.conversation()
    entries: list[dict[str, Any]] = []
    for number in range(turns):
        entries += [
            user(f"Question {number} " + "about it " * 30),
            *tool(f"c{number}", "edit", {"path": f"f{number}"}, "y" * 300),
            assistant(f"Answer {number} " + "because " * 30),
        ]
    done = await client.ask("append", conversationId=made, entries=entries)
    return made, done["entryIds"]


async def current(client: Client, conversation: str) -> list[dict[str, Any]]:
    nodes = (await client.ask("tree", conversationId=conversation, limit=1000))["nodes"]
    return [node for node in nodes if node["onCurrentPath"]]


def activity(path: str) -> dict[str, Any]:
    return {
        "type": "file_activity",
        "changes": [{"path": path, "kind": "modified", "source": "editor"}],
    }


async def test_work_since_an_undone_compaction_keeps_its_labels_pins_and_files(client: Client) -> None:
    made, _ = await worked(client)
    await client.ask("compact", conversationId=made)
    await client.ask("append", conversationId=made, entries=[activity("first.py")])
    added = await client.ask(
        "append", conversationId=made, entries=[user("since"), assistant("then"), activity("second.py")]
    )
    pinned, labelled = added["entryIds"][:2]
    await client.ask("pin", conversationId=made, entryId=pinned, pinned=True)
    await client.ask("label", conversationId=made, entryId=labelled, label="here")
    before = await client.ask("files", conversationId=made)
    undone = await client.ask("undoCompaction", conversationId=made)
    assert (await client.ask("files", conversationId=made))["modifiedFiles"] == before["modifiedFiles"]
    path = await current(client, made)
    assert path[-1]["id"] == undone["leafId"]
    assert path[-1]["label"] == "here"
    assert path[-2]["pinned"] is True
    assert {pinned, labelled}.isdisjoint(node["id"] for node in path)


async def test_file_activity_alone_since_a_compaction_survives_its_undoing(client: Client) -> None:
    made, ids = await worked(client)
    await client.ask("compact", conversationId=made)
    await client.ask("append", conversationId=made, entries=[activity("only.py")])
    assert await client.ask("undoCompaction", conversationId=made) == {"leafId": ids[-1]}
    assert "only.py" in (await client.ask("files", conversationId=made))["modifiedFiles"]


async def test_counts_of_the_compacted_view_do_not_hold_for_the_whole_one(client: Client) -> None:
    made, _ = await worked(client, 40)
    full = (await client.ask("usage", conversationId=made))["tokens"]
    await client.ask("compact", conversationId=made)
    counted = assistant("then", usage={"input": 500, "output": 10, "totalTokens": 510, "cost": {"total": 2}})
    await client.ask("append", conversationId=made, entries=[user("since"), counted])
    assert (await client.ask("usage", conversationId=made))["tokens"] == 510
    client.notifications.clear()
    await client.ask("undoCompaction", conversationId=made)
    usage = await client.ask("usage", conversationId=made)
    assert usage["tokens"] > full
    assert [params["usage"] for params in client.notified("usageChanged")] == [usage]
    last = (await client.ask("entries", conversationId=made, limit=1000))["entries"][-1]
    assert last["message"]["usage"] == {"input": 0, "output": 0, "totalTokens": 0, "cost": {"total": 0}}


async def test_what_was_undone_can_be_compacted_again(client: Client) -> None:
    made, _ = await worked(client)
    first = await client.ask("compact", conversationId=made)
    with pytest.raises(NothingToCompactError):
        await client.ask("compact", conversationId=made)
    await client.ask("undoCompaction", conversationId=made)
    again = await client.ask("compact", conversationId=made)
    assert again["entry"]["id"] != first["entry"]["id"]
    for same in ("firstKeptEntryId", "tokensBefore", "tokensAfter"):
        assert again[same] == first[same]


async def test_a_fork_at_a_label_ends_with_what_it_names(client: Client) -> None:
    made, ids = await worked(client, 2)
    named = (await client.ask("label", conversationId=made, entryId=ids[0], label="start"))["entry"]
    fork = await client.ask("conversation/fork", conversationId=made, entryId=named["id"])
    assert fork["conversation"]["leafId"] == ids[-1]
    moved = await client.ask("navigate", conversationId=made, targetId=named["id"])
    assert moved == {"leafId": ids[-1], "cancelled": False}


def imported(*entries: dict[str, Any]) -> str:
    header = {
        "type": "session",
        "version": 3,
        "id": "pi-1",
        "timestamp": "2026-03-01T09:00:00.000Z",
        "cwd": "/home/dev/shop",
    }
    lines: list[dict[str, Any]] = [header]
    for number, entry in enumerate(entries):
        about = {"id": f"e{number}", "parentId": f"e{number - 1}" if number else None}
        lines.append({"timestamp": "2026-03-01T09:00:00.000Z", **about, **entry})
    return "\n".join(map(json.dumps, lines))


async def test_a_fork_of_an_imported_session_is_listed_and_knows_where_it_worked(client: Client) -> None:
    content = imported(user("hello"), assistant("hi"))
    made = (await client.ask("conversation/import", content=content))["conversation"]
    fork = (await client.ask("conversation/fork", conversationId=made["id"], entryId="e0"))["conversation"]
    assert fork["source"] == {"format": "pi", "cwd": "/home/dev/shop"}
    listed = (await client.ask("conversation/list"))["conversations"]
    assert {one["id"] for one in listed} == {made["id"], fork["id"]}


async def test_a_fork_takes_over_no_label_pin_or_name_that_was_taken_back(client: Client) -> None:
    content = imported(
        user("hello"),
        {"type": "label", "targetId": "e0", "label": "gone"},
        {"type": "pin", "targetId": "e0", "pinned": True},
        {"type": "session_info", "name": "Old"},
        assistant("hi"),
    )
    made = (await client.ask("conversation/import", content=content))["conversation"]["id"]
    await client.ask("label", conversationId=made, entryId="e0")
    await client.ask("pin", conversationId=made, entryId="e0", pinned=False)
    fork = await client.ask("conversation/fork", conversationId=made, entryId="e4", name="New")
    conversation = fork["conversation"]
    assert conversation["name"] == "New"
    first = (await client.ask("tree", conversationId=conversation["id"]))["nodes"][0]
    assert (first["id"], first.get("label"), first.get("pinned")) == ("e0", None, None)


async def test_labels_and_pins_keep_the_properties_of_other_programs(client: Client) -> None:
    content = imported(
        user("hello " * 200),
        assistant("hi " * 200),
        {"type": "compaction", "summary": "Short.", "firstKeptEntryId": "e1", "tokensBefore": 500},
        {"type": "label", "targetId": "e1", "label": "old", "color": "red"},
        {"type": "label", "targetId": "e1", "label": "new", "color": "green"},
        {"type": "pin", "targetId": "e1", "pinned": True, "by": "eva"},
        user("since"),
    )
    made = (await client.ask("conversation/import", content=content))["conversation"]["id"]
    fork = await client.ask("conversation/fork", conversationId=made, entryId="e6")
    for conversation in (fork["conversation"]["id"], made):
        if conversation == made:
            await client.ask("undoCompaction", conversationId=made)
        exported = await client.ask("conversation/export", conversationId=conversation, format="coppice")
        entries = [json.loads(line) for line in exported["content"].splitlines()]
        labels = [entry for entry in entries if entry["type"] == "label"]
        pins = [entry for entry in entries if entry["type"] == "pin"]
        assert (labels[-1]["label"], labels[-1]["color"]) == ("new", "green")
        assert (pins[-1]["pinned"], pins[-1]["by"]) == (True, "eva")


async def test_undoing_does_not_repeat_old_labels_and_names(client: Client) -> None:
    big = user("word " * 200)
    content = imported(
        big,
        assistant("word " * 200),
        {"type": "compaction", "summary": "Short.", "firstKeptEntryId": "e1", "tokensBefore": 500},
        {"type": "label", "targetId": "e0", "label": "old"},
        {"type": "session_info", "name": "Old"},
        user("since"),
    )
    made = (await client.ask("conversation/import", content=content))["conversation"]["id"]
    await client.ask("label", conversationId=made, entryId="e0", label="new")
    await client.ask("conversation/rename", conversationId=made, name="New")
    await client.ask("undoCompaction", conversationId=made)
    assert (await current(client, made))[0]["label"] == "new"
    got = await client.ask("conversation/get", conversationId=made)
    assert got["conversation"]["name"] == "New"
