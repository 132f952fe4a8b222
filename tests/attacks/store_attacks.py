"""What the attacks on the store share."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from store.store_kit import NOW, new_conversation, user

from coppice.store.store import Store


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


def filled_store(path: Path, conversations: int = 3, entries: int = 40) -> None:
    """A store with conversations `c0`, `c1` … of entries `c0-0`, `c0-1` …, large enough for several pages."""
    store = Store.open(url_of(path), server_id="filler", index_idle_seconds=None)
    for number in range(conversations):
        name = store.create(new_conversation(f"c{number}")).id
        texts = [f"Plant tree {each} of {name}. {'x' * 400}" for each in range(entries)]
        records = [user(text, f"{name}-{each}") for each, text in enumerate(texts)]
        store.append(name, records, modified_at=NOW)
    store.search("plant", limit=1)
    store.close()


@contextmanager
def opened(path: Path, server_id: str = "one", busy_seconds: float = 2.0) -> Iterator[Store]:
    store = Store.open(url_of(path), server_id=server_id, busy_seconds=busy_seconds, index_idle_seconds=None)
    try:
        yield store
    finally:
        store.close()


def rot(path: Path, text: bytes, byte: bytes = b"\xff") -> None:
    """Replaces the last byte of the only place in the file that holds `text`."""
    content = path.read_bytes()
    assert content.count(text) == 1
    at = content.index(text) + len(text) - 1
    path.write_bytes(content[:at] + byte + content[at + 1 :])


def rot_page(path: Path, holding: bytes) -> None:
    """Overwrites the page that holds `holding` with nonsense."""
    with sqlite3.connect(path) as raw:
        [size] = raw.execute("PRAGMA page_size").fetchone()
    raw.close()
    content = bytearray(path.read_bytes())
    page = content.index(holding) // size
    content[page * size : (page + 1) * size] = b"\xa5" * size
    path.write_bytes(content)


def locks_of(path: Path) -> set[str]:
    """The POSIX locks that this process holds on a database and on its shared memory."""
    files = [path, path.with_name(path.name + "-shm")]
    inodes = {str(file.stat().st_ino) for file in files if file.exists()}
    locks = []
    for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
        words = line.split()
        if "POSIX" in words and str(os.getpid()) in words:
            place = next(word for word in words if word.count(":") == 2)
            if place.rpartition(":")[2] in inodes:
                locks.append(" ".join(words[words.index("POSIX") :]))
    return set(locks)
