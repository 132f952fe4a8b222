"""Memory that is short: what is refused was not done, what is done is answered, and nobody goes deaf."""

import asyncio
import os
import threading
from typing import Any

import pytest
from conftest_service import Client, user

from coppice.lsp import streams
from coppice.lsp.errors import to_response_error
from coppice.service.core import workers
from coppice.service.core.workers import Threads


class NoThreads:
    """No thread of which the name begins so can be started while `active`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        self.active = True
        self.refused = 0
        start = threading.Thread.start

        def refusing(thread: threading.Thread) -> None:
            if self.active and thread.name.startswith(name):
                self.refused += 1
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", refusing)


async def test_work_that_no_thread_can_be_started_for_is_never_done(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    threads, no_threads = Threads(2, "scarce"), NoThreads(monkeypatch, "scarce")
    with pytest.raises(MemoryError):
        workers._started(threads, lambda: done.append("refused"))
    no_threads.active = False
    await workers._started(threads, lambda: done.append("taken"))
    assert done == ["taken"]


async def test_work_is_taken_by_a_thread_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, may_end = Threads(2, "scarce"), threading.Event()
    first = workers._started(threads, may_end.wait)
    no_threads = NoThreads(monkeypatch, "scarce")
    second = workers._started(threads, lambda: "done")
    assert no_threads.refused == 1
    may_end.set()
    assert await second == "done"
    await first


async def test_an_append_is_answered_when_nobody_can_index_it(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await client.conversation()
    no_threads = NoThreads(monkeypatch, "coppice-index")
    stored = await client.ask("append", conversationId=made, entries=[user("A word that is rare: quincunx.")])
    assert no_threads.refused
    assert len(stored["entryIds"]) == 1
    found = await client.ask("recall", conversationId=made, query="quincunx")
    assert [item["entryId"] for item in found["items"]] == stored["entryIds"]


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread"), OSError(12, "")])
def test_the_client_is_told_that_memory_is_short(error: Exception) -> None:
    answer = to_response_error(error, "coppice/append")
    assert answer.data == {"code": "out-of-memory"}
    assert "no memory" in answer.message


async def test_a_server_reads_and_writes_on_when_there_is_memory_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures = iter([True, True])

    def failing(real: Any) -> Any:
        def call(*args: Any) -> Any:
            if next(failures, False):
                raise MemoryError
            return real(*args)

        return call

    read_end, write_end = os.pipe()
    monkeypatch.setattr(os, "write", failing(os.write))
    writer = streams.PipeWriter(write_end, lambda: None)
    writer.write(b"after a while\n")
    await writer.flush_and_close()
    failures = iter([True, True])
    monkeypatch.setattr(os, "read", failing(os.read))
    reader = streams.open_reader(read_end)
    assert await asyncio.wait_for(reader.readline(), 60) == b"after a while\n"
    os.close(write_end)
