"""`coppice serve`: the language server on standard input and output, or on a loopback socket."""

import asyncio
import ipaddress
import logging
import socket
import sys
from collections.abc import Callable, Coroutine
from typing import Any, Final

from coppice.lsp import codec
from coppice.lsp.connection import make_server, serve
from coppice.lsp.faults import REQUEST_FAILED
from coppice.lsp.framing import MAX_HEADER_BYTES, frame
from coppice.lsp.server import CoppiceServer
from coppice.lsp.streams import PipeWriter, claim_stdio, open_reader

USAGE_ERROR: Final = 2

MakeServer = Callable[[], CoppiceServer]


def serve_stdio(make: MakeServer = make_server) -> int:
    """Serve one client on standard input and output; the exit code (see `connection.serve`)."""
    prepare_logs()
    real_in, real_out = claim_stdio()
    return _run(_serve_stdio(make, real_in, real_out))


def serve_tcp(host: str, port: int) -> int:
    """Serve one client on `host`:`port`, then end; the exit code.

    Only a loopback address will do: whoever can connect can read every conversation. Port 0 picks one.
    The address is printed on standard output once it is open. While a client is connected every other
    connection is refused.
    """
    prepare_logs()
    address = loopback_address(host, port)
    if address is None:
        sys.stderr.write(
            f"coppice: {host} is no loopback address. The server has no passwords and listens on 127.0.0.1, "
            "::1 or localhost only; use an SSH tunnel to reach it from another machine.\n"
        )
        return USAGE_ERROR
    try:
        listening = socket.create_server(
            address, family=socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        )
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        sys.stderr.write(f"coppice: {host}:{port} cannot be opened: {reason}.\n")
        return USAGE_ERROR
    return _run(_serve_tcp(listening))


def loopback_address(host: str, port: int) -> tuple[str, int] | None:
    """What to listen on for `host`, or None when that is not this machine's loopback."""
    literal = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        return (literal, port) if ipaddress.ip_address(literal).is_loopback else None
    except ValueError:
        return None


def prepare_logs() -> None:
    """Logs go to standard error. pygls stays silent: what it logs quotes messages."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="coppice: %(levelname)s: %(message)s"
    )
    logging.getLogger("pygls").setLevel(logging.CRITICAL)


def _run(serving: Coroutine[Any, Any, int]) -> int:
    try:
        return asyncio.run(serving)
    except KeyboardInterrupt:
        return 1


async def _serve_stdio(make: MakeServer, real_in: int, real_out: int) -> int:
    _silence_loop()
    server, lost = make(), asyncio.Event()
    loop = asyncio.get_running_loop()
    writer = PipeWriter(real_out, lambda: _signal(loop, lost))
    server.protocol.transmit = writer.write
    try:
        return await serve(server, open_reader(real_in), lost)
    finally:
        await writer.flush_and_close()


async def _serve_tcp(listening: socket.socket) -> int:
    _silence_loop()
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    taken = False

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal taken
        if taken:
            await _refuse(writer)
            return
        taken = True
        server = make_server()
        server.protocol.transmit = writer.write
        try:
            ended.set_result(await serve(server, reader, asyncio.Event()))
        finally:
            await _close(writer)
            if not ended.done():
                ended.set_result(1)

    opened = await asyncio.start_server(connected, sock=listening, limit=MAX_HEADER_BYTES)
    host, port = listening.getsockname()[:2]
    sys.stdout.write(f"Listening on {f'[{host}]' if ':' in host else host}:{port}\n")
    sys.stdout.flush()
    try:
        return await ended
    finally:
        opened.close()


async def _refuse(writer: asyncio.StreamWriter) -> None:
    error = {"code": REQUEST_FAILED, "message": "Another client is connected; start a server of your own."}
    writer.write(frame(codec.encode({"jsonrpc": "2.0", "id": None, "error": error}, str)))
    await _close(writer)


async def _close(writer: asyncio.StreamWriter) -> None:
    try:
        await asyncio.wait_for(writer.drain(), 5)
        writer.close()
        await asyncio.wait_for(writer.wait_closed(), 5)
    except (OSError, TimeoutError):
        writer.transport.abort()


def _signal(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(event.set)


def _silence_loop() -> None:
    """The loop's own reports quote exceptions, and those may quote a conversation."""

    def report(_: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        logging.getLogger("coppice.lsp").error("%s (%s)", context.get("message"), type(error).__name__)

    asyncio.get_running_loop().set_exception_handler(report)
