"""A conversation that is longer than any window: nobody reads all of it into memory at once."""

from typing import Any

import pytest
from conftest_service import Client
from lsp.editor import turn

from coppice.errors import ResultTooLargeError
from coppice.service.branches import summarize_span
from coppice.service.compaction import preparing
from coppice.service.conversations import portability
from coppice.service.core import conversation_path
from coppice.store.reader import StoreReader

MOST = 20_000
LONG = [entry for number in range(300) for entry in turn(number)]


@pytest.fixture
async def long_one(client: Client, monkeypatch: pytest.MonkeyPatch) -> str:
    for module in (conversation_path, preparing, summarize_span):
        monkeypatch.setattr(module, "MOST_READ_TOKENS", MOST)
    made = await client.conversation()
    await client.ask("append", conversationId=made, entries=LONG)
    return made


async def test_its_view_is_refused_and_its_pages_are_read(client: Client, long_one: str) -> None:
    with pytest.raises(ResultTooLargeError, match="Compact the conversation") as refused:
        await client.ask("context", conversationId=long_one)
    assert refused.value.data["limit"] == 4 * MOST
    assert refused.value.data["tokens"] > MOST
    page = await client.ask("entries", conversationId=long_one, limit=5)
    assert len(page["entries"]) == 5
    assert (await client.ask("usage", conversationId=long_one))["tokens"] > MOST


async def test_a_compaction_reads_the_newest_and_says_so(client: Client, long_one: str) -> None:
    done = await client.ask(
        "compact", conversationId=long_one, settings={"compaction": {"keepRecentTokens": 1_000}}
    )
    assert any("oldest messages were not summarized" in warning for warning in done["warnings"])
    assert "part_299" in str(await client.ask("context", conversationId=long_one))
    ledger = await client.ask("ledger", conversationId=long_one)
    assert "src/part_0.py" in str(ledger)


async def test_a_span_is_refused_and_a_shorter_one_summarized(client: Client, long_one: str) -> None:
    with pytest.raises(ResultTooLargeError, match="Name a shorter one"):
        await client.ask("summarize", conversationId=long_one)
    page = await client.ask("entries", conversationId=long_one, limit=20)
    first, last = page["entries"][0]["id"], page["entries"][-1]["id"]
    summary = await client.ask("summarize", conversationId=long_one, fromId=first, toId=last)
    assert "part" in summary["summary"]


async def test_an_export_as_markdown_reads_pieces(
    client: Client, long_one: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portability, "_A_PIECE", 7)
    read: list[int] = []
    entries = StoreReader.entries

    def counted(self: StoreReader, *args: Any) -> Any:
        piece = entries(self, *args)
        read.append(len(piece))
        return piece

    monkeypatch.setattr(StoreReader, "entries", counted)
    done = await client.ask("conversation/export", conversationId=long_one, format="markdown")
    assert all(f"Please change part {number} of" in done["content"] for number in range(300))
    assert max(read) == 7
