"""`coppice serve`: the language server on standard input and output, or on a socket."""

import asyncio
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from coppice.lsp.connection import Connection, make_server, serve
from coppice.lsp.listening import Door, Listening
from coppice.lsp.process import prepare_logs, run_and_exit
from coppice.lsp.server import CoppiceServer
from coppice.lsp.sockets import SocketError, hand_over_secret, open_tcp, open_unix
from coppice.lsp.streams import PipeWriter, claim_stdio, open_reader

USAGE_ERROR: Final = 2  # exit code, as argparse's

MakeServer = Callable[[], CoppiceServer]


def serve_stdio(make: MakeServer = make_server) -> int:
    """Serve one client on standard input and output, and end the process (see `connection.serve`)."""
    prepare_logs()
    real_in, real_out = claim_stdio()
    return run_and_exit(_serve_stdio(make, real_in, real_out))


def serve_unix(path: Path, make: MakeServer = make_server) -> int:
    """Serve one client on a Unix socket at `path`, and end the process. 2 when it cannot be opened.

    The file system keeps other users out: the socket has mode 0600, in a folder of mode 0700.
    """
    prepare_logs()
    try:
        listening = open_unix(path)
    except SocketError as error:
        return _usage(str(error))
    return run_and_exit(_serve_socket(listening, Door(None), f"Listening on {path}", make, path))


def serve_tcp(host: str, port: int, secret_file: Path | None, make: MakeServer = make_server) -> int:
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
    return run_and_exit(
        _serve_socket(listening, Door(secret), f"Listening on {address}{line}", make, secret_file)
    )


def _usage(problem: str) -> int:
    sys.stderr.write(f"coppice: {problem}\n")
    return USAGE_ERROR


async def _serve_stdio(make: MakeServer, real_in: int, real_out: int) -> int:
    lost = asyncio.Event()
    writer = PipeWriter(real_out, lost.set)
    connection = Connection(open_reader(real_in), writer.write, writer.drain, lost)
    try:
        return await serve(make(), connection)
    finally:
        await writer.flush_and_close()


async def _serve_socket(
    listening: socket.socket, door: Door, announcement: str, make: MakeServer, leftover: Path | None
) -> int:
    return await Listening(listening, door, make, [leftover] if leftover else []).serve(announcement)
