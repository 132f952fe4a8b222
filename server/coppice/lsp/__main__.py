"""`python -m coppice.lsp [--stdio | --tcp HOST:PORT]`, as `coppice serve`."""

import argparse
import sys

from coppice.lsp.serve import USAGE_ERROR, serve_stdio, serve_tcp


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="coppice serve")
    parser.add_argument("--stdio", action="store_true", help="speak on standard input and output (default)")
    parser.add_argument("--tcp", metavar="HOST:PORT", help="listen on a loopback address; port 0 picks one")
    chosen = parser.parse_args(arguments)
    if chosen.tcp is None:
        return serve_stdio()
    host, _, port = chosen.tcp.rpartition(":")
    if not host or not port.isdigit():
        sys.stderr.write("coppice: --tcp takes HOST:PORT, 127.0.0.1:0 for instance.\n")
        return USAGE_ERROR
    return serve_tcp(host, int(port))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
