"""Two at once in one conversation: the second joins, waits, is refused, or is no business of the first."""

import asyncio
from collections.abc import Iterator
from typing import Any, Final

import pytest
from conftest_service import Client, GatedSummarizer, MakeClient, assistant, tool, user, waits_for_a_job
from waiting import PATIENCE

from coppice.errors import ConversationBusyError, StaleLeafError

SETTINGS = {"model": {"contextWindow": 8_000}, "tokens": {"counter": "estimate"}}
TOO_LONG = {"message": "prompt is too long: 9000 tokens > 8000 maximum", "status": 400}
TARGET: Final = "early"

LONG_WORK: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "compact": ("compact", {}),
    "draft": ("compact", {"draft": True}),
    "preparePrompt": ("preparePrompt", {"prompt": "And now?"}),
    "recover": ("recover", {"error": TOO_LONG}),
    "navigate with a summary": ("navigate", {"targetId": TARGET, "summarize": True}),
    "summarize": ("summarize", {}),
}
SHORT_WORK: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "navigate": ("navigate", {"targetId": TARGET}),
    "truncateToolResults": ("truncateToolResults", {}),
    "turn/begin": ("turn/begin", {"turnId": "t"}),
    "append": ("append", {"entries": [user("Meanwhile.")]}),
    "label": ("label", {"entryId": TARGET, "label": "a name"}),
    "context": ("context", {}),
    "usage": ("usage", {}),
    "fork": ("conversation/fork", {"entryId": TARGET}),
}
WORK = LONG_WORK | SHORT_WORK
COMPACTS = ("compact", "preparePrompt")
UNCONCERNED = ("append", "label", "context", "usage", "fork")


def outcome(first: str, second: str) -> str:
    if second in UNCONCERNED:
        return "done"
    if first in COMPACTS and second in COMPACTS:
        return "joined"
    if first in COMPACTS and second == "recover":
        return "waited"
    return "joined" if first == second == "recover" else "busy"


def pairs() -> Iterator[tuple[str, str, str]]:
    for first in LONG_WORK:
        for second in WORK:
            yield first, second, outcome(first, second)


async def grown(client: Client) -> dict[str, str]:
    made = await client.conversation()
    entries = [user("Begin.", id=TARGET)]
    for step in range(16):
        entries += [user(f"Step {step}. " + "Mind the details. " * 30)]
        entries += tool(f"w{step}", "write", {"path": f"src/part_{step}.py"}, "line\n" * 100)
        entries += [assistant(f"Part {step} is written. " + "It took some care. " * 30)]
    await client.ask("append", conversationId=made, entries=entries)
    return {"conversationId": made}


async def assert_sound(client: Client, about: dict[str, str]) -> None:
    entries = (await client.ask("entries", **about, limit=1000))["entries"]
    assert [entry["parentId"] for entry in entries] == [None, *(entry["id"] for entry in entries[:-1])]
    begun = [each["compactionId"] for each in client.notified("compactionStarted")]
    assert begun == [each["compactionId"] for each in client.notified("compactionEnded")]
    assert len([entry for entry in entries if entry["type"] == "compaction"]) <= 1


@pytest.mark.parametrize(("first", "second", "expected"), list(pairs()))
async def test_two_at_once(make_client: MakeClient, first: str, second: str, expected: str) -> None:
    held = GatedSummarizer()
    client: Client = await make_client(SETTINGS, held)
    about = await grown(client)

    async def do(work: str) -> Any:
        method, more = WORK[work]
        return await client.ask(method, **about, **more)

    running = asyncio.create_task(do(first))
    await asyncio.wait_for(held.begun.wait(), PATIENCE)
    after = asyncio.create_task(do(second))
    if expected in ("busy", "done"):
        await asyncio.wait([after], timeout=PATIENCE)
        assert not running.done()
        if expected == "busy":
            assert isinstance(after.exception(), ConversationBusyError)
        else:
            assert after.exception() is None
    else:
        await waits_for_a_job(after)
    held.may_go_on.set()
    if (first, second) == ("navigate with a summary", "append"):
        with pytest.raises(StaleLeafError):
            await running
        return
    done = await running
    if expected == "joined" and second != "recover":
        assert (await after)["entry"] == done["entry"]
    elif expected == "joined":
        assert await after == done
    elif expected == "waited":
        assert (await after)["strategy"] == "compacted"
    await assert_sound(client, about)
