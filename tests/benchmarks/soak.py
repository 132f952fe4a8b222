"""Memory of a server under load: does it end flat?

    .venv/bin/python tests/benchmarks/soak.py [MINUTES]

One client appends, searches, recalls, compacts, reads and deletes at random, in few workspaces. Printed are,
for each twelfth of the time, the largest resident memory, descriptors and threads. Exits with 1 when the last
quarter needs more than a tenth above the first twelfth after the warm-up, and with 2 where the machine was so
busy that the warm-up took more than half of the time.
"""

import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from lsp.raw_client import RawServer

WORDS: Final = 20_000
CONVERSATIONS: Final = 40
WORKSPACES: Final = 4
PARTS: Final = 12
MOST_GROWTH: Final = 1.1
WARM_UP: Final = 15_000
"""Requests, however long they take, after which the caches of stems and of names hold nearly all words, and
each store has its connections with their pages. What still grows is bounded by these: see benchmarks.md."""
SEED: Final = 1


class Load:
    """Draws requests of one client."""

    def __init__(self, server: RawServer) -> None:
        self.server = server
        self.chance = random.Random(SEED)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.words = ["".join(self.chance.choices(letters, k=7)) for _ in range(WORDS)]
        self.conversations: list[str] = []

    def step(self) -> None:
        if len(self.conversations) < CONVERSATIONS // 2 or self.chance.random() < 0.02:
            self.create()
        if len(self.conversations) > CONVERSATIONS:
            self.ask("conversation/delete", self.conversations.pop(0))
        about = self.chance.choice(self.conversations)
        match self.chance.randrange(10):
            case 0 | 1 | 2 | 3:
                self.ask("append", about, entries=[self.message("user"), self.message("assistant")])
            case 4:
                self.ask("recall", about, query=self.text(6))
            case 5:
                self.ask("conversation/search", about, query=self.text(1))
            case 6:
                self.ask("context", about)
            case 7:
                self.ask("ledger", about)
            case 8:
                self.ask(self.chance.choice(["compact", "compactPreview"]), about)
            case _:
                self.ask(self.chance.choice(["usage", "files", "tree", "entries"]), about, limit=50)
        self.server.seen.clear()

    def create(self) -> None:
        workspace = f"file:///workspace-{self.chance.randrange(WORKSPACES)}"
        made = self.server.result("coppice/conversation/create", {"workspaceUri": workspace})
        self.conversations.append(made["conversation"]["id"])

    def ask(self, method: str, conversation: str, **params: Any) -> None:
        """Sends the request; a refusal, to compact what is short for instance, is as good as a result."""
        self.server.request(f"coppice/{method}", {"conversationId": conversation, **params})

    def message(self, role: str) -> dict[str, Any]:
        text = self.text(120)
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        return {"type": "message", "message": {"role": role, "content": content}}

    def text(self, words: int) -> str:
        return " ".join(self.chance.choices(self.words, k=words))


def main(minutes: float) -> int:
    largest: list[float] = []
    warm: list[float] = []
    settings = {"compaction": {"keepRecentTokens": 300}}
    with tempfile.TemporaryDirectory() as folder, RawServer(Path(folder)) as server:
        server.initialize({"initializationOptions": {"settings": settings}})
        process, load, requests = psutil.Process(server.process.pid), Load(server), 0
        for part in range(PARTS):
            end, most = time.monotonic() + minutes * 60 / PARTS, 0.0
            while time.monotonic() < end:
                load.step()
                requests += 1
                most = max(most, process.memory_info().rss / 2**20)
            largest.append(most)
            if requests > WARM_UP:
                warm.append(most)
            open_ = f"{process.num_fds()} descriptors, {process.num_threads()} threads"
            print(
                f"{(part + 1) * minutes / PARTS:6.1f} min  {most:5.0f} MB  {open_}, {requests:,} requests",
                flush=True,
            )
    if len(warm) < PARTS // 2:
        print(
            f"{requests:,} requests are too few to say: give it more minutes, or a machine that is less busy"
        )
        return 2
    last = max(largest[-PARTS // 4 :])
    print(f"last quarter: {last / warm[0]:.2f} of the first part after {WARM_UP:,} requests")
    return int(last > MOST_GROWTH * warm[0])


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 30))
