"""A listening socket that serves one client and closes every other connection."""

import asyncio
import contextlib
import hmac
import logging
import signal
import socket
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Final, SupportsIndex

from lsprotocol.types import LSPErrorCodes

from coppice.lsp import codec
from coppice.lsp.connection import Connection, make_server, serve
from coppice.lsp.framing import MAX_HEADER_BYTES, frame
from coppice.lsp.streams import FLUSH_SECONDS, MAX_UNWRITTEN_BYTES
from coppice.operating_system import ENDING_SIGNALS, off_signal, on_signal

SECRET_HEADER: Final = b"Coppice-Secret: "
SECRET_SECONDS: Final = 10.0
"""How long a connection may take to send the secret. A client sends it at once, over loopback."""
MAX_STRANGERS: Final = 16
"""Connections that may wait for their secret at a time, of the one client that there is; one more closes the
longest waiting."""

_log = logging.getLogger(__name__)


class _Reader(asyncio.StreamReader):
    """Shows when the connection has begun to send, or has ended, without taking anything from it."""

    def __init__(self) -> None:
        super().__init__(limit=MAX_HEADER_BYTES)
        self.received = False
        self.begun = asyncio.Event()

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        super().feed_data(data)
        self.received = True
        self.begun.set()

    def feed_eof(self) -> None:
        super().feed_eof()
        self.begun.set()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self.begun.set()


class Listening:
    """Connections that begin with the secret are let in, or all where it is None.

    `leftovers` are files to remove in the end; with a secret, already when its client was let in.
    """

    def __init__(self, listening: socket.socket, secret: str | None, leftovers: list[Path]) -> None:
        self._listening = listening
        self._secret_line = None if secret is None else SECRET_HEADER + secret.encode()
        self._leftovers = leftovers
        self._strangers: list[asyncio.StreamWriter] = []
        self._taken = False
        self._ended = asyncio.Event()
        self._code = 1

    async def serve(self, announcement: str) -> int:
        """Print `announcement`, serve the first client that is let in, and return its exit code."""
        loop = asyncio.get_running_loop()
        opened = await loop.create_server(self._protocol, sock=self._listening)
        for number in ENDING_SIGNALS:
            on_signal(loop, number, partial(self._leave, number))
        sys.stdout.write(f"{announcement}\n")
        sys.stdout.flush()
        try:
            await self._ended.wait()
        finally:
            opened.close()
            self._remove_leftovers()
        return self._code

    def _leave(self, number: signal.Signals) -> None:
        """Ends the process as the signal would, without the files."""
        self._remove_leftovers()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    def _remove_leftovers(self) -> None:
        for file in self._leftovers:
            file.unlink(missing_ok=True)

    def _protocol(self) -> asyncio.StreamReaderProtocol:
        reader = _Reader()
        return asyncio.StreamReaderProtocol(reader, lambda _, writer: self._connected(reader, writer))

    async def _connected(self, reader: _Reader, writer: asyncio.StreamWriter) -> None:
        """A connection is the client's from its first byte; one that ends before was only a look."""
        if not await self._admits(reader, writer):
            _log.warning("A connection that did not begin with the secret was closed.")
            writer.transport.abort()
            return
        if not self._taken:
            await reader.begun.wait()
        if self._taken:
            await _refuse(writer)
        elif not reader.received:
            writer.transport.abort()
        else:
            self._taken = True
            await self._serve(reader, writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._secret_line is not None:
            self._remove_leftovers()
        for number in ENDING_SIGNALS:
            # From now on a signal ends the process whatever its threads do.
            off_signal(asyncio.get_running_loop(), number)
        writer.transport.set_write_buffer_limits(high=MAX_UNWRITTEN_BYTES)
        connection = Connection(reader, writer.write, partial(_drain, writer))
        try:
            self._code = await serve(make_server(), connection)
        finally:
            await _close(writer)
            self._ended.set()

    async def _admits(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the first line is `Coppice-Secret: <secret>`. The line is taken from the stream."""
        if self._secret_line is None:
            return True
        if len(self._strangers) >= MAX_STRANGERS:
            self._strangers.pop(0).transport.abort()
        self._strangers.append(writer)
        try:
            async with asyncio.timeout(SECRET_SECONDS):
                line = await _first_line(reader, len(self._secret_line))
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            return False
        finally:
            with contextlib.suppress(ValueError):
                self._strangers.remove(writer)
        return hmac.compare_digest(line, self._secret_line)


async def _first_line(reader: asyncio.StreamReader, length: int) -> bytes:
    """The line without its end, or as much of a longer one as shows that it is another."""
    line = await reader.readexactly(length)
    end = await reader.readexactly(1)
    return line if end == b"\n" or end + await reader.readexactly(1) == b"\r\n" else b""


async def _refuse(writer: asyncio.StreamWriter) -> None:
    message = "Another client is connected; start a server of your own."
    error = {"code": LSPErrorCodes.RequestFailed, "message": message}
    writer.write(frame(codec.encode({"jsonrpc": "2.0", "id": None, "error": error}, str)))
    await _close(writer)


async def _drain(writer: asyncio.StreamWriter) -> None:
    """Wait until little enough waits to be written; the end of the connection is noticed by its reader."""
    with contextlib.suppress(ConnectionError):
        await writer.drain()


async def _close(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(FLUSH_SECONDS):
            writer.transport.set_write_buffer_limits(high=0)
            await writer.drain()
            writer.close()
            await writer.wait_closed()
    writer.transport.abort()
