"""`coppice serve` on standard input and output."""

import asyncio
from collections.abc import Callable

from coppice.lsp.connection import Connection, make_server, serve
from coppice.lsp.process import prepare_logs, run_and_exit
from coppice.lsp.server import CoppiceServer
from coppice.lsp.streams import PipeWriter, claim_stdio, open_reader


def serve_stdio(make: Callable[[], CoppiceServer] = make_server) -> int:
    """Serve one client on standard input and output, and end the process (see `connection.serve`)."""
    prepare_logs()
    real_in, real_out = claim_stdio()
    return run_and_exit(_serve(make, real_in, real_out))


async def _serve(make: Callable[[], CoppiceServer], real_in: int, real_out: int) -> int:
    lost = asyncio.Event()
    writer = PipeWriter(real_out, lost.set)
    connection = Connection(open_reader(real_in), writer.write, writer.drain, lost)
    try:
        return await serve(make(), connection)
    finally:
        await writer.flush_and_close()
