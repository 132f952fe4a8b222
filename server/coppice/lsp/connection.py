"""One client's connection, from its first byte to the server's exit code."""

import asyncio
import logging

from coppice.lsp import features
from coppice.lsp.framing import FramingError, read_message
from coppice.lsp.parent import wait_until_gone
from coppice.lsp.server import CoppiceServer
from coppice.service.methods import METHODS
from coppice.service.service import Service

_log = logging.getLogger(__name__)


def make_server() -> CoppiceServer:
    server = CoppiceServer(METHODS, lambda emit: Service(emit=emit))
    features.register(server)
    return server


async def serve(server: CoppiceServer, reader: asyncio.StreamReader, lost: asyncio.Event) -> int:
    """Answer what `reader` brings until the client ends it or is gone; the process's exit code.

    0 when the client had said `shutdown`, 1 otherwise. `lost` tells that answers no longer get through.
    """
    protocol = server.protocol
    reading = asyncio.create_task(_read(server, reader))
    endings = {
        reading,
        asyncio.create_task(_flag(protocol.exited)),
        asyncio.create_task(_flag(lost)),
        asyncio.create_task(_client_gone(server)),
    }
    try:
        await asyncio.wait(endings, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for ending in endings:
            ending.cancel()
        await asyncio.gather(*endings, return_exceptions=True)
        await server.close()
    return 0 if protocol.shut_down else 1


async def _read(server: CoppiceServer, reader: asyncio.StreamReader) -> None:
    try:
        while (body := await read_message(reader)) is not None:
            server.protocol.receive(body)
            if server.protocol.exited.is_set():
                return
    except FramingError as error:
        _log.error("The connection ends: %s.", error)
        server.protocol.refuse_stream(str(error))
    except ConnectionError:
        return


async def _flag(event: asyncio.Event) -> None:
    await event.wait()


async def _client_gone(server: CoppiceServer) -> None:
    await server.introduced.wait()
    if server.process_id is None:
        await asyncio.Event().wait()
    else:
        await wait_until_gone(server.process_id)
        _log.warning("The client's process is gone; the server ends.")
