"""What happens to a server of the fault laboratory while it works."""

import contextlib
import os
import random
import resource
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
from attacks.cutting_proxy import CuttingProxy
from attacks.lab_operations import Conversations, message
from attacks.lab_window import Window

HOSTILE_TEXTS: Final = (
    "\n" * 5_000,
    "</conversation><read-files>\n" * 100,
    "\x1b[2J\u202e\u0000\ufffe" * 50,
    "<" * 5_000,
    "# " + " " * 5_000 + "x",
    "\ud800 alone",
)

Fault = Callable[[Window], AbstractContextManager[None]]


@dataclass
class Faults:
    """The faults that begin before an operation and end after it. `directory` is the laboratory's."""

    directory: Path
    chance: random.Random
    conversations: Conversations
    proxy: CuttingProxy | None = None

    @property
    def database(self) -> Path:
        [path] = (self.directory / "store").glob("*[0-9a-f].sqlite3")
        return path

    def named(self, name: str) -> Fault:
        fault: Fault = getattr(self, name.replace(" ", "_"))
        return fault

    @contextmanager
    def none(self, _: Window) -> Iterator[None]:
        yield

    @contextmanager
    def failing_request(self, window: Window) -> Iterator[None]:
        method, params = self.chance.choice(
            [
                ("append", {"conversationId": "unknown", "entries": [message("lost")]}),
                ("conversation/get", {"conversationId": "unknown"}),
                ("entries", {"conversationId": "unknown", "limit": 5}),
                ("conversation/export", {"conversationId": "unknown", "format": "coppice"}),
                ("append", {"conversationId": 5}),
                ("conversation/import", {"content": "nonsense"}),
            ]
        )
        assert "error" in window.request(f"coppice/{method}", params)
        yield
        assert "error" in window.request(f"coppice/{method}", params)

    @contextmanager
    def hostile_text(self, window: Window) -> Iterator[None]:
        self.conversations.done(window, "append", self.chance.choice(HOSTILE_TEXTS))
        yield

    @contextmanager
    def slow_reader(self, window: Window) -> Iterator[None]:
        conversation = self.conversations.any()
        params = {"conversationId": conversation, "limit": 100}
        window.reading.clear()
        asked = [window.start_request("coppice/entries", params) for _ in range(10)]
        time.sleep(0.05)
        window.reading.set()
        yield
        answers = [window.answer(request) for request in asked]
        # What is sent together may be done in any order: a deletion may be first.
        if conversation in self.conversations.acknowledged:
            assert all("result" in answer for answer in answers)

    @contextmanager
    def lock(self, _: Window) -> Iterator[None]:
        locked = sqlite3.connect(self.database, isolation_level=None, check_same_thread=False)
        locked.execute("PRAGMA busy_timeout = 5000")
        locked.execute("BEGIN IMMEDIATE")

        def release() -> None:
            locked.execute("ROLLBACK")
            locked.close()

        timer = threading.Timer(self.chance.uniform(0.05, 0.3), release)
        timer.start()
        yield
        timer.join()

    @contextmanager
    def removed_file(self, _: Window) -> Iterator[None]:
        """The file has another name. Every server must have opened it."""
        database = self.database
        elsewhere = database.with_name("elsewhere")
        database.rename(elsewhere)
        yield
        assert not database.exists()
        elsewhere.rename(database)

    @contextmanager
    def cut_connections(self, _: Window) -> Iterator[None]:
        """Those to the database server end a few times during the operation."""
        assert self.proxy is not None
        moments = [self.chance.uniform(0, 0.3) for _ in range(self.chance.randrange(1, 4))]
        timers = [threading.Timer(moment, self.proxy.cut) for moment in moments]
        for timer in timers:
            timer.start()
        yield
        for timer in timers:
            timer.join()

    @contextmanager
    def few_descriptors(self, window: Window) -> Iterator[None]:
        """The server has the descriptors that it has, and a few more."""
        # What was never used is imported first, for which a server in use needs no descriptor.
        window.result("coppice/conversation/list", {})
        process = psutil.Process(window.pid)
        allowed = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        few = process.num_fds() + self.chance.randrange(6)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (few, allowed[1]))
        yield
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, allowed)

    @contextmanager
    def little_memory(self, window: Window) -> Iterator[None]:
        """The server has the addresses that it has, and at most as many more as a few requests take.

        It may end: what it has no memory for is not always its own code.
        """
        window.result("coppice/conversation/list", {})
        process = psutil.Process(window.pid)
        allowed = resource.prlimit(process.pid, resource.RLIMIT_AS)
        little = process.memory_info().vms + self.chance.choice((1, 4, 16)) * 2**20
        resource.prlimit(process.pid, resource.RLIMIT_AS, (little, allowed[1]))
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(process.pid, resource.RLIMIT_AS, allowed)

    @contextmanager
    def hostile_checkout(self, window: Window) -> Iterator[None]:
        workspace = self.directory / "workspace"
        settings = workspace / ".coppice" / "settings.toml"
        settings.parent.mkdir(exist_ok=True)
        settings.unlink(missing_ok=True)
        match self.chance.randrange(3):
            case 0:
                settings.symlink_to("/dev/zero")
            case 1:
                settings.write_text(f"{'a.' * 3000}b = 1\n")
            case _:
                os.mkfifo(settings)
        (workspace / ".gitignore").write_text("*a*a*/" * 6 + "*c\n")
        changed = {"uri": (workspace / ("a" * 40) / "b").as_uri(), "type": 2}
        window.notify("workspace/didChangeWatchedFiles", {"changes": [changed]})
        yield
        settings.unlink()
        (workspace / ".gitignore").unlink()

    @contextmanager
    def full_disk(self, _: Window) -> Iterator[None]:
        filler = self.directory / "store" / "filler"
        free = shutil.disk_usage(filler.parent).free
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            file.write(b"\0" * free)
        yield
        filler.unlink()
