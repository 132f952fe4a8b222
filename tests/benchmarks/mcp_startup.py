"""How long `coppice mcp` takes from the start of its process to the answer of `tools/list`.

Measured in pairs against a Python that does nothing, so that whatever else the machine does concerns both.
Usage: `python tests/benchmarks/mcp_startup.py [ROUNDS]`. Also printed: the answer to the first
`history_overview` of an empty workspace, with all imports, and the tokens of the tools.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from coppice.mcp.catalogue import TOOLS
from coppice.tokens.counting import count_tokens

LIMIT: Final = 0.3
"""Seconds from the start of the process to the list of tools."""
ROUNDS: Final = 15
COMMAND: Final = [str(Path(sys.executable).with_name("coppice")), "mcp"]


def request(number: int, method: str, params: dict[str, Any]) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


def nothing() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began


def listed(folder: str) -> tuple[float, float]:
    """Seconds until the list of tools is answered, and until the first call is."""
    places = {f"COPPICE_{name}_DIRECTORY": folder for name in ("STORAGE", "CONFIG")}
    began = time.perf_counter()
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | places, cwd=folder
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(request(1, "initialize", {"protocolVersion": "2025-06-18"}))
        process.stdin.write(request(2, "tools/list", {}))
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.readline()
        tools = time.perf_counter() - began
        process.stdin.write(request(3, "tools/call", {"name": "history_overview"}))
        process.stdin.flush()
        process.stdout.readline()
        first_call = time.perf_counter() - began
        process.stdin.close()
    return tools, first_call


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        listed(folder)
        pairs = [(nothing(), *listed(folder)) for _ in range(rounds)]
    bare, tools, call = (statistics.median(each) for each in zip(*pairs, strict=True))
    difference = statistics.median(ours - theirs for theirs, ours, _ in pairs)
    print(
        f"python -c pass {bare * 1000:.0f} ms, tools/list {tools * 1000:.0f} ms, slowest "
        f"{max(each[1] for each in pairs) * 1000:.0f} ms; difference in pairs {difference * 1000:.0f} ms"
    )
    print(f"limit: {LIMIT * 1000:.0f} ms; first call answered after {call * 1000:.0f} ms")
    print(f"tokens of the tools: {count_tokens(json.dumps(TOOLS, separators=(',', ':')))}")


if __name__ == "__main__":
    main()
