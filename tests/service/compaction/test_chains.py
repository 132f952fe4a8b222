"""Compactions in a row: what is open at the end is in the last summary, whoever wrote the narratives."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, tool, user
from models.provider_replies import answer
from models.provider_server import ProviderServer

from coppice.compaction.summary import HEADINGS
from coppice.tokens.counting import estimate_tokens

RULE = "Never touch src/legacy.py."
LATER = "When all parts are there, write docs/importer.md."
TARGET = 1_500
SETTINGS: dict[str, Any] = {
    "compaction": {"keepRecentTokens": 200, "targetSummaryTokens": TARGET},
    "tokens": {"counter": "estimate"},
}
FORGETFUL = "\n".join(
    f"{heading}\n{'- [x] The newest part is in src/part_0.py.' if heading == '### Done' else '(none)'}"
    for heading in HEADINGS
)
"""A narrative that carries nothing on from the one before it."""
STATED = (
    f"> Build the importer. {RULE}",
    f"> {LATER}",
    "Commit 3f2a91c Add the reader",
    "`pytest` failed: 1 failed, 4 passed in 0.20s",
)


def begun() -> list[dict[str, Any]]:
    return [
        user(f"Build the importer. {RULE}"),
        *tool("a", "edit", {"path": "src/reader.py"}, "edited"),
        *tool("b", "bash", {"command": "git commit -am 'Add the reader'"}, "[main 3f2a91c] Add the reader"),
        *tool("c", "bash", {"command": "pytest"}, "1 failed, 4 passed in 0.20s", error=True),
        assistant("The reader is committed. One test fails, which waits for the writer."),
        user(LATER),
        assistant("I will."),
    ]


def stretch(number: int) -> list[dict[str, Any]]:
    entries = []
    for part in range(3):
        path, key = f"src/part_{part}.py", f"{number}.{part}"
        entries.append(user(f"Now part {key} of it."))
        entries += tool(
            key, "edit", {"path": path, "newText": f"x_{part} = {number}\n" * 40}, "edited " * 200
        )
        entries.append(assistant(f"Part {key} is written in {path}. " + "It reads rows one by one. " * 20))
    return entries


@pytest.fixture
async def provider() -> AsyncIterator[ProviderServer]:
    async with ProviderServer() as server:
        yield server


async def summaries(client: Client) -> list[str]:
    made = await client.conversation()
    await client.ask("append", conversationId=made, entries=begun())
    texts = []
    for number in range(4):
        await client.ask("append", conversationId=made, entries=stretch(number))
        texts.append((await client.ask("compact", conversationId=made))["entry"]["summary"])
    return texts


@pytest.mark.parametrize("kind", ["offline", "openai"])
async def test_what_is_open_since_the_first_stretch_is_in_the_last_summary(
    make_client: MakeClient, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("COPPICE_TEST_KEY", "sk-test")
    provider.script = [answer(FORGETFUL)] * 4
    model = {"provider": kind, "name": "small", "baseUrl": provider.url, "apiKeyEnv": "COPPICE_TEST_KEY"}
    more = {} if kind == "offline" else {"summarizer": {**model, "contextWindow": 32_000}}
    texts = await summaries(await make_client({**SETTINGS, **more}))
    assert [line for line in STATED if line not in texts[-1]] == []
    for text in texts:
        lines = text.splitlines()
        assert [lines.count(heading) for heading in (*HEADINGS, "## User Messages", "## State")] == [1] * 11
        assert estimate_tokens(text) <= TARGET
    assert len(provider.requests) == (0 if kind == "offline" else len(texts))
