"""Conversations brought in and out through the service."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, tool, user

from coppice.errors import ImportFailedError, StorageFailedError


async def a_tree(client: Client) -> tuple[str, list[str]]:
    """A conversation with a branch, a label, a pin, a name and file activity; its entries' ids."""
    made = await client.conversation()
    first = await client.ask(
        "append",
        conversationId=made,
        entries=[user("start"), *tool("c", "edit", {"path": "a.py"}, "ok"), assistant("done")],
    )
    ids = first["entryIds"]
    changes = [{"path": "b.py", "kind": "modified", "source": "editor"}]
    await client.ask("label", conversationId=made, entryId=ids[0], label="root")
    await client.ask("pin", conversationId=made, entryId=ids[0], pinned=True)
    activity = {"type": "file_activity", "changes": changes}
    await client.ask("append", conversationId=made, entries=[activity])
    await client.ask("append", conversationId=made, entries=[user("another way")], parentId=ids[0])
    await client.ask("conversation/rename", conversationId=made, name="A tree")
    return made, ids


async def everything(client: Client, conversation: str) -> dict[str, Any]:
    got = (await client.ask("conversation/get", conversationId=conversation))["conversation"]
    return {
        "leafId": got["leafId"],
        "name": got["name"],
        "tree": await client.ask("tree", conversationId=conversation, limit=1000),
        "context": await client.ask("context", conversationId=conversation),
        "files": await client.ask("files", conversationId=conversation),
    }


@pytest.mark.parametrize("format_", ["coppice", "pi"])
async def test_what_goes_out_comes_in_as_the_same_tree(client: Client, format_: str) -> None:
    made, _ = await a_tree(client)
    exported = await client.ask("conversation/export", conversationId=made, format=format_)
    again = await client.ask("conversation/import", content=exported["content"])
    assert again["warnings"] == []
    before, after = await everything(client, made), await everything(client, again["conversation"]["id"])
    if format_ == "pi":  # Pi ends a file with the leaf, so the order of siblings is its own.
        for one in (before, after):
            one["tree"]["nodes"].sort(key=lambda node: node["id"])
            one["tree"]["nodes"] = [node for node in one["tree"]["nodes"] if node["type"] != "session_info"]
    assert after["context"] == before["context"]
    assert after["leafId"] == before["leafId"]
    assert after["name"] == before["name"]
    assert after["files"] == before["files"]
    labelled = [(node["id"], node.get("label"), node.get("pinned")) for node in after["tree"]["nodes"]]
    assert set(labelled) >= {
        (node["id"], node.get("label"), node.get("pinned"))
        for node in before["tree"]["nodes"]
        if node.get("label")
    }


async def test_a_conversation_that_is_before_its_first_entry_comes_in_so(client: Client) -> None:
    made, ids = await a_tree(client)
    exported = (await client.ask("conversation/export", conversationId=made, format="coppice"))["content"]
    header = json.loads(exported.splitlines()[0])
    header["leafId"] = None
    lines = [json.dumps(header), *exported.splitlines()[1:]]
    again = await client.ask("conversation/import", content="\n".join(lines))
    assert again["conversation"]["leafId"] is None
    assert again["conversation"]["entryCount"] > len(ids)


async def test_states_of_a_workspace_do_not_come_in(client: Client) -> None:
    made = await client.conversation()
    written, (call, done) = user("start"), tool("c", "edit", {"path": "a.py"}, "ok")
    for entry in (written, done):
        entry["message"]["workspaceState"] = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    await client.ask("append", conversationId=made, entries=[written, call, done])
    exported = (await client.ask("conversation/export", conversationId=made, format="coppice"))["content"]
    assert exported.count("4b825dc") == 2
    again = await client.ask("conversation/import", content=exported)
    entries = await client.ask("entries", conversationId=again["conversation"]["id"])
    assert len(entries["entries"]) == 3
    assert "4b825dc" not in json.dumps(entries)


async def test_an_export_is_written_to_its_file_whole(client: Client, tmp_path: Path) -> None:
    made, _ = await a_tree(client)
    file = tmp_path / "out" / "a b.md"
    file.parent.mkdir()
    result = await client.ask(
        "conversation/export", conversationId=made, format="markdown", uri=file.as_uri()
    )
    assert result == {"uri": file.as_uri()}
    assert "another way" in file.read_text(encoding="utf-8")
    assert [each.name for each in file.parent.iterdir()] == ["a b.md"]


async def test_an_export_that_cannot_be_written_says_so_and_leaves_nothing(
    client: Client, tmp_path: Path
) -> None:
    made, _ = await a_tree(client)
    for uri in (tmp_path.as_uri(), (tmp_path / "none" / "x.md").as_uri(), "https://example.org/x"):
        with pytest.raises(StorageFailedError) as refusal:
            await client.ask("conversation/export", conversationId=made, format="markdown", uri=uri)
        assert str(tmp_path) not in str(refusal.value)


@pytest.mark.parametrize(
    "source", [{}, {"uri": "file:///x", "content": "y"}, {"uri": "https://example.org/x"}]
)
async def test_an_import_without_one_source_is_refused(client: Client, source: dict[str, str]) -> None:
    with pytest.raises(ImportFailedError):
        await client.ask("conversation/import", **source)


async def test_a_failed_import_leaves_no_conversation(client: Client, tmp_path: Path) -> None:
    rotten = tmp_path / "rotten.jsonl"
    rotten.write_bytes(b"\x00\x01\x02")
    with pytest.raises(ImportFailedError):
        await client.ask("conversation/import", uri=rotten.as_uri())
    assert (await client.ask("conversation/list"))["conversations"] == []


async def test_a_conversation_of_another_workspace_is_found_by_its_id(
    make_client: MakeClient, tmp_path: Path
) -> None:
    client = await make_client()
    elsewhere = (tmp_path / "elsewhere").as_uri()
    made = await client.ask("conversation/create", workspaceUri=elsewhere)
    await client.service.close()
    again = await make_client()
    got = await again.ask("conversation/get", conversationId=made["conversation"]["id"])
    assert got["conversation"]["workspaceUri"] == elsewhere
