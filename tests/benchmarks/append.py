"""What an append costs against the same write by SQLite alone, and whether it grows with the conversation.

Usage: `python tests/benchmarks/append.py [ROUNDS] [LENGTH...]`. By default 2,000 appends to conversations of
1,000 and 1,000,000 entries, by turns, so that whatever else the machine does concerns all; the longest takes
some 2 GB of disk.
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
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.engine import Engine

import coppice
from coppice.protocol.methods import METHODS
from coppice.service.core.progress import NoProgress
from coppice.service.methods import Dispatcher
from coppice.service.service import Service
from coppice.store.tree.location import workspace_database

OWN: Final = str(Path(coppice.__file__).parent)
ROUNDS: Final = 2_000
TURNS: Final = 4
"""Parts of the rounds, each with all lengths one after the other."""
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


@dataclass
class Taken:
    """Milliseconds of each write, and what an append computes and sends."""

    ours: list[float] = field(default_factory=list)
    same: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    statements: int = 0
    computed: float = 0.0


def use(folder: str) -> None:
    """Services that are made from now on have their stores in `folder`."""
    for name in ("STORAGE", "CONFIG"):
        os.environ[f"COPPICE_{name}_DIRECTORY"] = f"{folder}/{name}"


async def prepare(folder: str, length: int) -> None:
    """Makes a store with a conversation of `length`."""
    use(folder)
    service, ask = await serving(folder)
    made = (await ask("coppice/conversation/create")).conversation.id
    await ask("coppice/append", conversationId=made, entries=[entry(number) for number in range(FIRST)])
    await service.close()
    lengthen(store_of(folder), length)


async def appends(folder: str, rounds: int, taken: Taken) -> None:
    """Appends to the conversation of the folder's store."""
    use(folder)
    service, ask = await serving(folder)
    made = (await ask("coppice/conversation/list")).conversations[0].id
    for number in range(20):
        await ask("coppice/append", conversationId=made, entries=[entry(number)])
    sent: list[str] = []

    def note(*about: Any) -> None:
        sent.append(about[2])

    event.listen(Engine, "before_cursor_execute", note)
    computed = time.process_time()
    for number in range(rounds):
        began = time.perf_counter()
        await ask("coppice/append", conversationId=made, entries=[entry(number)])
        taken.ours.append((time.perf_counter() - began) * 1000)
    taken.computed += (time.process_time() - computed) * 1000
    event.remove(Engine, "before_cursor_execute", note)
    taken.statements += len(sent)
    await service.close()


async def calls_of_one(folder: str, rounds: int) -> tuple[float, float]:
    """The functions that an append enters, in the event loop and in writing threads: Python's, Coppice's."""
    entered = own = 0
    nobody: Any = None

    def note(frame: FrameType, kind: str, _argument: object) -> None:
        nonlocal entered, own
        entered += kind == "call"
        own += kind == "call" and frame.f_code.co_filename.startswith(OWN)

    use(folder)
    threading.setprofile(note)  # of threads that are started from now on
    service, ask = await serving(folder)
    made = (await ask("coppice/conversation/list")).conversations[0].id
    await ask("coppice/append", conversationId=made, entries=[entry(0)])
    sys.setprofile(note)
    entered = own = 0
    for number in range(rounds):
        await ask("coppice/append", conversationId=made, entries=[entry(number)])
    sys.setprofile(None)
    threading.setprofile(nobody)
    await service.close()
    return entered / rounds, own / rounds


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
        connection.execute(
            "CREATE TABLE IF NOT EXISTS entry (key INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT)"
        )
        for number in range(rounds):
            began = time.perf_counter()
            values = (os.urandom(8).hex(), json.dumps(entry(number)))
            connection.execute("INSERT INTO entry (id, body) VALUES (?, ?)", values)
            times.append((time.perf_counter() - began) * 1000)
    return times


def p99(times: list[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(times, n=100)[98]


def measure(folder: str, rounds: int, taken: Taken) -> None:
    """Takes the times of one turn in the store of the folder."""
    asyncio.run(appends(folder, rounds, taken))
    taken.same += same_rows(store_of(folder), rounds)
    taken.alone += one_row(folder, rounds)


def show(length: int, taken: Taken, calls: tuple[float, float]) -> None:
    """Prints medians, 99th percentiles and ratios at one length."""
    print(f"{length:,} entries:")
    all_times = {"coppice/append": taken.ours, "the same rows": taken.same, "one row": taken.alone}
    for name, times in all_times.items():
        print(f"  {name}: median {statistics.median(times):.2f} ms, 99th percentile {p99(times):.2f} ms")
    ratios = [statistics.median(taken.ours) / statistics.median(times) for times in (taken.same, taken.alone)]
    statements, computed = (each / len(taken.ours) for each in (taken.statements, taken.computed))
    print(f"  {calls[0]:.0f} calls ({calls[1]:.0f} of Coppice) an append,")
    print(f"  {statements:.1f} statements and {computed:.2f} ms of CPU")
    print(f"  {ratios[0]:.1f} times the same rows by SQLite alone (goal {LIMIT:.0f})")
    print(f"  {ratios[1]:.1f} times one row with one index")


def main() -> None:
    """Measures the lengths by turns, and the growth from the first to the last."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    lengths = [int(length) for length in sys.argv[2:]] or LENGTHS
    taken = [Taken() for _ in lengths]
    with ExitStack() as stack:
        folders = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in lengths]
        for folder, length in zip(folders, lengths, strict=True):
            asyncio.run(prepare(folder, length))
        for _ in range(TURNS):
            for folder, each in zip(folders, taken, strict=True):
                measure(folder, rounds // TURNS, each)
        for folder, length, each in zip(folders, lengths, taken, strict=True):
            show(length, each, asyncio.run(calls_of_one(folder, 100)))
    ours, same = (p99(taken[-1].ours) / p99(taken[0].ours), p99(taken[-1].same) / p99(taken[0].same))
    print(f"99th percentile of the last length: {ours:.2f} times that of the first (goal {GROWTH_LIMIT}),")
    print(f"of the same rows by SQLite alone {same:.2f} times")


if __name__ == "__main__":
    main()
