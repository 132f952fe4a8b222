"""One client's connection, on standard input and output, from its first byte to the server's exit code."""

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn

from coppice.lsp import features
from coppice.lsp.framing import FramingError, read_message
from coppice.lsp.process import prepare_logs, run_and_exit
from coppice.lsp.server import CoppiceServer
from coppice.lsp.streams import PipeWriter, claim_stdio, open_reader
from coppice.protocol.methods import METHODS

if TYPE_CHECKING:
    from coppice.service.methods import Dispatcher

CLOSE_SECONDS: Final = 10.0
"""How long an ending server waits for its work to end. A cancelled request is answered within a second."""

POLL_SECONDS: Final = 2.0
"""Between two looks at the client's process. An abandoned server does not stay long, and looking
costs little."""

_log = logging.getLogger(__name__)


def make_server() -> CoppiceServer:
    """A server with the methods of the protocol. Its service is imported when it is first used."""
    server = CoppiceServer(METHODS, _make_service)
    features.register(server)
    return server


def serve_stdio(make: Callable[[], CoppiceServer] = make_server) -> NoReturn:
    """Serve one client on standard input and output, and end the process (see `serve`)."""
    prepare_logs()
    real_in, real_out = claim_stdio()
    run_and_exit(_serve_descriptors(make, real_in, real_out))


async def _serve_descriptors(make: Callable[[], CoppiceServer], real_in: int, real_out: int) -> int:
    lost = asyncio.Event()
    writer = PipeWriter(real_out, lost.set)
    connection = Connection(open_reader(real_in), writer.write, writer.drain, lost)
    try:
        return await serve(make(), connection)
    finally:
        await writer.flush_and_close()


@dataclass(frozen=True)
class Connection:
    """A client's bytes. `drain` waits while too much waits to be written; `lost` is set when nobody reads."""

    reader: asyncio.StreamReader
    write: Callable[[bytes], None]
    drain: Callable[[], Awaitable[None]]
    lost: asyncio.Event = field(default_factory=asyncio.Event)


async def serve(server: CoppiceServer, connection: Connection) -> int:
    """Answer the client until it ends the connection; the process's exit code.

    0 when the client had sent `shutdown`, 1 otherwise.
    """
    protocol = server.protocol
    protocol.transmit, protocol.drain = connection.write, connection.drain
    endings: set[asyncio.Task[Any]] = {
        asyncio.create_task(_read(server, connection.reader)),
        asyncio.create_task(protocol.exited.wait()),
        asyncio.create_task(connection.lost.wait()),
        asyncio.create_task(_client_gone(server)),
    }
    try:
        await asyncio.wait(endings, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for ending in endings:
            ending.cancel()
        ends = await asyncio.gather(*endings, return_exceptions=True)
        closing = asyncio.create_task(server.close())
        await asyncio.wait([closing], timeout=CLOSE_SECONDS)
        if not closing.done():
            _log.warning("Work did not end within %g seconds; the server ends without it.", CLOSE_SECONDS)
    for end in ends:
        if isinstance(end, Exception):
            raise end
    return 0 if protocol.shut_down else 1


def _make_service(client: CoppiceServer) -> "Dispatcher":
    # Modules stay. To look through their 120,000 objects takes 0.1 s, and while they are imported it is done
    # several times, a third of the first request's time.
    gc.disable()
    try:
        from coppice.service.methods import Dispatcher  # noqa: PLC0415 - see `make_server`
        from coppice.service.service import Service  # noqa: PLC0415
    finally:
        gc.freeze()
        gc.enable()
    return Dispatcher(Service(client, progress_of=client.progress_of))


async def _read(server: CoppiceServer, reader: asyncio.StreamReader) -> None:
    try:
        while (body := await read_message(reader)) is not None:
            server.protocol.receive(body)
            if server.protocol.exited.is_set():
                return
            await server.protocol.ready_to_read()
    except FramingError as error:
        _log.error("The connection ends: %s.", error)
        server.protocol.refuse_stream(str(error))
    except ConnectionError:
        return


async def _client_gone(server: CoppiceServer) -> None:
    """Return when the client's process is gone, or a zombie, or its number has passed to another one."""
    await server.introduced.wait()
    if server.client.process_id is None:
        await asyncio.Event().wait()
    import psutil  # noqa: PLC0415 - `initialize` is answered without it

    process: psutil.Process | None = None
    while True:
        try:
            process = process or psutil.Process(server.client.process_id)
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                break
        except (psutil.NoSuchProcess, OverflowError, ValueError):
            break
        except (psutil.AccessDenied, OSError) as error:
            # No free descriptor, for instance: it says nothing about the client.
            _log.warning("The client's process cannot be looked at: %s.", error)
        await asyncio.sleep(POLL_SECONDS)
    _log.warning("The client's process is gone; the server ends.")
