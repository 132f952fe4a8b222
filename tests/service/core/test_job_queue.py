"""A job that comes next: it begins at once when the one before it ends, however that ends."""

import asyncio

import pytest
from waiting import PATIENCE

from coppice.errors import ConversationBusyError
from coppice.protocol.base import WireModel
from coppice.service.core.jobs import Jobs
from coppice.service.core.progress import JobProgress, NoProgress


class Gate:
    """Work that begins and ends on command; `began` holds the order."""

    def __init__(self, began: list[str], name: str) -> None:
        self._began = began
        self._name = name
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()

    async def __call__(self, _: JobProgress) -> WireModel:
        self._began.append(self._name)
        self.begun.set()
        await self.may_end.wait()
        return WireModel()


def start(jobs: Jobs, kind: str, work: Gate, wait_for: tuple[str, ...] = ()) -> "asyncio.Task[WireModel]":
    running = jobs.run(
        "talk",
        kind,
        title=kind,
        progress=NoProgress(),
        work=work,
        joinable=kind == "compaction",
        wait_for=wait_for,
    )
    return asyncio.create_task(running)


async def both() -> "tuple[Jobs, list[str], tuple[Gate, Gate], tuple[asyncio.Task[WireModel], ...]]":
    """A compaction that runs, and a turn that waits for it."""
    jobs, began = Jobs(), list[str]()
    compaction, turn = Gate(began, "compaction"), Gate(began, "turn")
    first = start(jobs, "compaction", compaction)
    await asyncio.wait_for(compaction.begun.wait(), PATIENCE)
    second = start(jobs, "turn", turn, ("compaction",))
    await asyncio.sleep(0.01)
    return jobs, began, (compaction, turn), (first, second)


async def test_the_next_job_begins_when_the_one_before_it_ends() -> None:
    _, began, (compaction, turn), (first, second) = await both()
    assert began == ["compaction"]
    compaction.may_end.set()
    turn.may_end.set()
    assert await asyncio.wait_for(first, PATIENCE) == await asyncio.wait_for(second, PATIENCE) == WireModel()
    assert began == ["compaction", "turn"]


async def test_nothing_gets_between_the_two() -> None:
    jobs, began, (compaction, turn), (first, second) = await both()
    compaction.may_end.set()
    await asyncio.wait_for(first, PATIENCE)
    with pytest.raises(ConversationBusyError) as refused:
        await start(jobs, "navigation", Gate(began, "navigation"))
    assert refused.value.data == {"job": "turn"}
    turn.may_end.set()
    await asyncio.wait_for(second, PATIENCE)


async def test_there_is_one_next_place_and_it_is_known_who_has_it() -> None:
    jobs, began, _, _ = await both()
    with pytest.raises(ConversationBusyError) as refused:
        await start(jobs, "turn", Gate(began, "another turn"), ("compaction",))
    assert refused.value.data == {"job": "turn"}
    await jobs.close()


async def test_the_running_job_can_still_be_joined() -> None:
    jobs, began, (compaction, turn), (first, second) = await both()
    joining = start(jobs, "compaction", Gate(began, "another compaction"))
    compaction.may_end.set()
    turn.may_end.set()
    await asyncio.wait_for(asyncio.gather(first, second, joining), PATIENCE)
    assert began == ["compaction", "turn"]


async def test_the_next_job_begins_after_one_that_was_cancelled() -> None:
    jobs, began, (_, turn), (first, second) = await both()
    await jobs.stop_running("talk", "compaction")
    turn.may_end.set()
    assert await asyncio.wait_for(second, PATIENCE) == WireModel()
    assert began == ["compaction", "turn"]
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_cancelling_the_conversation_stops_both_and_the_second_never_begins() -> None:
    jobs, began, _, tasks = await both()
    assert jobs.cancel("talk") == ["compaction", "turn"]
    for task in tasks:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, PATIENCE)
    assert began == ["compaction"]
    jobs.refuse_if_busy("talk")


async def test_a_next_job_that_nobody_waits_for_any_more_leaves_its_place() -> None:
    jobs, began, (compaction, _), (first, second) = await both()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(second, PATIENCE)
    compaction.may_end.set()
    await asyncio.wait_for(first, PATIENCE)
    assert began == ["compaction"]
    jobs.refuse_if_busy("talk")
