"""A turn that ends between its compaction and the notes and files that are shown after it."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest_service import MakeClient, tool, user
from models.provider_server import ProviderServer
from models.provider_window import ScriptedReply, Windowed
from waiting import until

from coppice.service.notes.notes import Notes
from coppice.service.turns import turn
from coppice.service.views import files_at_hand

WINDOW = 20_000
TALK = "so it is " * 700  # 1,575 tokens
NOTE = "Releases are cut on Tuesdays."
TEXT = "# of one.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir(exist_ok=True)
    (folder / "one.py").write_text(f"{TEXT}\n")
    return folder


@pytest.mark.parametrize("before", ["the notes", "the files"])
async def test_the_next_turn_of_another_server_shows_what_was_not_stored(
    make_client: MakeClient, folder: Path, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    del folder
    reached, may_go_on = threading.Event(), threading.Event()
    show = Notes.show

    async def held_notes(self: Notes, *about: Any, **more: Any) -> Any:
        reached.set()
        await asyncio.to_thread(may_go_on.wait)
        return await show(self, *about, **more)

    def held_files(*about: Any) -> Any:
        reached.set()
        may_go_on.wait()
        return files_at_hand.files_at_hand(*about)

    async with ProviderServer([Windowed(WINDOW, [ScriptedReply("Yes.")])]) as server:
        settings = {
            "model": {"provider": "openai", "name": "m", "baseUrl": server.url, "contextWindow": WINDOW},
            "summarizer": {"provider": "offline"},
            "tokens": {"counter": "estimate"},
            "compaction": {"keepRecentTokens": 2_000},
        }
        client, other = await make_client(settings), await make_client(settings)
        about = {"conversationId": await client.conversation()}
        await client.ask("note/add", text=NOTE)
        wrote = tool("c1", "write", {"path": "one.py", "content": "x"}, "ok")
        talk = [user("Go on."), *wrote, *[user(TALK) for _ in range(11)]]
        await client.ask("append", **about, entries=talk)
        with monkeypatch.context() as patch:
            if before == "the notes":
                patch.setattr(Notes, "show", held_notes)
            else:
                patch.setattr(turn, "files_at_hand", held_files)
            running = asyncio.create_task(client.ask("prompt", **about, content="And now?"))
            await until(reached.is_set)
            running.cancel()
            await client.ask("cancel", **about)
            may_go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await running
        assert server.requests == []
        types = [entry["type"] for entry in (await client.ask("entries", **about, limit=1000))["entries"]]
        assert types.count("compaction") == 1
        await other.ask("prompt", **about, content="And now?")
        sent = str(server.requests[-1].body["messages"])
        assert (sent.count(TEXT), sent.count(NOTE)) == (1, 1)
