"""One process with one open store: `python flat_cost_worker.py URL CONVERSATION FAR NODES MESSAGE`.

Reads the name of an operation and a count from each line of its input, and answers with the nanoseconds of
each run. The first line it writes is the time of opening, the last one, at the end of input, its memory.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from flat_cost_operations import OPERATIONS, Subject
from flat_cost_service import REQUESTS, Requests

from coppice.store.schema.records import NewRecord
from coppice.store.store import Store
from coppice.tokens.size import Size
from coppice.tree.entries import ENTRY


def main(url: str, conversation_id: str, far_id: str, nodes: str, message: str) -> None:
    record = NewRecord(ENTRY.validate_python(json.loads(message)), Size(500, 500))
    start = time.perf_counter_ns()
    store = Store.open(url, server_id="worker", index_idle_seconds=None)
    store.conversation(conversation_id)
    print(time.perf_counter_ns() - start, flush=True)
    subject = Subject(store, conversation_id, far_id, record, int(nodes))
    requests: Requests | None = None
    for line in sys.stdin:
        name, count = json.loads(line)
        if name in OPERATIONS:
            operation: Callable[[], object] = partial(OPERATIONS[name], subject)
        else:
            requests = requests or Requests(url, conversation_id, far_id, json.loads(message), int(nodes))
            operation = partial(REQUESTS[name], requests)
        print(json.dumps([timed(operation) for _ in range(count)]), flush=True)
    if requests is not None:
        requests.close()
    store.close()
    print(peak_memory(), flush=True)


def timed(operation: Callable[[], object]) -> int:
    start = time.perf_counter_ns()
    operation()
    return time.perf_counter_ns() - start


def peak_memory() -> int:
    """The most memory this process held at once, in KiB.

    Read from Linux itself, because `getrusage` counts what the parent held before `exec`.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(*sys.argv[1:])
