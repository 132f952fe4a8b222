"""`coppice serve`, also as `python -m coppice.lsp`."""

import argparse
import os
import sys
from pathlib import Path
from typing import Final, NoReturn

_EXIT_CODES: Final = (
    "Exit codes: 0 the client sent shutdown, 1 it left without, 2 the server could not begin, "
    "71 it had no memory left, 75 it had stopped working."
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with one sentence, as the rest of the command line does."""
        sys.stderr.write(f"coppice: {message}. See `coppice serve --help`.\n")
        raise SystemExit(2)


def main(arguments: list[str] | None = None) -> int:
    """Run the server that the arguments describe. Returns only where it cannot start, with 2."""
    parser = _Parser(
        prog="coppice serve",
        description="Run the language server for one client, on standard input and output or on a socket.",
        epilog=_EXIT_CODES,
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--stdio", action="store_true", help="standard input and output; the default")
    way.add_argument(
        "--socket", metavar="PATH", type=Path, help="a Unix socket, in a folder that only you can enter"
    )
    way.add_argument(
        "--tcp",
        metavar="HOST:PORT",
        type=_address,
        help="a loopback address, port 0 picks a free one; the client must begin with the secret",
    )
    parser.add_argument(
        "--secret-file",
        metavar="PATH",
        type=Path,
        help="with --tcp: write the secret to this new file instead of to standard output",
    )
    chosen = parser.parse_args(arguments)
    if chosen.secret_file is not None and chosen.tcp is None:
        parser.error("--secret-file goes with --tcp")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # to look for them takes 30 ms
    # Only what the client needs is imported: it waits for the answer to `initialize`.
    if chosen.socket is not None:
        from coppice.lsp.listening import serve_unix  # noqa: PLC0415

        return serve_unix(chosen.socket)
    if chosen.tcp is not None:
        from coppice.lsp.listening import serve_tcp  # noqa: PLC0415

        host, port = chosen.tcp
        return serve_tcp(host, port, chosen.secret_file)
    from coppice.lsp.serve import serve_stdio  # noqa: PLC0415

    return serve_stdio()


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()):
        raise argparse.ArgumentTypeError("HOST:PORT is expected, 127.0.0.1:0 for instance")
    return host, int(port)


if __name__ == "__main__":
    raise SystemExit(main())
