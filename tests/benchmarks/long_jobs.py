"""What reads a whole conversation: how long does it take, does it end when cancelled, and who waits?

    .venv/bin/python tests/benchmarks/long_jobs.py [ENTRIES [METHOD ...]]

A conversation of so many entries that was never compacted, made of a real session's messages. While a request
reads it, others ask for a page of entries and append to another conversation of the same store, one after the
other. Each is asked for twice: cancelled after two seconds, then to its end.
"""

import itertools
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from flat_cost_building import build_store, entry_id, load_sample
from lsp.raw_client import RawServer

from coppice.store.schema.records import NewRecord

ROOT: Final = Path(__file__).resolve().parents[2]
CONVERSATION: Final = "benchmark"
CANCEL_AFTER: Final = 2.0
HOURS: Final = 4 * 3600.0
REQUESTS: Final[dict[str, dict[str, Any]]] = {
    "compactPreview": {},
    "ledger": {},
    "recall": {"query": "Which test failed in the parser?"},
    "compact": {},
}


class Meanwhile:
    """What others ask while a request is answered."""

    def __init__(self, server: RawServer) -> None:
        self._server = server
        self._other = str(server.result("coppice/conversation/create", {})["conversation"]["id"])

    def until(self, asked: int, seconds: float = HOURS) -> tuple[list[float], dict[str, Any] | None]:
        """The milliseconds of the others' requests until the answer, or for so long, and the answer."""
        taken: list[float] = []
        end = time.monotonic() + seconds
        text = {"type": "message", "message": {"role": "user", "content": "And then?"}}
        others = [
            ("entries", {"conversationId": CONVERSATION, "limit": 20}),
            ("append", {"conversationId": self._other, "entries": [text]}),
        ]
        for method, params in itertools.cycle(others):
            begun = time.monotonic()
            if begun > end:
                return taken, None
            other = self._server.start_request(f"coppice/{method}", params)
            while True:
                message = self._server.receive(HOURS)
                if message.get("id") == asked:
                    return taken, message
                if message.get("id") == other:
                    break
            taken.append((time.monotonic() - begun) * 1000)
            time.sleep(0.02)
        raise AssertionError


def main(length: int, methods: list[str]) -> None:
    sample = load_sample(ROOT.parent / "shared", ROOT / "docs" / "examples")
    print(f"{length:,} entries: {sample.origin}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder, sample, length)
        with RawServer(folder) as server:
            server.initialize({})
            process, meanwhile = psutil.Process(server.process.pid), Meanwhile(server)
            quiet, _ = meanwhile.until(-1, 5.0)
            print(f"{'nothing':16}{'':>9}{'':>10}{times(quiet)}", flush=True)
            for method in methods:
                asking = (f"coppice/{method}", {"conversationId": CONVERSATION, **REQUESTS[method]})
                asked = server.start_request(*asking)
                _, early = meanwhile.until(asked, CANCEL_AFTER)
                begun = time.monotonic()
                if early is None:
                    server.notify("$/cancelRequest", {"id": asked})
                    meanwhile.until(asked)
                cancelled = time.monotonic() - begun
                begun = time.monotonic()
                taken, answer = meanwhile.until(server.start_request(*asking))
                seconds = time.monotonic() - begun
                how = "" if answer and "result" in answer else str((answer or {}).get("error"))[:100]
                memory = process.memory_info().rss / 2**20
                print(
                    f"{method:16}{seconds:8.1f}s{cancelled:9.2f}s{times(taken)}{memory:8.0f} MB {how}",
                    flush=True,
                )


def build(folder: Path, sample: Any, length: int) -> None:
    """The store as a server finds it that begins in no workspace."""
    with RawServer(folder) as server:
        server.initialize({})
        server.result("coppice/conversation/create", {})
        server.result("shutdown")
        server.notify("exit")
        server.process.wait()
    [database] = (folder / "store").glob("*[0-9a-f].sqlite3")
    build_store(f"sqlite:///{database}", CONVERSATION, records(sample, length))
    print(f"a file of {database.stat().st_size / 2**20:,.0f} MB", flush=True)


def records(sample: Any, length: int) -> Any:
    for number in range(length):
        index = number % len(sample.entries)
        above = entry_id(number - 1) if number else None
        update = {"id": entry_id(number), "parent_id": above}
        yield NewRecord(sample.entries[index].model_copy(update=update), sample.sizes[index])


def times(taken: list[float]) -> str:
    """Median, 99th percentile and longest time of the others, and how many they were."""
    if len(taken) < 2:
        return f"{'-':>24}"
    slow = quantiles(taken, n=100)[98]
    return f"{median(taken):8.1f}{slow:8.1f}{max(taken):8.1f} ms ({len(taken):,})"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, sys.argv[2:] or [*REQUESTS])
