"""Memory that is short: what is refused was not done, what is done is answered, and nobody goes deaf."""

import asyncio
import os
import subprocess
import sys
import threading
from typing import Any

import pytest
from conftest_service import Client, user

from coppice.lsp import streams
from coppice.lsp.connection import Connection, make_server, serve
from coppice.lsp.errors import to_response_error
from coppice.lsp.process import NO_MEMORY
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
    page = await client.ask("recall", conversationId=made, query="quincunx")
    assert [item["entryId"] for item in page["items"]] == stored["entryIds"]


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread"), OSError(12, "")])
def test_the_client_is_told_that_memory_is_short(error: Exception) -> None:
    answer = to_response_error(error, "coppice/append")
    assert answer.data == {"code": "out-of-memory"}
    assert "no memory" in answer.message


MODULE_WITHOUT_MEMORY = """
import resource
from coppice.lsp.connection import Connection, make_server, serve
from coppice.lsp.errors import to_response_error
from coppice.lsp.process import NO_MEMORY
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), resource.RLIM_INFINITY))
try:
    import _codecs_jp
except ImportError as error:
    print(to_response_error(error, "coppice/undo").data)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the message is of glibc's loader")
def test_a_module_in_c_that_has_no_memory_is_no_internal_error() -> None:
    command = [sys.executable, "-c", MODULE_WITHOUT_MEMORY]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout == "{'code': 'out-of-memory'}\n"


def test_a_module_that_is_missing_is_an_internal_error() -> None:
    missing = ImportError("libgone.so: cannot open shared object file: No such file or directory")
    assert to_response_error(missing, "coppice/undo").message == "internal error"


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


async def test_no_lack_of_memory_makes_a_server_deaf_or_mute(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, lacks = asyncio.get_running_loop(), {"call": 0, "wait": 0}
    call_soon, wait = loop.call_soon_threadsafe, threading.Event.wait

    def lacking(name: str) -> None:
        lacks[name] += 1
        if lacks[name] % 2:
            raise MemoryError if name == "call" else RuntimeError("can't allocate lock")

    def calling(*args: Any) -> Any:
        lacking("call")
        return call_soon(*args)

    def waiting(event: threading.Event, timeout: float | None = None) -> bool:
        if threading.current_thread().name == "coppice-stdin":
            lacking("wait")
        return wait(event, timeout)

    monkeypatch.setattr(loop, "call_soon_threadsafe", calling)
    monkeypatch.setattr(threading.Event, "wait", waiting)
    read_end, write_end = os.pipe()
    writer = streams.PipeWriter(write_end, lambda: None)
    reader = streams.open_reader(read_end)
    for line in (b"one\n", b"two\n"):
        writer.write(line)
        assert await asyncio.wait_for(reader.readline(), 60) == line
    await writer.flush_and_close()
    os.close(write_end)
    assert await asyncio.wait_for(reader.read(), 60) == b""
    assert lacks["call"] > 3
    assert lacks["wait"] > 3


async def test_what_is_read_is_fed_once_however_often_the_loop_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    call_soon, calls = loop.call_soon_threadsafe, 0

    def calling(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        call_soon(*args)
        if calls % 2:
            raise MemoryError

    monkeypatch.setattr(streams, "NO_MEMORY_SECONDS", 0)
    monkeypatch.setattr(loop, "call_soon_threadsafe", calling)
    read_end, write_end = os.pipe()
    reader = streams.open_reader(read_end)
    for line in (b"one\n", b"two\n"):
        os.write(write_end, line)
        assert await asyncio.wait_for(reader.readline(), 60) == line
    os.close(write_end)
    assert await asyncio.wait_for(reader.read(), 60) == b""
    assert calls > 4


ENDING = """
import asyncio, gc, os, threading
from coppice.lsp.process import prepare_logs, run_and_exit
from coppice.lsp.streams import open_reader
prepare_logs()

def fails(*_):
    raise MemoryError

class Finalized:
    __del__ = fails

async def main():
    loop = asyncio.get_running_loop()
    read_end, write_end = os.pipe()
    reader = open_reader(read_end)

    def wake_nobody():
        wake = reader._wakeup_waiter

        def lacks():
            reader._wakeup_waiter, reader._waiter = wake, None
            raise MemoryError

        reader._wakeup_waiter = lacks

    {work}
    await asyncio.sleep(60)

run_and_exit(main())
"""


@pytest.mark.parametrize(
    "work",
    [
        pytest.param("loop.call_soon(fails)", id="a callback"),
        pytest.param(
            "asyncio.create_task(asyncio.to_thread(fails)); await asyncio.sleep(1); gc.collect()",
            id="a task that nobody awaits",
        ),
        pytest.param("threading.Thread(target=fails).start()", id="a thread"),
        pytest.param("Finalized()", id="a finalizer"),
        pytest.param(
            "wake_nobody(); asyncio.create_task(reader.read(1)); os.write(write_end, b'x')",
            id="a message that wakes nobody",
        ),
        pytest.param(
            "threading.Thread._bootstrap = fails; threading.Thread(target=print).start()",
            id="a thread that never says that it runs",
        ),
        pytest.param(
            "loop.call_soon_threadsafe = fails; loop.run_in_executor(None, print)",
            id="an answer that does not reach the loop",
        ),
        pytest.param("fails()", id="the connection"),
    ],
)
def test_a_lack_of_memory_that_nobody_answers_for_ends_the_server(work: str) -> None:
    program = [sys.executable, "-c", ENDING.format(work=work)]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=50, check=False)
    assert ended.returncode == NO_MEMORY, ended.stderr
    assert ended.stderr.endswith(
        "The server had no memory left, and ends. What was acknowledged is stored.\n"
    )


def test_an_error_that_nobody_foresaw_waits_for_no_thread() -> None:
    # In two pieces, since Python 3.13 shows the line of the error.
    work = "threading.Thread(target=threading.Event().wait).start(); raise ValueError('sec' 'ret')"
    program = [sys.executable, "-c", ENDING.format(work=work)]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=50, check=False)
    assert ended.returncode == 1
    assert "ValueError" in ended.stderr
    assert "secret" not in ended.stderr


async def test_a_client_whose_message_lacks_memory_is_not_left_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(b"Content-Length: 2\r\n\r\n{}")
    server = make_server()

    def fails(_: bytes) -> None:
        raise MemoryError

    monkeypatch.setattr(server.protocol, "receive", fails)
    with pytest.raises(MemoryError):
        await serve(server, Connection(reader, lambda _: None, server.protocol.drain))


async def test_a_server_gives_up_where_memory_never_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise MemoryError

    monkeypatch.setattr(streams, "NO_MEMORY_SECONDS", 0)
    with pytest.raises(MemoryError):
        streams._once_there_is_memory(fails)
