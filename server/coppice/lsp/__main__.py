"""`coppice serve`, also as `python -m coppice.lsp`."""

import argparse
import os
import sys
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


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the server, and end the process with its exit code."""
    parser = _Parser(
        prog="coppice serve",
        description="Run the language server for one client, on standard input and output.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("--stdio", action="store_true", help="the only way, and the default")
    _, unknown = parser.parse_known_args(arguments)
    if unknown:
        parser.error(
            f"{unknown[0]!r} is unknown: the server uses standard input and output, and nothing else"
        )
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # to look for them takes 30 ms
    # Only what the client needs is imported: it waits for the answer to `initialize`.
    from coppice.lsp.connection import serve_stdio  # noqa: PLC0415

    serve_stdio()


if __name__ == "__main__":
    main()
