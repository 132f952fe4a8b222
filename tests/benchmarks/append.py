"""What an append costs against the same text written by SQLite alone, one durable row at a time.

Usage: `python tests/benchmarks/append.py [ROUNDS]`.
"""

import asyncio
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.engine import Engine

from coppice.protocol.methods import METHODS
from coppice.service.core.progress import NoProgress
from coppice.service.methods import Dispatcher
from coppice.service.service import Service

ROUNDS: Final = 500
LIMIT: Final = 3.0
"""The goal for the ratio."""
TEXT: Final = "The bed by the wall needs water, and the larch by the gate does not. " * 8


def entry(number: int) -> dict[str, Any]:
    """A message of the user's of some 600 characters."""
    return {"type": "message", "message": {"role": "user", "content": f"{number}: {TEXT}"}}


async def appends(folder: str, rounds: int) -> tuple[list[float], float]:
    """Milliseconds of each append, and statements an append."""
    service = Service()
    await service.start([Path(folder).as_uri()], {"tokens": {"counter": "estimate"}})
    dispatcher = Dispatcher(service)
    sent: list[str] = []
    event.listen(Engine, "before_cursor_execute", lambda *about: sent.append(about[2]))

    async def ask(method: str, **params: Any) -> Any:
        spec = METHODS[method]
        return await dispatcher.call(spec, spec.params.model_validate(params), NoProgress())

    made = (await ask("coppice/conversation/create")).conversation.id
    await ask("coppice/append", conversationId=made, entries=[entry(number) for number in range(100)])
    sent.clear()
    times = []
    for number in range(rounds):
        began = time.perf_counter()
        await ask("coppice/append", conversationId=made, entries=[entry(number)])
        times.append((time.perf_counter() - began) * 1000)
    statements = len(sent) / rounds
    await service.close()
    return times, statements


def writes(folder: str, rounds: int) -> list[float]:
    """Milliseconds of each insert of the same JSON into a table with an index, as durable."""
    connection = sqlite3.connect(Path(folder) / "alone.sqlite3", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE entry (key INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT)")
    times = []
    for number in range(rounds):
        began = time.perf_counter()
        values = (f"{number:016x}", json.dumps(entry(number)))
        connection.execute("INSERT INTO entry (id, body) VALUES (?, ?)", values)
        times.append((time.perf_counter() - began) * 1000)
    connection.close()
    return times


def main() -> None:
    """Prints medians, 99th percentiles and their ratio."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        for name in ("STORAGE", "CONFIG"):
            os.environ[f"COPPICE_{name}_DIRECTORY"] = f"{folder}/{name}"
        ours, statements = asyncio.run(appends(folder, rounds))
        alone = writes(folder, rounds)
    for name, times in (("coppice/append", ours), ("SQLite alone", alone)):
        p99 = statistics.quantiles(times, n=100)[98]
        print(f"{name}: median {statistics.median(times):.2f} ms, 99th percentile {p99:.2f} ms")
    ratio = statistics.median(ours) / statistics.median(alone)
    print(f"{statements:.1f} statements an append; {ratio:.1f} times SQLite alone (goal {LIMIT:.0f})")


if __name__ == "__main__":
    main()
