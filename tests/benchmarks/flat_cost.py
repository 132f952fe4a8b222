"""Does a long conversation cost more than a short one?

`python tests/benchmarks/flat_cost.py --sizes 1000,10000,100000,1000000` builds conversations of those
lengths from a real session's messages and measures the same operations on each, one process to a size, in
turns, so that whatever else the machine does falls on all alike. Opening is measured in fresh processes,
after their imports. `--branchy` adds conversations with a branch each 50 entries, `--shared` says where the
real session lies. Pi's session manager is measured on the same conversation up to `--pi-up-to` entries.
The rows called `request` are the service's answers from end to end; `--requests-only` measures them alone.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import flat_cost_pi
from flat_cost_building import Sample, build_pi_file, build_store, entry_id, load_sample, records
from flat_cost_operations import OPERATIONS, PAGE
from flat_cost_service import REQUESTS

from coppice.store.store import Store

ROOT = Path(__file__).resolve().parents[2]
CONVERSATION = "benchmark"
FAR = 19
RUNS_A_TURN = 10
OPEN = "open, cold"
MEMORY = "memory"


@dataclass
class Size:
    """What was measured on a conversation of `length` entries: nanoseconds by operation, memory in KiB."""

    length: int
    url: str
    taken: dict[str, list[int]] = field(default_factory=dict)
    memory: int = 0
    pi: dict[str, list[int]] = field(default_factory=dict)
    pi_memory: int = 0


class Worker:
    """A process that measures one size."""

    def __init__(self, size: Size, nodes: int, message: str) -> None:
        self.size = size
        script = Path(__file__).with_name("flat_cost_worker.py")
        self._process = subprocess.Popen(
            [sys.executable, str(script), size.url, CONVERSATION, entry_id(FAR), str(nodes), message],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._note(OPEN, [json.loads(self._line())])

    def run(self, name: str, count: int, *, note: bool = True) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([name, count]) + "\n")
        self._process.stdin.flush()
        taken = json.loads(self._line())
        if note:
            self._note(name, taken)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self.size.memory = max(self.size.memory, json.loads(self._line()))
        self._process.wait()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def _note(self, name: str, taken: list[int]) -> None:
        self.size.taken.setdefault(name, []).extend(taken)


def measure(sizes: list[Size], nodes: int, message: str, runs: int, measured: list[str]) -> None:
    for _ in range(max(runs // 10, 5)):
        for size in sizes:
            Worker(size, nodes, message).close()
    for size in sizes:
        size.memory = 0
    workers = [Worker(size, nodes, message) for size in sizes]
    for name in measured:
        for worker in workers:
            worker.run(name, 5, note=False)
        for _ in range(-(-runs // RUNS_A_TURN)):
            for worker in workers:
                worker.run(name, RUNS_A_TURN)
    for worker in workers:
        worker.close()


def folded_nodes(size: Size) -> int:
    store = Store.open(size.url, server_id="counter")
    nodes, _ = store.tree(CONVERSATION, mode="branches", limit=PAGE)
    store.close()
    return len(nodes)


def measure_pi(sizes: Iterable[Size], sample: Sample, package: Path, folder: Path, *, branchy: bool) -> None:
    for size in sizes:
        session = folder / f"pi-{size.length}.jsonl"
        build_pi_file(session, records(sample, size.length, branchy=branchy))
        measured = flat_cost_pi.measure(package, session, 10 if size.length <= 10_000 else 5)
        session.unlink()
        if measured is not None:
            size.pi, size.pi_memory = measured["taken"], measured["memory"]


def report(sizes: list[Size]) -> None:
    """A table: median / p99 in milliseconds, then the median's ratio to the first size."""
    first = sizes[0]
    heads = [f"{size.length:,}" for size in sizes]
    print(f"\n| Coppice | {' | '.join(heads)} | {heads[-1]} ÷ {heads[0]} |")
    print("|---" * (len(sizes) + 2) + "|")
    for name in first.taken:
        cells = [
            f"{milliseconds(median(size.taken[name]))} / {milliseconds(p99(size.taken[name]))}"
            for size in sizes
        ]
        ratio = median(sizes[-1].taken[name]) / median(first.taken[name])
        print(f"| {name} | {' | '.join(cells)} | {ratio:.2f} |")
    cells = [f"{size.memory / 1024:.1f} MB" for size in sizes]
    print(f"| {MEMORY} | {' | '.join(cells)} | {sizes[-1].memory / first.memory:.2f} |")
    with_pi = [size for size in sizes if size.pi]
    if not with_pi:
        return
    heads = [f"{size.length:,}" for size in with_pi]
    print(f"\n| Pi {flat_cost_pi.VERSION}, median (times Coppice) | {' | '.join(heads)} |")
    print("|---" * (len(with_pi) + 1) + "|")
    for name in with_pi[0].pi:
        medians = [(median(size.pi[name]), median(size.taken[name])) for size in with_pi]
        cells = [f"{milliseconds(pi)} ({pi / coppice:.1f} ×)" for pi, coppice in medians]
        print(f"| {name} | {' | '.join(cells)} |")
    cells = [f"{size.pi_memory / 1024:.1f} MB ({size.pi_memory / size.memory:.1f} ×)" for size in with_pi]
    print(f"| {MEMORY} | {' | '.join(cells)} |")


