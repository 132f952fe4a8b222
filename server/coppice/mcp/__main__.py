"""`coppice mcp`, also as `python -m coppice.mcp`."""

import sys


def main(arguments: list[str]) -> int:
    """Serve one client on the standard streams until it leaves."""
    # A client asks for the tools at once; nothing is imported before it has them that they do not need.
    from coppice.mcp.options import options_of  # noqa: PLC0415 - see above
    from coppice.mcp.server import serve  # noqa: PLC0415 - see above

    return serve(options_of(arguments))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
