"""Jobs: what a cancel means at each moment of one."""

import asyncio

import pytest

from coppice.protocol.base import WireModel
from coppice.service.core.jobs import Jobs, uninterrupted
from coppice.service.core.progress import JobProgress, NoProgress


class Watching(NoProgress):
    def __init__(self) -> None:
        self.ends: list[str] = []

    def end(self, message: str) -> None:
        self.ends.append(message)


async def run(jobs: Jobs, work: object, watching: Watching | None = None) -> WireModel:
    return await jobs.run(
        "talk",
        "compaction",
        title="Compacting",
        progress=watching or Watching(),
        work=work,  # type: ignore[arg-type]  # each test has its own
        joinable=False,
    )


async def test_a_job_that_is_cancelled_before_it_begins_leaves_the_conversation_free() -> None:
    jobs, watching = Jobs(), Watching()

    async def never(_: JobProgress) -> WireModel:
        raise AssertionError

    async def at_once(_: JobProgress) -> WireModel:
        return WireModel()

    waiting = asyncio.create_task(run(jobs, never, watching))
    # Ready in the order they were made: the job is there when `cancel` runs, and has not begun.
    asyncio.get_running_loop().call_soon(jobs.cancel, "talk")
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert len(watching.ends) == 1
    assert await run(jobs, at_once) == WireModel()


async def test_a_job_that_had_written_when_it_was_cancelled_is_answered_for() -> None:
    jobs, begun, may_end = Jobs(), asyncio.Event(), asyncio.Event()
    written: list[str] = []

    async def write() -> WireModel:
        begun.set()
        await may_end.wait()
        written.append("entry")
        return WireModel()

    async def work(_: JobProgress) -> WireModel:
        return await uninterrupted(write())

    asking = asyncio.create_task(run(jobs, work))
    await begun.wait()
    asking.cancel()
    await asyncio.sleep(0)
    may_end.set()
    assert await asking == WireModel()
    assert written == ["entry"]


async def test_a_job_that_is_cancelled_in_its_work_has_no_result() -> None:
    jobs, begun = Jobs(), asyncio.Event()

    async def work(_: JobProgress) -> WireModel:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    asking = asyncio.create_task(run(jobs, work))
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert jobs.cancel("talk") == []
