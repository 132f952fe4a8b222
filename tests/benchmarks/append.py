"""What an append costs against the same write by SQLite alone, and whether it grows with the conversation.

Usage: `python tests/benchmarks/append.py [ROUNDS] [LENGTH...]`. By default 500 appends to conversations of
1,000 and 1,000,000 entries; the longest takes some 2 GB of disk.
"""

import asyncio
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.engine import Engine

from coppice.protocol.methods import METHODS
from coppice.service.core.progress import NoProgress
from coppice.service.methods import Dispatcher
from coppice.service.service import Service
from coppice.store.tree.location import workspace_database

ROUNDS: Final = 500
LENGTHS: Final = (1_000, 1_000_000)
LIMIT: Final = 3.0
"""The goal for the ratio."""
GROWTH_LIMIT: Final = 1.5
"""The goal for the 99th percentile in the longest conversation against that in the shortest."""
TEXT: Final = "The bed by the wall needs water, and the larch by the gate does not. " * 8
FIRST: Final = 100  # entries that are appended before the measured ones


def entry(number: int) -> dict[str, Any]:
    """A message of the user's of some 600 characters."""
    return {"type": "message", "message": {"role": "user", "content": f"{number}: {TEXT}"}}


async def appends(folder: str, rounds: int, length: int) -> tuple[list[float], float, float]:
    """Milliseconds of each append to a conversation of `length`; statements and CPU milliseconds of one."""
    service, ask = await serving(folder)
    made = (await ask("coppice/conversation/create")).conversation.id
    await ask("coppice/append", conversationId=made, entries=[entry(number) for number in range(FIRST)])
    await service.close()
    lengthen(store_of(folder), length)
    service, ask = await serving(folder)
    for number in range(20):
        await ask("coppice/append", conversationId=made, entries=[entry(number)])
    sent: list[str] = []
    event.listen(Engine, "before_cursor_execute", lambda *about: sent.append(about[2]))
    times = []
    computed = time.process_time()
    for number in range(rounds):
        began = time.perf_counter()
        await ask("coppice/append", conversationId=made, entries=[entry(number)])
        times.append((time.perf_counter() - began) * 1000)
    computed = time.process_time() - computed
    statements = len(sent) / rounds
    await service.close()
    return times, statements, computed * 1000 / rounds


async def calls_of_one(folder: str, rounds: int) -> float:
    """The functions of Python that an append enters, in the event loop and in the threads that write."""
    entered = 0
    nobody: Any = None

    def note(_frame: object, kind: str, _argument: object) -> None:
        nonlocal entered
        entered += kind == "call"

    threading.setprofile(note)  # of threads that are started from now on
    service, ask = await serving(folder)
    made = (await ask("coppice/conversation/list")).conversations[0].id
    await ask("coppice/append", conversationId=made, entries=[entry(0)])
    sys.setprofile(note)
    entered = 0
    for number in range(rounds):
        await ask("coppice/append", conversationId=made, entries=[entry(number)])
    sys.setprofile(None)
    threading.setprofile(nobody)
    await service.close()
    return entered / rounds


async def serving(folder: str) -> tuple[Service, Any]:
    """The service of a folder, and a function that asks it."""
    service = Service()
    await service.start([Path(folder).as_uri()], {"tokens": {"counter": "estimate"}})
    dispatcher = Dispatcher(service)

    async def ask(method: str, **params: Any) -> Any:
        spec = METHODS[method]
        return await dispatcher.call(spec, spec.params.model_validate(params), NoProgress())

    return service, ask


def store_of(folder: str) -> Path:
    """The file of the folder's store."""
    url = workspace_database(Path(folder, "STORAGE"), Path(folder).as_uri())
    return Path(url.removeprefix("sqlite:///"))


@contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
    """A connection with the store's settings for durability."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        yield connection


def columns_of(connection: sqlite3.Connection) -> list[str]:
    """The columns of an entry."""
    return [row[1] for row in connection.execute("PRAGMA table_info(entry)")]


def lengthen(file: Path, length: int) -> None:
    """Copies the last entry until the conversation has `length` of them, all of them marked as indexed."""
    with opened(file) as connection:
        other = {
            "key": "key + n",
            "id": "lower(hex(randomblob(8)))",
            "parent_key": "key + n - 1",
            "depth": "depth + n",
        }
        names = columns_of(connection)
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        connection.execute(
            "WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < ?)"  # noqa: S608 - names of columns
            f" INSERT INTO entry ({', '.join(names)})"
            f" SELECT {', '.join(other.get(name, name) for name in names)}"
            " FROM more, (SELECT * FROM entry ORDER BY key DESC LIMIT 1)",
            [length - FIRST],
        )
        connection.execute(
            "UPDATE landmark SET (entry_key, depth) ="
            " (SELECT key, depth FROM entry ORDER BY key DESC LIMIT 1)"
        )
        connection.execute(
            "UPDATE conversation SET leaf_key = (SELECT max(key) FROM entry), entry_count = ?1,"
            " indexed_count = ?1, indexed_key = (SELECT max(key) FROM entry)",
            [length],
        )
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def same_rows(file: Path, rounds: int) -> list[float]:
    """Milliseconds of each write of the same rows to the same tables, by SQLite alone, as durable."""
    times = []
    with opened(file) as connection:
        names = columns_of(connection)
        last = connection.execute("SELECT * FROM entry ORDER BY key DESC LIMIT 1").fetchone()
        row = dict(zip(names, last, strict=True))
        conversation, origin = connection.execute("SELECT conversation_id, origin FROM change").fetchone()
        insert = f"INSERT INTO entry VALUES ({', '.join('?' * len(names))})"  # noqa: S608 - question marks
        for number in range(rounds):
            began = time.perf_counter()
            row |= {"id": os.urandom(8).hex(), "parent_key": row["key"], "key": row["key"] + 1}
            row |= {"depth": row["depth"] + 1, "body": json.dumps(entry(number))}
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(insert, tuple(row.values()))
            connection.execute(
                "UPDATE landmark SET entry_key = ?, depth = ?"
                " WHERE run = ? AND depth = ? AND reason = 'leaf'",
                (row["key"], row["depth"], row["run"], row["depth"] - 1),
            )
            connection.execute(
                "UPDATE conversation SET leaf_key = ?, modified_at = ?, entry_count = entry_count + 1"
                " WHERE key = ?",
                (row["key"], str(number), row["conversation_key"]),
            )
            connection.execute(
                "INSERT INTO change (conversation_id, origin, kinds, made_at)"
                " VALUES (?, ?, 'entries leaf', ?)",
                (conversation, origin, int(time.time())),
            )
            connection.execute("COMMIT")
            times.append((time.perf_counter() - began) * 1000)
    return times


def one_row(folder: str, rounds: int) -> list[float]:
    """Milliseconds of each insert of the same JSON into a table with an index, as durable."""
    times = []
    with opened(Path(folder) / "alone.sqlite3") as connection:
        connection.execute("CREATE TABLE entry (key INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT)")
        for number in range(rounds):
            began = time.perf_counter()
            values = (f"{number:016x}", json.dumps(entry(number)))
            connection.execute("INSERT INTO entry (id, body) VALUES (?, ?)", values)
            times.append((time.perf_counter() - began) * 1000)
    return times


def p99(times: list[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(times, n=100)[98]


def measure(rounds: int, length: int) -> float:
    """Prints medians, 99th percentiles and ratios at one length; our 99th percentile."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("STORAGE", "CONFIG"):
            os.environ[f"COPPICE_{name}_DIRECTORY"] = f"{folder}/{name}"
        ours, statements, computed = asyncio.run(appends(folder, rounds, length))
        calls = asyncio.run(calls_of_one(folder, rounds))
        same = same_rows(store_of(folder), rounds)
        alone = one_row(folder, rounds)
    print(f"{length:,} entries:")
    for name, times in (("coppice/append", ours), ("the same rows", same), ("one row", alone)):
        print(f"  {name}: median {statistics.median(times):.2f} ms, 99th percentile {p99(times):.2f} ms")
    ratios = [statistics.median(ours) / statistics.median(times) for times in (same, alone)]
    print(f"  {calls:.0f} calls, {statements:.1f} statements and {computed:.2f} ms of CPU an append")
    print(f"  {ratios[0]:.1f} times the same rows by SQLite alone (goal {LIMIT:.0f})")
    print(f"  {ratios[1]:.1f} times one row with one index")
    return p99(ours)


def main() -> None:
    """Measures each length, and the growth from the shortest to the longest."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    lengths = [int(length) for length in sys.argv[2:]] or LENGTHS
    taken = [measure(rounds, length) for length in lengths]
    print(f"99th percentile of the longest: {taken[-1] / taken[0]:.2f} times (goal {GROWTH_LIMIT})")


if __name__ == "__main__":
    main()