def milliseconds(nanoseconds: float) -> str:
    value = nanoseconds / 1e6
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def p99(values: list[int]) -> int:
    return sorted(values)[min(len(values) - 1, len(values) * 99 // 100)]


def run(
    sample: Sample, lengths: list[int], runs: int, pi_up_to: int, measured: list[str], *, branchy: bool
) -> None:
    kind = "a branch each 50 entries" if branchy else "no branches"
    print(f"\n## Conversations with {kind}")
    message = json.dumps(sample.entries[1].model_dump(mode="json", by_alias=True) | {"id": "new"})
    with tempfile.TemporaryDirectory(prefix="coppice-benchmark-") as name:
        folder = Path(name)
        sizes = [Size(length, f"sqlite:///{folder / f'{length}.sqlite3'}") for length in lengths]
        for size in sizes:
            start = time.perf_counter()
            build_store(size.url, CONVERSATION, records(sample, size.length, branchy=branchy))
            print(f"built {size.length:,} entries in {time.perf_counter() - start:.1f} s", file=sys.stderr)
        measure(sizes, folded_nodes(sizes[0]), message, runs, measured)
        small = [size for size in sizes if size.length <= pi_up_to]
        package = flat_cost_pi.install() if small else None
        if package is not None:
            measure_pi(small, sample, package, folder, branchy=branchy)
            if len(small) < len(sizes):
                print(f"Pi is measured up to {pi_up_to:,} entries: it reads and holds the whole file.")
        report(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description="Does a long conversation cost more than a short one?")
    parser.add_argument("--sizes", default="1000,10000,100000", help="lengths, separated by commas")
    parser.add_argument(
        "--shared", type=Path, default=ROOT.parent / "shared", help="where the real session lies"
    )
    parser.add_argument("--branchy", action="store_true", help="also with a branch each 50 entries")
    parser.add_argument("--runs", type=int, default=200, help="how often each operation is measured")
    parser.add_argument("--pi-up-to", type=int, default=100_000, help="the longest conversation given to Pi")
    parser.add_argument("--requests-only", action="store_true", help="leave the store's own reads away")
    chosen = parser.parse_args()
    sample = load_sample(chosen.shared, ROOT / "docs" / "examples")
    print(f"Built from {sample.origin}. Milliseconds: median / p99.")
    lengths = sorted(int(length) for length in chosen.sizes.split(","))
    measured = list(REQUESTS) if chosen.requests_only else [*OPERATIONS, *REQUESTS]
    for branchy in (False, True) if chosen.branchy else (False,):
        run(sample, lengths, chosen.runs, chosen.pi_up_to, measured, branchy=branchy)


if __name__ == "__main__":
    main()
