"""Clearing old tool results while something else happens: held between its plan and its append."""

import asyncio
import threading
from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, tool, user
from waiting import PATIENCE, until

from coppice.service.recovery import clearing

SETTINGS: dict[str, Any] = {"tokens": {"counter": "estimate"}}
OUTPUT = "an output of a command\n" * 400  # 2,300 tokens


class Held:
    """Holds the first clearing whose step is planned until `go_on` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_planned, self.go_on = threading.Event(), threading.Event()
        plan = clearing._step

        def step(*args: Any) -> Any:
            planned = plan(*args)
            if not self.is_planned.is_set():
                self.is_planned.set()
                assert self.go_on.wait(PATIENCE)
            return planned

        monkeypatch.setattr(clearing, "_step", step)

    async def cleared_by(self, client: Client, about: dict[str, Any]) -> "asyncio.Task[Any]":
        """A clearing that goes on once it is let."""
        asked = asyncio.create_task(client.ask("clearToolResults", **about, keepTokens=0))
        await until(self.is_planned.is_set)
        return asked


async def grown(client: Client) -> tuple[dict[str, Any], list[str]]:
    """A conversation in which three files were read, and the ids of its entries."""
    calls = [tool(f"c{n}", "read", {"path": f"f{n}.py"}, f"{n} {OUTPUT}") for n in range(3)]
    entries = [user("Read."), *(entry for call in calls for entry in (*call, assistant("I read it.")))]
    about = {"conversationId": await client.conversation()}
    return about, (await client.ask("append", **about, entries=entries))["entryIds"]


async def path_of(client: Client, about: dict[str, Any]) -> list[Any]:
    return list((await client.ask("entries", **about))["entries"])


async def test_of_two_windows_that_clear_at_once_one_finds_nothing_left(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await make_client(SETTINGS), await make_client(SETTINGS)
    about, ids = await grown(one)
    held = Held(monkeypatch)
    late = await held.cleared_by(one, about)
    done = await other.ask("clearToolResults", **about, keepTokens=0)
    held.go_on.set()
    nothing = await late
    assert [each["entryId"] for each in done["cleared"]] == [ids[2], ids[5], ids[8]]
    assert (nothing["cleared"], nothing.get("entry"), nothing["leafId"]) == ([], None, done["leafId"])
    assert nothing["tokensBefore"] == nothing["tokensAfter"] == done["tokensAfter"]
    assert await path_of(one, about) == await path_of(other, about)
    assert [entry["id"] for entry in await path_of(one, about)] == [*ids, done["leafId"]]


@pytest.mark.parametrize("place", [0, 6])
async def test_after_a_navigation_meanwhile_it_clears_what_is_on_the_new_path(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    one, other = await make_client(SETTINGS), await make_client(SETTINGS)
    about, ids = await grown(one)
    held = Held(monkeypatch)
    asked = await held.cleared_by(one, about)
    moved = await other.ask("navigate", **about, targetId=ids[place])
    held.go_on.set()
    done = await asked
    left = ids[: place + 1] if place else []
    added = [] if place == 0 else [done["leafId"]]
    assert (await other.ask("conversation/get", **about))["conversation"]["leafId"] == done["leafId"]
    assert [entry["id"] for entry in await path_of(one, about)] == [*left, *added]
    assert [each["entryId"] for each in done["cleared"]] == ([ids[2], ids[5]] if place else [])
    assert moved["leafId"] == (left[-1] if left else None)
    await other.ask("navigate", **about, targetId=ids[-1])
    shown = (await one.ask("context", **about))["messages"]
    assert not any("was cleared" in str(message["content"]) for message in shown)


async def test_a_cancel_meanwhile_is_too_late_for_all_of_it(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await make_client(SETTINGS)
    about, ids = await grown(client)
    held = Held(monkeypatch)
    asked = await held.cleared_by(client, about)
    asked.cancel()
    held.go_on.set()
    done = await asked
    assert await path_of(client, about) == [*(await path_of(client, about))[: len(ids)], done["entry"]]
    assert done["entry"]["cleared"] == [ids[2], ids[5], ids[8]]
    [change] = [each for each in client.notified("conversationChanged") if each["leafId"] == done["leafId"]]
    assert change["changes"] == ["entries", "leaf"]
