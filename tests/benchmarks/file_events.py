"""What a branch checkout costs whoever asks meanwhile: requests during 10,000 file events in a second.

Run: PYTHONPATH=tests python tests/benchmarks/file_events.py
"""

import json
import statistics
import tempfile
import threading
import time
from pathlib import Path

from lsp.raw_client import RawServer, framed

EVENTS = 10_000
SECONDS = 1.0
SIZES = (1, 100, EVENTS)
"""How many events are in a message; with the last all come at once."""


class Desk:
    """A window with a conversation. Requests and events come from two threads."""

    def __init__(self, server: RawServer, folder: Path) -> None:
        self.server = server
        self.folder = folder.as_uri()
        server.initialize({"workspaceFolders": [{"uri": self.folder, "name": "w"}]})
        self.talk = server.result("coppice/conversation/create", {})["conversation"]["id"]
        entry = {"type": "message", "message": {"role": "user", "content": "hello"}}
        server.result("coppice/append", {"conversationId": self.talk, "entries": [entry]})
        self._sending = threading.Lock()

    def latency(self, method: str = "coppice/usage") -> float:
        """Milliseconds until a request is answered."""
        began = time.perf_counter()
        with self._sending:
            request_id = self.server.start_request(method, {"conversationId": self.talk})
        assert "result" in self.server.answer(request_id)
        return (time.perf_counter() - began) * 1000

    def flood(self, at_once: int) -> None:
        """Sends the events, spread over a second."""
        bodies = [self._message(start, at_once) for start in range(0, EVENTS, at_once)]
        began = time.perf_counter()
        for number, body in enumerate(bodies):
            time.sleep(max(0.0, began + number * SECONDS / len(bodies) - time.perf_counter()))
            with self._sending:
                self.server.send_bytes(framed(body))

    def _message(self, start: int, count: int) -> bytes:
        changes = [
            {"uri": f"{self.folder}/src/package_{n % 97}/module_{n}.py", "type": 2}
            for n in range(start, start + count)
        ]
        method = "workspace/didChangeWatchedFiles"
        return json.dumps({"jsonrpc": "2.0", "method": method, "params": {"changes": changes}}).encode()


def quiet(desk: Desk) -> list[float]:
    return [desk.latency() for _ in range(200)]


def busy(desk: Desk, at_once: int) -> list[float]:
    """The latencies while the events come and for a second after."""
    sender = threading.Thread(target=desk.flood, args=(at_once,))
    sender.start()
    latencies, until = [], time.perf_counter() + 2 * SECONDS
    while sender.is_alive() or time.perf_counter() < until:
        latencies.append(desk.latency())
        time.sleep(0.002)
    sender.join()
    return latencies


def high(latencies: list[float]) -> float:
    return statistics.quantiles(latencies, n=20)[-1]


def main() -> None:
    print("events a message | median ms | 95% ms | worst ms | median / quiet | files ms | entries")
    for at_once in SIZES:
        with tempfile.TemporaryDirectory() as directory, RawServer(Path(directory)) as server:
            folder = Path(directory) / "workspace"
            folder.mkdir()
            desk = Desk(server, folder)
            before = statistics.median(quiet(desk))
            latencies = busy(desk, at_once)
            files = desk.latency("coppice/files")
            nodes = server.result("coppice/tree", {"conversationId": desk.talk, "limit": 1000})["nodes"]
            median = statistics.median(latencies)
            print(
                f"{at_once:16,} | {median:9.1f} | {high(latencies):6.1f} | {max(latencies):8.1f} | "
                f"{median / before:14.1f} | {files:8.1f} | {len(nodes) - 1:7}"
            )


if __name__ == "__main__":
    main()
