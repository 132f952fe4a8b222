"""Many windows that write to one store at once: is any refused, and how long does a write take?

    .venv/bin/python tests/benchmarks/many_windows.py [WINDOWS [SECONDS]]

Each window is a server process of its own. Its client appends messages of 600 characters to a conversation,
one after the other without a pause.
"""

import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from lsp.forked_server import ForkedServer

PATIENCE: Final = 300.0
ENTRY: Final = {"type": "message", "message": {"role": "user", "content": "The leaves are green. " * 27}}


class Window(ForkedServer):
    """A server that many others may slow down."""

    def receive(self, timeout: float = PATIENCE) -> dict[str, Any]:
        return super().receive(timeout)


def main(windows: int, seconds: float) -> None:
    with tempfile.TemporaryDirectory() as name, ExitStack() as ending:
        places = [Path(name) / f"window-{number}" for number in range(windows)]
        store = Path(name) / "store"
        opened = []
        for place in places:
            place.mkdir()
            variables = {"COPPICE_STORAGE_DIRECTORY": str(store)}
            opened.append(ending.enter_context(Window(place, variables=variables)))
            opened[-1].initialize({})
        with ThreadPoolExecutor(windows) as clients:
            made = [*clients.map(begun, opened)]
            end = time.monotonic() + seconds
            results = [*clients.map(lambda window, each: written(window, each, end), opened, made)]
        times = [each for taken, _ in results for each in taken]
        refused = sum((codes for _, codes in results), Counter[str]())
        slow = quantiles(times, n=100)
        fewest = min(len(taken) for taken, _ in results)
        print(
            f"{windows} windows, {seconds:.0f} s: {len(times):,} writes, of one window at least {fewest}, "
            f"median {median(times):.0f} ms, 95 % {slow[94]:.0f}, 99 % {slow[98]:.0f}, "
            f"longest {max(times):.0f}, refused {dict(refused)}"
        )


def begun(window: Window) -> str:
    """A conversation, with what a server loads and opens at its first write behind it."""
    made = str(window.result("coppice/conversation/create", {})["conversation"]["id"])
    window.result("coppice/append", {"conversationId": made, "entries": [ENTRY]})
    return made


def written(window: Window, conversation: str, end: float) -> tuple[list[float], Counter[str]]:
    """The milliseconds of a window's writes, and the codes of those that were refused."""
    taken: list[float] = []
    refused: Counter[str] = Counter()
    while time.monotonic() < end:
        asked = time.monotonic()
        answer = window.request("coppice/append", {"conversationId": conversation, "entries": [ENTRY]})
        taken.append((time.monotonic() - asked) * 1000)
        if "error" in answer:
            refused[str((answer["error"].get("data") or {}).get("code"))] += 1
    return taken, refused


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:]) if sys.argv[1:] else (64, 60))
