"""Many processes that write to one database at once: each gets its turn, and none is refused for being many.

Each store here is a process's: it has its own threads, connections and place in the queue.
"""

import os
import sqlite3
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest
from attacks.store_attacks import filled_store, opened
from sqlalchemy import event
from store.store_kit import NOW, user
from waiting import wait_until

from coppice.errors import StorageFailedError
from coppice.operating_system import lock_in_turn, open_lock_file
from coppice.store.store import Store

WRITERS = 6
WINDOWS = 64
"""In processes of their own: tests/benchmarks/many_windows.py. Of their writes 3 % were refused once."""
WRITES = 3
"""Of each: more than one, so that who has written waits behind who has not."""
in_turn = pytest.mark.skipif(sys.platform == "win32", reason="locks have no order on Windows")


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection of another program's, which writes."""
    lock = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    lock.execute("BEGIN IMMEDIATE")
    try:
        yield lock
    finally:
        lock.close()


def count_tries(store: Store, tries: Counter[str], name: str) -> None:
    """Counts how often the store asks SQLite for the lock of the writer."""
    store._database.rest()

    def note(statement: str) -> None:
        tries[name] += statement == "BEGIN IMMEDIATE"

    @event.listens_for(store._database._engine, "connect")
    def watch(connection: sqlite3.Connection, _: object) -> None:
        connection.set_trace_callback(note)


def places() -> int:
    """How many threads wait for their turns."""
    return sum(thread.name == "coppice-turn" for thread in threading.enumerate())


def queued(path: Path) -> int:
    """How many threads have their places in the queue of a store, which they get after they have started."""
    queue = path.with_name(f"{path.name}-queue")
    if not queue.exists():
        return 0
    inode = queue.stat().st_ino
    lines = Path("/proc/locks").read_text().splitlines() if sys.platform == "linux" else []
    locks = [line for line in lines if line.split()[-3].endswith(f":{inode}")]
    return sum("->" in line for line in locks) if locks else places()


def waits(path: Path, number: int, tries: Counter[str], name: str) -> bool:
    """Whether the writer has asked, and `number` writers wait for the turn of the one that has it."""
    return tries[name] > 0 and queued(path) >= number


def test_who_waits_is_not_refused_as_long_as_others_get_on(tmp_path: Path) -> None:
    path = tmp_path / "trees.sqlite3"
    filled_store(path)
    busy = 1.0
    while (longest := wait_while_others_write(path, busy)) > busy / 2:
        busy = 4 * longest  # The machine is so busy that the others hardly get on.


def wait_while_others_write(path: Path, busy: float) -> float:
    """A store waits long for writers that get on; gives the longest time in which they did not."""
    with locked(path) as lock, opened(path, busy_seconds=busy) as store:
        done = threading.Event()
        refused: list[StorageFailedError] = []

        def append() -> None:
            try:
                store.append("c0", [user()], modified_at=NOW)
            except StorageFailedError as error:
                refused.append(error)
            done.set()

        waiting = threading.Thread(target=append)
        waiting.start()
        longest, last = 0.0, time.monotonic()
        end = last + 3 * busy
        while last < end and not done.is_set():
            lock.execute("UPDATE conversation SET modified_at = modified_at")
            # The lock is free for so short a time that nobody else is likely to get it.
            lock.execute("COMMIT")
            lock.execute("BEGIN IMMEDIATE")
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
            time.sleep(0.1)
        lock.execute("ROLLBACK")
        waiting.join()
        assert not refused or longest > busy / 2
    return longest


@in_turn
def test_of_those_who_wait_one_asks_and_who_came_first_writes_first(tmp_path: Path) -> None:
    path = tmp_path / "trees.sqlite3"
    filled_store(path)
    tries: Counter[str] = Counter()
    written: list[str] = []
    with ExitStack() as stack:
        lock = stack.enter_context(locked(path))
        stores = [stack.enter_context(opened(path, busy_seconds=100.0)) for _ in range(WRITERS)]
        threads = []
        for number, store in enumerate(stores):
            name = f"writer {number}"
            count_tries(store, tries, name)

            def write(store: Store = store, name: str = name) -> None:
                with store._database.writing():
                    written.append(name)

            threads.append(threading.Thread(target=write))
            threads[-1].start()
            # The first has the turn, each later one a place in the queue.
            wait_until(partial(waits, path, number, tries, name))
        before = tries.copy()
        wait_until(lambda: tries["writer 0"] > before["writer 0"] + 20)
        assert {name for name in tries if tries[name] > before[name]} == {"writer 0"}
        lock.execute("ROLLBACK")
        for thread in threads:
            thread.join()
    assert written == [f"writer {number}" for number in range(WRITERS)]


@in_turn
def test_who_is_suspended_when_it_is_its_turn_delays_others_and_stops_nobody(tmp_path: Path) -> None:
    path = tmp_path / "trees.sqlite3"
    filled_store(path)
    suspended = open_lock_file(path.with_name(f"{path.name}-queue"))
    assert lock_in_turn(suspended, wait=False)
    with opened(path, busy_seconds=0.3) as store:
        with locked(path):
            for _ in range(3):
                with pytest.raises(StorageFailedError, match="locked"):
                    store.append("c0", [user()], modified_at=NOW)
                # Who was refused waits on, so that the next takes its place.
                assert places() == 1
        store.append("c0", [user()], modified_at=NOW)
    os.close(suspended)
    wait_until(lambda: places() == 0)


def test_of_64_windows_that_write_at_once_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trees.sqlite3"
    filled_store(path)
    all_there = threading.Barrier(WINDOWS)
    with ExitStack() as stack:
        stores = [stack.enter_context(opened(path, f"w{number}", 10.0)) for number in range(WINDOWS)]
        writers = stack.enter_context(ThreadPoolExecutor(WINDOWS))

        def write(store: Store) -> list[str]:
            store.conversation("c0")  # the store is open before the others begin
            all_there.wait()
            return [store.append("c0", [user()], modified_at=NOW).entry_ids[0] for _ in range(WRITES)]

        written = [entry for made in writers.map(write, stores) for entry in made]
        stored = {entry.id for entry in stores[0].all_entries("c0")}
    assert len(set(written)) == WINDOWS * WRITES
    assert stored >= set(written)
