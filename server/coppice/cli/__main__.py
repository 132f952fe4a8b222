"""The program `coppice`: `serve` and `mcp` start without the libraries of the other commands."""

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.argv[1:2] == ["serve"]:
        from coppice.lsp.__main__ import main as serve  # noqa: PLC0415 - see above

        raise SystemExit(serve(sys.argv[2:]))
    if sys.argv[1:2] == ["mcp"]:
        from coppice.mcp.__main__ import main as serve_mcp  # noqa: PLC0415 - see above

        raise SystemExit(serve_mcp(sys.argv[2:]))
    from coppice.cli.app import main as run  # noqa: PLC0415 - see above

    run()


if __name__ == "__main__":
    main()
