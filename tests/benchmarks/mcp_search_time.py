"""How soon does `history_search` of `coppice mcp` answer in a long history?

`PYTHONPATH=tests:tests/benchmarks python tests/benchmarks/mcp_search_time.py [--sizes 1000,1000000]
[--folder DIR]` makes a workspace for each size, with one conversation of so many messages of a real session,
starts the server in it as an agent does, and asks every fourth question of the exam several times, in turns
over the sizes: as it is, with a path, a kind, and between two days on which nothing was. `--folder` keeps
the workspaces for a next run.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Final

from flat_cost_building import build_store, load_sample, records
from mcp_server.conftest import Client
from recall_exam import exams

from coppice.store.search.indexing import EVERYTHING
from coppice.store.store import Store
from coppice.store.tree.location import workspace_database

ROOT: Final = Path(__file__).resolve().parents[2]
FILTERS: Final[dict[str, dict[str, Any]]] = {
    "as it is": {},
    "path": {"path": "src/main"},
    "edits": {"kind": "edit"},
    "nothing there": {"since": "2020-01-01", "until": "2020-01-02"},
}
_INCOMPLETE: Final = "not indexed yet"


def workspace(folder: Path, size: int, shared: Path) -> Client:
    """A server in a workspace with `size` entries, all in the index."""
    project = folder / f"{size}" / "garden"
    environment = {
        "COPPICE_STORAGE_DIRECTORY": str(project.parent / "stores"),
        "COPPICE_CONFIG_DIRECTORY": str(project.parent / "config"),
        "HOME": str(project.parent),
    }
    started = time.monotonic()
    if not project.exists():
        project.mkdir(parents=True)
        (project.parent / "stores").mkdir()
        url = workspace_database(project.parent / "stores", project.resolve().as_uri())
        sample = load_sample(shared, ROOT / "docs" / "examples")
        build_store(url, "benchmark", records(sample, size, branchy=False), project.resolve().as_uri())
        store = Store.open(url, server_id="indexer", index_idle_seconds=None)
        store.make_searchable(EVERYTHING)
        store.close()
    client = Client(project, [sys.executable, "-m", "coppice.cli", "mcp"], environment)
    if _INCOMPLETE in client.call("history_search", query="anything"):
        raise SystemExit(f"{project.parent} is not all in the index; remove the folder and start again.")
    print(f"{size:,} entries: made and indexed in {time.monotonic() - started:.0f} s", flush=True)
    return client


def _computed(client: Client) -> float:
    """Seconds of processor time that the server has taken, in hundredths; Linux tells them."""
    fields = Path(f"/proc/{client.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--sizes", default="1000,1000000", help="entries, as in 1000,1000000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keeps the workspaces for a next run")
    arguments = parser.parse_args()
    asked = [question["question"] for _, questions in exams(arguments.shared) for question in questions][::4]
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.folder or Path(name)
        sizes = [int(size) for size in arguments.sizes.split(",")]
        clients = {size: workspace(folder, size, arguments.shared) for size in sizes}
        taken: dict[tuple[str, int], list[float]] = {}
        computed: dict[tuple[str, int], float] = {}
        for _ in range(arguments.rounds):
            for question in asked:
                for filters, more in FILTERS.items():
                    for size, client in clients.items():
                        started, before = time.perf_counter(), _computed(client)
                        client.call("history_search", query=question, **more)
                        times = taken.setdefault((filters, size), [])
                        times.append((time.perf_counter() - started) * 1000)
                        computed[filters, size] = (
                            computed.get((filters, size), 0.0) + _computed(client) - before
                        )
        for client in clients.values():
            client.process.kill()
            client.process.communicate()
    searches = len(asked) * arguments.rounds
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {searches} searches a row")
    for (filters, size), times in sorted(taken.items()):
        slowest = sorted(times)[int(len(times) * 0.95)]
        mean = computed[filters, size] * 1000 / len(times)
        print(
            f"{filters:14} {size:>9,} entries: median {median(times):.0f} ms, 95 % {slowest:.0f} ms, "
            f"computed {mean:.0f} ms on average"
        )


if __name__ == "__main__":
    main()
