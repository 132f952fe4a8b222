"""Two windows on one workspace: each is notified of what the other does, and neither overwrites the other."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from conftest_service import Client, GatedSummarizer, MakeClient, assistant, user

from coppice.errors import StaleLeafError, UnknownConversationError
from coppice.service.conversations.changes_elsewhere import WATCH_SECONDS

SMALL = {"compaction": {"keepRecentTokens": 60}, "tokens": {"counter": "estimate"}}
PATIENCE = 100


class Windows:
    def __init__(
        self, one: Client, other: Client, gate: GatedSummarizer, conversation: str, ids: list[str]
    ) -> None:
        self.one, self.other, self.gate = one, other, gate
        self.conversation, self.ids = conversation, ids

    async def do(self, method: str, **params: Any) -> Any:
        return await self.one.ask(method, conversationId=self.conversation, **params)

    async def see(self, method: str, **params: Any) -> Any:
        return await self.other.ask(method, conversationId=self.conversation, **params)

    def changes_seen(self) -> set[str]:
        """The kinds of changes the other window was notified of since its notifications were cleared."""
        return {kind for params in self.other.notified("conversationChanged") for kind in params["changes"]}

    async def wait_for(self, *changes: str) -> None:
        async def look() -> None:
            while not set(changes) <= self.changes_seen():  # noqa: ASYNC110 - the store is the other's, too
                await asyncio.sleep(0.01)

        await asyncio.wait_for(look(), PATIENCE)


@pytest.fixture
async def windows(make_client: MakeClient) -> Windows:
    gate = GatedSummarizer(is_open=True)
    one: Client = await make_client(SMALL, gate)
    other: Client = await make_client(SMALL, gate)
    await other.ask("conversation/list")
    made = await one.conversation(*(f"{number}: " + "words " * 30 for number in range(6)))
    both = Windows(one, other, gate, made, [])
    both.ids = [entry["id"] for entry in (await both.do("entries"))["entries"]]
    await both.wait_for("created", "entries")
    other.notifications.clear()
    one.notifications.clear()
    return both


def test_changes_elsewhere_are_looked_for_more_than_once_a_second() -> None:
    assert 2 * WATCH_SECONDS < 1


Act = Callable[[Windows], Awaitable[Any]]

ACTS: dict[str, tuple[Act, set[str]]] = {
    "append": (lambda w: w.do("append", entries=[user("more")]), {"entries", "leaf"}),
    "navigate": (lambda w: w.do("navigate", targetId=w.ids[1]), {"leaf"}),
    "navigate with a summary": (
        lambda w: w.do("navigate", targetId=w.ids[1], summarize=True, label="tried"),
        {"entries", "leaf", "labels"},
    ),
    "label": (lambda w: w.do("label", entryId=w.ids[1], label="here"), {"labels"}),
    "pin": (lambda w: w.do("pin", entryId=w.ids[1], pinned=True), {"pins"}),
    "rename": (lambda w: w.do("conversation/rename", name="Named"), {"name"}),
    "setModel": (
        lambda w: w.do("conversation/setModel", thinkingLevel="low"),
        {"entries", "leaf", "model"},
    ),
    "compact": (lambda w: w.do("compact"), {"entries", "leaf"}),
    "fork": (lambda w: w.do("conversation/fork", entryId=w.ids[1]), {"created"}),
    "delete": (lambda w: w.do("conversation/delete"), {"deleted"}),
}


@pytest.mark.parametrize("name", ACTS)
async def test_the_other_window_is_notified(windows: Windows, name: str) -> None:
    act, changes = ACTS[name]
    await act(windows)
    await windows.wait_for(*changes)
    last = windows.other.notified("conversationChanged")[-1]
    mine = windows.one.notified("conversationChanged")[-1]
    assert (last["conversationId"], last["leafId"]) == (mine["conversationId"], mine["leafId"])
    if name != "delete":
        nodes = await windows.do("tree", limit=1000)
        assert await windows.see("tree", limit=1000) == nodes


async def test_an_undone_compaction_is_notified(windows: Windows) -> None:
    await windows.do("compact")
    await windows.do("append", entries=[user("since"), assistant("then")])
    await windows.wait_for("entries", "leaf")
    windows.other.notifications.clear()
    undone = await windows.do("undoCompaction")
    await windows.wait_for("entries", "leaf")
    assert windows.other.notified("conversationChanged")[-1]["leafId"] == undone["leafId"]
    assert await windows.see("context") == await windows.do("context")


async def test_a_window_is_notified_of_its_own_changes_once(windows: Windows) -> None:
    await windows.do("navigate", targetId=windows.ids[1])
    await windows.see("label", entryId=windows.ids[1], label="seen")

    def answered() -> bool:
        return any("labels" in params["changes"] for params in windows.one.notified("conversationChanged"))

    async def look() -> None:
        while not answered():  # noqa: ASYNC110 - the store is the other's, too
            await asyncio.sleep(0.01)

    await asyncio.wait_for(look(), PATIENCE)
    leaves = [change for change in windows.one.notified("conversationChanged") if "leaf" in change["changes"]]
    assert len(leaves) == 1


async def test_a_stale_window_is_refused_and_overwrites_nothing(windows: Windows) -> None:
    old = windows.ids[-1]
    await windows.do("navigate", targetId=windows.ids[1])
    with pytest.raises(StaleLeafError) as refusal:
        await windows.see("append", entries=[user("late")], expectedLeafId=old)
    assert refusal.value.data == {"leafId": windows.ids[1]}
    appended = await windows.see("append", entries=[user("in time")], expectedLeafId=windows.ids[1])
    assert (await windows.do("conversation/get"))["conversation"]["leafId"] == appended["leafId"]


@pytest.mark.parametrize("method", ["navigate", "compact"])
async def test_a_summary_of_what_the_other_window_left_meanwhile_is_not_stored(
    windows: Windows, method: str
) -> None:
    windows.gate.may_go_on.clear()
    params = {"targetId": windows.ids[1], "summarize": True} if method == "navigate" else {}
    working = asyncio.create_task(windows.do(method, **params))
    await windows.gate.begun.wait()
    moved = await windows.see("append", entries=[user("elsewhere")], parentId=windows.ids[0])
    windows.gate.may_go_on.set()
    with pytest.raises(StaleLeafError, match="nothing was changed"):
        await working
    assert (await windows.do("conversation/get"))["conversation"]["leafId"] == moved["leafId"]
    types = [node["type"] for node in (await windows.do("tree", limit=1000))["nodes"]]
    assert set(types) == {"message"}


async def test_what_both_windows_append_at_once_is_all_kept(windows: Windows) -> None:
    entries = [
        window("append", entries=[user(f"{window.__name__} {number}")])
        for number in range(15)
        for window in (windows.do, windows.see)
    ]
    done = await asyncio.gather(*entries)
    added = [entry for one in done for entry in one["entryIds"]]
    path = [entry["id"] for entry in (await windows.do("entries", limit=1000))["entries"]]
    assert path[:6] == windows.ids
    assert sorted(path[6:]) == sorted(added)


async def test_what_the_other_window_deleted_is_unknown(windows: Windows) -> None:
    await windows.see("context")
    await windows.do("conversation/delete")
    for method in ("context", "tree", "navigate", "conversation/get"):
        params = {"targetId": windows.ids[0]} if method == "navigate" else {}
        with pytest.raises(UnknownConversationError):
            await windows.see(method, **params)
