"""Standard input and output as the protocol's own: nothing else in the process can read or write them."""

import asyncio
import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Final

from coppice.lsp.framing import MAX_HEADER_BYTES

CHUNK_BYTES: Final = 256 * 1024
FLUSH_SECONDS: Final = 5.0
"""How long an ending server waits for a client to read its last answers."""


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
        os.set_blocking(descriptor, True)
    return real_in, real_out


def open_reader(descriptor: int) -> asyncio.StreamReader:
    """A reader of `descriptor`, be it a pipe, a socket, a terminal or a file.

    A thread reads, since a file cannot be polled; a daemon, since a read cannot be interrupted.
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_HEADER_BYTES, loop=loop)

    def pump() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            while chunk := _read(descriptor):
                loop.call_soon_threadsafe(reader.feed_data, chunk)
            loop.call_soon_threadsafe(reader.feed_eof)

    threading.Thread(target=pump, name="coppice-stdin", daemon=True).start()
    return reader


class PipeWriter:
    """Writes to `descriptor` from a thread, in order, so that a client that does not read stops nobody.

    `on_lost` is called from that thread when the other end is gone.
    """

    def __init__(self, descriptor: int, on_lost: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_lost = on_lost
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._drain, name="coppice-stdout", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        self._waiting.put(data)

    async def flush_and_close(self) -> None:
        self._waiting.put(None)
        await asyncio.to_thread(self._thread.join, FLUSH_SECONDS)

    def _drain(self) -> None:
        try:
            while (data := self._waiting.get()) is not None:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            self._on_lost()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, CHUNK_BYTES)
    except OSError:
        return b""
