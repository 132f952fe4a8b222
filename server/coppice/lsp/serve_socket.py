"""`coppice serve` on a socket: for one client, which connects to it."""

import sys
from pathlib import Path
from typing import Final

from coppice.lsp.listening import Listening
from coppice.lsp.process import prepare_logs, run_and_exit
from coppice.lsp.sockets import SocketError, hand_over_secret, open_tcp

USAGE_ERROR: Final = 2  # exit code, as argparse's


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
