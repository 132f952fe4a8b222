"""Session files and names as an attacker would choose them, and exports onto what somebody else owns."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client, user
from waiting import PATIENCE

from coppice.errors import CoppiceError, ImportFailedError, StorageFailedError, UnknownConversationError
from coppice.formats import codex_steps, session
from coppice.formats.reading import open_session
from coppice.formats.registry import IMPORT_NAMES
from coppice.formats.source import MAX_BYTES
from coppice.store.reader import StoreReader
from coppice.store.schema.records import NewRecord
from coppice.store.store import Store
from coppice.store.tree.importing import ImportWriter
from coppice.tree.entries import MAX_NAME_CHARS, Entry, MessageEntry
from coppice.tree.messages import AssistantMessage

HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/x"}\n'


def names_in(folder: Path) -> set[str]:
    """What is in a folder, apart from the workspace and the store of the client."""
    return {each.name for each in folder.iterdir()} - {"workspace", "data"}


async def test_an_export_replaces_a_file_only_when_asked_to(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "profile"
    file.write_text("mine")
    asked = {
        "conversationId": await client.conversation("plant an oak"),
        "format": "markdown",
        "uri": file.as_uri(),
    }
    with pytest.raises(StorageFailedError, match="exists already"):
        await client.ask("conversation/export", **asked)
    assert file.read_text() == "mine"
    await client.ask("conversation/export", **asked, overwrite=True)
    assert "plant an oak" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert names_in(tmp_path) == {"profile"}


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("is_there", [False, True])
async def test_an_export_follows_no_link(
    client: Client, tmp_path: Path, *, overwrite: bool, is_there: bool
) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    if is_there:
        target.write_text("mine")
    link.symlink_to(target)
    with pytest.raises(StorageFailedError, match="is a link"):
        await client.ask(
            "conversation/export",
            conversationId=await client.conversation("plant an oak"),
            format="markdown",
            uri=link.as_uri(),
            overwrite=overwrite,
        )
    assert link.is_symlink()
    assert target.exists() == is_there


async def test_an_export_of_a_conversation_deleted_meanwhile_is_whole(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = await client.conversation(*(f"Plant tree {number}." for number in range(600)))
    other = Store.open(
        client.service.stores.of_conversation(conversation).url, server_id="other", busy_seconds=1
    )
    read = StoreReader.all_entries

    def read_and_delete(self: StoreReader, conversation_id: str) -> Iterator[Entry]:
        entries = read(self, conversation_id)
        yield next(entries)
        other.delete(conversation_id)
        other._purger.wait()
        yield from entries

    monkeypatch.setattr(StoreReader, "all_entries", read_and_delete)
    exported = await client.ask("conversation/export", conversationId=conversation, format="coppice")
    other.close()
    assert "Plant tree 599." in exported["content"]
    assert len(exported["content"].splitlines()) == 601


async def test_a_fork_of_a_conversation_deleted_meanwhile_is_whole(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = await client.conversation(*(f"Plant tree {number}." for number in range(1_200)))
    [last] = (await client.ask("entries", conversationId=conversation, backward=True, limit=1))["entries"]
    other = Store.open(
        client.service.stores.of_conversation(conversation).url, server_id="other", busy_seconds=1
    )
    add = ImportWriter.add

    def add_and_delete(self: ImportWriter, records: Sequence[NewRecord]) -> None:
        add(self, records)
        monkeypatch.undo()
        other.delete(conversation)
        other._purger.wait()

    monkeypatch.setattr(ImportWriter, "add", add_and_delete)
    about = {"conversationId": conversation, "entryId": last["id"], "position": "at"}
    forked = await client.ask("conversation/fork", **about)
    with pytest.raises(UnknownConversationError):
        await client.ask("conversation/fork", **about)
    other.close()
    assert forked["conversation"]["entryCount"] == 1_200


async def test_an_import_of_a_sparse_file_stops_when_it_is_cancelled(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "sparse.jsonl"
    with file.open("w") as written:
        written.write(HEADER)
        written.truncate(MAX_BYTES)
    importing = asyncio.ensure_future(client.ask("conversation/import", uri=file.as_uri()))
    await asyncio.sleep(0.3)
    assert not importing.done()
    importing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(importing, PATIENCE)
    assert (await client.ask("conversation/list"))["conversations"] == []


async def test_a_file_beyond_the_limit_is_refused_before_it_is_read(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "sparse.jsonl"
    file.write_text(HEADER)
    os.truncate(file, MAX_BYTES + 1)
    with pytest.raises(ImportFailedError, match="longer than 8 GiB") as refused:
        await client.ask("conversation/import", uri=file.as_uri())
    assert refused.value.data["most"] == MAX_BYTES
    assert (await client.ask("conversation/list"))["conversations"] == []


MESSAGES: dict[str, Callable[[int], dict[str, Any]]] = {
    "coppice": lambda number: {"type": "message", "id": f"e{number}", "parentId": None, **user("Plant.")},
    "pi": lambda number: {"type": "message", "id": f"e{number}", "parentId": None, **user("Plant.")},
    "claude-code": lambda number: {
        "type": "user",
        "sessionId": "s",
        "uuid": f"e{number}",
        "parentUuid": None,
        "message": {"role": "user", "content": "Plant."},
    },
    "qwen": lambda number: {
        "type": "user",
        "sessionId": "s",
        "uuid": f"e{number}",
        "parentUuid": None,
        "message": {"role": "user", "parts": [{"text": "Plant."}]},
    },
    "messages": lambda number: {"role": "user", "content": "Plant.", "number": number},
    "gemini": lambda number: {"type": "user", "id": f"e{number}", "content": [{"text": "Plant."}]},
    "copilot": lambda number: {
        "type": "user.message",
        "id": f"e{number}",
        "parentId": None,
        "data": {"content": "Plant."},
    },
    "codex": lambda _: {
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Plant."}]},
    },
}
"""A line of each format that becomes one entry."""


@pytest.mark.parametrize("format_", IMPORT_NAMES[1:])
async def test_a_file_of_too_many_entries_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    monkeypatch.setattr(session, "MAX_ENTRIES", 100)
    lines = [json.dumps({"timestamp": "", **MESSAGES[format_](number)}) for number in range(101)]
    made = await client.ask("conversation/import", content="\n".join(lines[:100]), format=format_)
    assert made["conversation"]["entryCount"] == 100
    with pytest.raises(ImportFailedError, match="more than 100 entries"):
        await client.ask("conversation/import", content="\n".join(lines), format=format_)
    assert len((await client.ask("conversation/list"))["conversations"]) == 1


async def test_one_record_that_becomes_too_many_entries_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_ENTRIES", 100)
    text = "<environment_context>oak</environment_context>"
    record = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}] * 101}
    content = json.dumps({"timestamp": "", "type": "response_item", "payload": record})
    with pytest.raises(ImportFailedError, match="more than 100 entries"):
        await client.ask("conversation/import", content=content, format="codex")
    assert (await client.ask("conversation/list"))["conversations"] == []


def test_a_reply_that_never_ends_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codex_steps, "MAX_HELD_BYTES", 10_000)
    texts = [f"{number} {'x' * 1_000}" for number in range(100)]
    items = [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        for text in texts
    ]
    records = [{"timestamp": "", "type": "response_item", "payload": item} for item in items]
    entries = list(open_session("\n".join(map(json.dumps, records)), "codex"))
    assert max(len(entry.model_dump_json()) for entry in entries) < 12_000
    read = [block.text for entry in entries for block in reply_of(entry).content if block.type == "text"]
    assert read == texts


def reply_of(entry: Entry) -> AssistantMessage:
    assert isinstance(entry, MessageEntry)
    assert isinstance(entry.message, AssistantMessage)
    return entry.message


def test_ten_million_blank_lines_are_passed_over_in_blocks() -> None:
    reader = open_session(HEADER + "\n" * 10_000_000 + '{"type": "custom"}\n')
    assert len(list(reader)) == 1
    assert any(warning.startswith("line 10000002:") for warning in reader.warnings)


def test_empty_objects_are_left_out_and_counted() -> None:
    reader = open_session(HEADER + "{}\n" * 100_000)
    assert list(reader) == []
    assert len(reader.warnings) == 101
    assert "99,900 more of this kind" in reader.warnings[-1]


def test_a_pipe_that_nobody_writes_to_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CoppiceError, match="not a regular file"):
        open_session(tmp_path / "pipe")


async def test_names_are_bounded(client: Client) -> None:
    long = "x" * (MAX_NAME_CHARS + 1)
    conversation = await client.conversation("plant an oak")
    for method, params in (
        ("conversation/create", {"name": long}),
        ("conversation/rename", {"conversationId": conversation, "name": long}),
    ):
        with pytest.raises(ValueError, match="at most 1000 characters"):
            await client.ask(method, **params)
    header = {"type": "coppice", "version": 1, "id": "k", "name": long}
    imported = await client.ask("conversation/import", content=json.dumps(header))
    listed = (await client.ask("conversation/list"))["conversations"]
    assert len(imported["conversation"]["name"]) == MAX_NAME_CHARS
    assert max(len(each.get("name", "")) for each in listed) == MAX_NAME_CHARS
