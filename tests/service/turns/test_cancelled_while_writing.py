"""A cancel that comes while a turn stores something is too late for that, but not for what comes after."""

import asyncio
from typing import Any

import pytest
from conftest_service import Client, MakeClient, tool, user
from models.provider_server import ProviderServer
from models.provider_window import ScriptedReply, Windowed

from coppice.errors import NothingToCompactError
from coppice.service.compaction.compacting import Compacting
from coppice.service.conversations.trees import Trees
from coppice.service.core.jobs import uninterrupted
from coppice.service.recovery.clearing import Clearing
from coppice.service.recovery.truncating import Truncating
from coppice.tree.entries import CustomMessageEntry, Entry

WINDOW = 20_000
TALK = "so it is " * 700  # 1,575 tokens


class Held:
    """A write that has begun and ends once `ends` is set, whatever is cancelled."""

    def __init__(self) -> None:
        self.begun, self.ends = asyncio.Event(), asyncio.Event()

    def around(self, write: Any, holds: Any = lambda *_: True) -> Any:
        async def held(*args: Any, **named: Any) -> Any:
            async def work() -> Any:
                self.begun.set()
                await self.ends.wait()
                return await write(*args, **named)

            return await (uninterrupted(work()) if holds(*args) else write(*args, **named))

        return held

    async def cancelled_meanwhile(self, asked: "asyncio.Task[Any]") -> None:
        await self.begun.wait()
        asked.cancel()
        # The job is cancelled by the task that waits for it.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        self.ends.set()
        with pytest.raises(asyncio.CancelledError):
            await asked


async def prompted(make_client: MakeClient, server: ProviderServer, window: int) -> tuple[Client, Any]:
    """A turn of a model of which the settings state the `window`, in a conversation that fills WINDOW."""
    model = {"provider": "openai", "name": "m", "baseUrl": server.url, "contextWindow": window}
    client: Client = await make_client(
        {
            "model": model,
            "summarizer": {"provider": "offline"},
            "tokens": {"counter": "estimate"},
            "compaction": {"keepRecentTokens": 2_000},
        }
    )
    about = {"conversationId": await client.conversation()}
    written = tool("c1", "write", {"path": "one.py", "content": "x"}, "ok")
    talk = [user(TALK) for _ in range(13)]
    await client.ask("append", **about, entries=[user("Go on."), *written, *talk])
    return client, about


@pytest.mark.parametrize(("window", "requests"), [(WINDOW, 0), (4 * WINDOW, 1)])
async def test_no_model_is_asked_after_the_files_were_shown(
    make_client: MakeClient, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, window: int, requests: int
) -> None:
    """In the second case the first request exceeds the window, and the conversation is compacted then."""
    held = Held()

    def is_files(_trees: Trees, _conversation_id: str, entry: Entry) -> bool:
        return isinstance(entry, CustomMessageEntry)

    monkeypatch.setattr(Trees, "add_entry", held.around(Trees.add_entry, is_files))
    async with ProviderServer([Windowed(WINDOW, [ScriptedReply("Yes.")])]) as server:
        client, about = await prompted(make_client, server, window)
        (tmp_path / "workspace" / "one.py").write_text("# of one\n")
        await held.cancelled_meanwhile(asyncio.create_task(client.ask("prompt", **about, content="And?")))
        assert len(server.requests) == requests
        entries = (await client.ask("entries", **about, limit=1000))["entries"]
        asked = [entry for entry in entries if entry.get("message", {}).get("content") == "And?"]
        assert len(asked) == requests
        assert "custom_message" in [entry["type"] for entry in entries]


async def test_nothing_is_compacted_after_results_were_cleared(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, clear = Held(), Clearing.make_room

    async def cleared(*args: Any) -> object:
        return await clear(*args) or object()

    monkeypatch.setattr(Clearing, "make_room", held.around(cleared))
    async with ProviderServer([Windowed(WINDOW, [ScriptedReply("Yes.")])]) as server:
        client, about = await prompted(make_client, server, WINDOW)
        await held.cancelled_meanwhile(asyncio.create_task(client.ask("prompt", **about, content="And?")))
        assert client.notified("compactionStarted") == []


async def test_no_results_are_cut_after_a_compaction(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, cuts = Held(), 0

    async def has_no_gain(*_: Any) -> None:
        raise NothingToCompactError("Nothing.")

    async def counted(*_: Any, **__: Any) -> None:
        nonlocal cuts
        cuts += 1

    async with ProviderServer([Windowed(WINDOW, [ScriptedReply("Yes.")])]) as server:
        client, about = await prompted(make_client, server, 4 * WINDOW)
        monkeypatch.setattr(Compacting, "compact", held.around(has_no_gain))
        monkeypatch.setattr(Truncating, "cut", counted)
        await held.cancelled_meanwhile(asyncio.create_task(client.ask("prompt", **about, content="And?")))
        assert cuts == 0
