"""How long the first request for a conversation that exists waits after a start.

Usage: `python tests/benchmarks/first_request.py [ROUNDS]`. Each request is the first one of a server of its
own, sent after one of `PAUSES` since the answer to `initialize`; the processor time is the server's.
`estimate` needs no tokenizer: the difference is what loading it costs.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, Final

import psutil

ROUNDS: Final = 9
COUNTERS: Final = ("auto", "estimate")
PAUSES: Final = (0.0, 0.2, 1.0)
"""Seconds; an editor takes some 0.1 until its first request."""
ENTRY: Final = {
    "type": "message",
    "message": {"role": "user", "content": "Water the larch by the gate. " * 20},
}
REQUESTS: Final[dict[str, dict[str, Any]]] = {
    "coppice/usage": {},
    "coppice/context": {"format": "openai"},
    "coppice/append": {"entries": [ENTRY]},
}


class Server:
    """A server that was just started in `folder`."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = psutil.Process(process.pid)
        self._written, self._read = process.stdin, process.stdout
        self._number = 0

    def send(self, **message: Any) -> None:
        """A message, without waiting for anything."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._written.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._written.flush()

    def ask(self, method: str, **params: Any) -> tuple[Any, float, float]:
        """The result of a request, the seconds that it took, and those of the processor."""
        self._number += 1
        began, computed = time.perf_counter(), self._computed()
        self.send(id=self._number, method=method, params=params)
        while True:
            headers = dict(line.split(": ") for line in iter(self._line, ""))
            message = json.loads(self._read.read(int(headers["Content-Length"])))
            if message.get("id") == self._number and "method" not in message:
                return message["result"], time.perf_counter() - began, self._computed() - computed

    def _computed(self) -> float:
        times = self._process.cpu_times()
        return times.user + times.system

    def _line(self) -> str:
        return self._read.readline().decode().strip()


@contextmanager
def serving(folder: str, counter: str) -> Iterator[Server]:
    """A server whose `initialize` is answered."""
    places = {f"COPPICE_{name}_DIRECTORY": f"{folder}/{name}" for name in ("STORAGE", "CONFIG")}
    places |= {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
    with subprocess.Popen(
        [str(Path(sys.executable).with_name("coppice")), "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | places,
    ) as process:
        server = Server(process)
        options = {"settings": {"tokens": {"counter": counter}}}
        uri = Path(folder).as_uri()
        server.ask("initialize", processId=None, rootUri=uri, capabilities={}, initializationOptions=options)
        server.send(method="initialized", params={})
        yield server
        process.kill()


def main() -> None:
    """Prints the medians of each request, with each counter in turn."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    taken: dict[tuple[str, str, float], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        with serving(folder, "auto") as server:
            made = server.ask("coppice/conversation/create")[0]["conversation"]["id"]
            server.ask("coppice/append", conversationId=made, entries=[ENTRY] * 20)
        for _ in range(rounds):
            for (method, params), counter, pause in product(REQUESTS.items(), COUNTERS, PAUSES):
                with serving(folder, counter) as server:
                    time.sleep(pause)
                    _, *seconds = server.ask(method, conversationId=made, **params)
                taken.setdefault((method, counter, pause), []).append((seconds[0], seconds[1]))
    for (method, counter, pause), rows in taken.items():
        clock, processor = (statistics.median(each) * 1000 for each in zip(*rows, strict=True))
        print(f"{method:16} {counter:8} after {pause:3.1f} s: {clock:5.0f} ms, {processor:5.0f} computed")


if __name__ == "__main__":
    main()
