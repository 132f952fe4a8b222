"""The bytes of a connection, with bounded buffers in both directions."""

import asyncio
import contextlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from coppice.lsp.framing import MAX_HEADER_BYTES
from coppice.operating_system import use_as_stream

T = TypeVar("T")

CHUNK_BYTES: Final = 256 * 1024
"""Read at a time. Four times what a pipe holds on Linux, so that a full one is read at once."""
MAX_UNWRITTEN_BYTES: Final = 32 * 1024 * 1024
"""What may wait to be written before the server stops reading and starting requests. Eight of the
largest pages."""
NO_MEMORY_SECONDS: Final = 0.1
"""Until what there was no memory for is tried again: a client that waits does not notice so little."""
NO_MEMORY_TRIES: Final = 300
"""Tries in a row, over half a minute, after which the server ends: half of the time that a loop may stop."""
FLUSH_SECONDS: Final = 5.0
"""How long an ending server waits for a client to read its last answers. VS Code's client gives it two."""


def claim_stdio() -> tuple[int, int]:
    """Descriptors of the real standard input and output.

    From then on, what any code or library prints goes to standard error, and standard input is empty.
    """
    real_in, real_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    for descriptor in (real_in, real_out):
        use_as_stream(descriptor)
    return real_in, real_out


def open_reader(descriptor: int) -> asyncio.StreamReader:
    """A reader of `descriptor`, be it a pipe, a socket, a terminal or a file.

    It reads on when what it has read is taken, so that an endless input takes no memory.
    """
    reader = asyncio.StreamReader(limit=MAX_HEADER_BYTES, loop=asyncio.get_running_loop())
    reader.set_transport(_ThreadTransport(descriptor, reader))
    return reader


class _ThreadTransport(asyncio.ReadTransport):
    """Reads in a thread, since a file cannot be polled; in a daemon, since a read cannot be interrupted."""

    def __init__(self, descriptor: int, reader: asyncio.StreamReader) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._reader = reader
        self._loop = asyncio.get_running_loop()
        self._chunk = b""
        self._taken = threading.Event()
        self._resumed = threading.Event()
        self._resumed.set()
        threading.Thread(target=self._pump, name="coppice-stdin", daemon=True).start()

    def pause_reading(self) -> None:
        """Stop reading; called by the reader when its buffer is full."""
        self._resumed.clear()

    def resume_reading(self) -> None:
        """Read on; called by the reader when its buffer has been emptied."""
        self._resumed.set()

    def _pump(self) -> None:
        with contextlib.suppress(_ClosedLoopError):
            while chunk := self._read():
                self._taken.clear()
                self._chunk = chunk
                _call_soon(self._loop, self._feed)
                _once_there_is_memory(self._taken.wait)
                _once_there_is_memory(self._resumed.wait)
            _call_soon(self._loop, self._reader.feed_eof)

    def _feed(self) -> None:
        """Feeds what was read, once: a loop that was asked without memory may be asked again.

        MemoryError ends the server. What was fed then may have woken nobody, and would be read twice if it
        were fed again.
        """
        chunk, self._chunk = self._chunk, b""
        if chunk:
            self._reader.feed_data(chunk)
            self._taken.set()

    def _read(self) -> bytes:
        try:
            return _once_there_is_memory(lambda: os.read(self._descriptor, CHUNK_BYTES))
        except OSError:
            return b""


class PipeWriter:
    """Writes to `descriptor` from a thread, in order, so that a client that does not read blocks nothing.

    `on_lost` is called on the event loop when the other end is closed.
    """

    def __init__(self, descriptor: int, on_lost: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unwritten = 0
        self._writable = asyncio.Event()
        self._writable.set()
        self._thread = threading.Thread(target=self._write_all, name="coppice-stdout", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Have `data` written after everything before it. Called on the event loop."""
        self._unwritten += len(data)
        if self._unwritten > MAX_UNWRITTEN_BYTES:
            self._writable.clear()
        self._waiting.put(data)

    async def drain(self) -> None:
        """Wait until at most `MAX_UNWRITTEN_BYTES` wait to be written."""
        await self._writable.wait()

    async def flush_and_close(self) -> None:
        """Wait until everything is written, `FLUSH_SECONDS` at most."""
        self._waiting.put(None)
        give_up = self._loop.time() + FLUSH_SECONDS
        while self._thread.is_alive() and self._loop.time() < give_up:  # noqa: ASYNC110 - a thread
            await asyncio.sleep(0.005)

    def _write_all(self) -> None:
        with contextlib.suppress(_ClosedLoopError):
            try:
                while (data := _once_there_is_memory(self._waiting.get)) is not None:
                    self._write(data)
                    _call_soon(self._loop, self._written, len(data))
            except OSError:
                _call_soon(self._loop, self._on_lost)

    def _write(self, data: bytes) -> None:
        written = 0
        while written < len(data):
            written += _once_there_is_memory(partial(self._write_rest, data, written))

    def _write_rest(self, data: bytes, written: int) -> int:
        return os.write(self._descriptor, memoryview(data)[written:])

    def _written(self, count: int) -> None:
        self._unwritten -= count
        if self._unwritten <= MAX_UNWRITTEN_BYTES:
            self._writable.set()


class _ClosedLoopError(Exception):
    """Nobody reads or writes any more."""


def _call_soon(loop: asyncio.AbstractEventLoop, work: Callable[..., object], *args: object) -> None:
    def call() -> None:
        if loop.is_closed():
            raise _ClosedLoopError
        loop.call_soon_threadsafe(work, *args)

    _once_there_is_memory(call)


def _once_there_is_memory(work: Callable[[], T]) -> T:
    """The result of `work`, called again while there is no memory, or no lock.

    Raises MemoryError after `NO_MEMORY_TRIES`: a server without these threads answers nobody, and ends.
    """
    for _ in range(NO_MEMORY_TRIES):
        try:
            return work()
        except (MemoryError, RuntimeError):
            time.sleep(NO_MEMORY_SECONDS)
    raise MemoryError
