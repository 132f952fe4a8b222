"""How long `initialize` takes to be answered, and the memory then, against a bare pygls server.

Both servers are started in turn, so that whatever else the machine does concerns both. Their bytecode is
cached, as pip leaves an installed package: without it a checkout would be compiled at every start and pygls
not. Usage: `python tests/benchmarks/startup.py [ROUNDS]`.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import psutil

LIMIT: Final = 1.5
"""The ratio to stay under."""
ROUNDS: Final = 15

BARE: Final = "from pygls.lsp.server import LanguageServer; LanguageServer('bare', '1').start_io()"
SERVERS: Final = {
    "bare pygls": [sys.executable, "-c", BARE],
    "coppice serve": [str(Path(sys.executable).with_name("coppice")), "serve"],
}
INITIALIZE: Final = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"processId": None, "rootUri": None, "capabilities": {}},
    }
).encode()


def start(command: list[str], folder: str) -> tuple[float, float, float]:
    """Seconds until `initialize` is answered, processor seconds by then, and megabytes a second later."""
    places = {f"COPPICE_{name}_DIRECTORY": folder for name in ("STORAGE", "CONFIG")}
    places |= {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
    began = time.perf_counter()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | places,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(INITIALIZE), INITIALIZE))
        process.stdin.flush()
        process.stdout.readline()
        answered = time.perf_counter() - began
        times = psutil.Process(process.pid).cpu_times()
        time.sleep(1.5)
        memory = psutil.Process(process.pid).memory_info().rss / 1e6
        process.kill()
    return answered, times.user + times.system, memory


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    measured: dict[str, list[tuple[float, float, float]]] = {name: [] for name in SERVERS}
    with tempfile.TemporaryDirectory() as folder:
        for command in SERVERS.values():
            start(command, folder)
        for _ in range(rounds):
            for name, command in SERVERS.items():
                measured[name].append(start(command, folder))
    medians = {
        name: [statistics.median(each) for each in zip(*rows, strict=True)] for name, rows in measured.items()
    }
    for name, (answered, processor, memory) in medians.items():
        print(f"{name:15} {answered * 1000:6.0f} ms  {processor * 1000:6.0f} ms processor  {memory:5.0f} MB")
    bare, ours = medians.values()
    ratios = [own / peer for own, peer in zip(ours, bare, strict=True)]
    words = ("time", "processor time", "memory")
    print("ratio: " + ", ".join(f"{ratio:.2f} in {word}" for ratio, word in zip(ratios, words, strict=True)))
    print(f"limit: {LIMIT} in time")


if __name__ == "__main__":
    main()
