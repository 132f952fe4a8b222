"""`coppice serve` on a socket, which serves one client and closes every other connection."""

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
from coppice.lsp.process import prepare_logs, run_and_exit
from coppice.lsp.sockets import SocketError, hand_over_secret, open_tcp
from coppice.lsp.streams import FLUSH_SECONDS, MAX_UNWRITTEN_BYTES
from coppice.operating_system import ENDING_SIGNALS, off_signal, on_signal

USAGE_ERROR: Final = 2  # exit code, as argparse's
SECRET_HEADER: Final = b"Coppice-Secret: "
SECRET_SECONDS: Final = 10.0
"""How long a connection may take to send the secret. A client sends it at once, over loopback."""
MAX_STRANGERS: Final = 16
"""Connections that may wait for their secret at a time, of the one client that there is; one more closes the
longest waiting."""

_log = logging.getLogger(__name__)


def serve_unix(path: Path) -> int:
    """Serve one client on a Unix socket at `path`, and end the process. 2 when it cannot be opened.

    The file system keeps other users out: the socket has mode 0600, in a folder of mode 0700.
    """
    prepare_logs()
    try:
        from coppice.lsp.unix_socket import open_unix  # noqa: PLC0415 - cannot be imported on Windows

        listening = open_unix(path)
    except SocketError as error:
        return _usage(str(error))
    return run_and_exit(Listening(listening, None, [path]).serve(f"Listening on {path}"))


def serve_tcp(host: str, port: int, secret_file: Path | None) -> int:
    """Serve one client on a loopback address, and end the process. 2 when it cannot be opened.

    The client proves that it may connect with the secret, which is written to `secret_file` or printed on
    standard output. Port 0 picks a free one.
    """
    prepare_logs()
    try:
        listening = open_tcp(host, port)
        secret, line = hand_over_secret(secret_file)
    except SocketError as error:
        return _usage(str(error))
    shown, number = listening.getsockname()[:2]
    address = f"[{shown}]:{number}" if ":" in shown else f"{shown}:{number}"
    leftovers = [secret_file] if secret_file else []
    return run_and_exit(Listening(listening, secret, leftovers).serve(f"Listening on {address}{line}"))


def _usage(problem: str) -> int:
    sys.stderr.write(f"coppice: {problem}\n")
    return USAGE_ERROR


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
