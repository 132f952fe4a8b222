"""Five real servers on one store, to which faults happen while they work.

A scenario is one operation under one fault, both drawn at random. After each the answer is checked, after all
of them the store: nothing that was acknowledged may be lost, on any branch.
"""

import contextlib
import random
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from attacks import newer_server
from attacks.cutting_proxy import CuttingProxy
from attacks.lab_faults import Faults
from attacks.lab_model import WINDOW, Model
from attacks.lab_operations import FEWEST, Conversations, message
from attacks.lab_window import PATIENCE, Window
from models.provider_server import serving

from coppice.service.notes.notebook import notes_id
from coppice.store.engines.disk_reserve import DiskReserve
from coppice.store.store import Store

T = TypeVar("T")

WINDOWS: Final = 5
MEMORY_LIMIT: Final = 400 * 2**20
"""Bytes of each server."""
FORKED: Final = 0.9
"""The share of servers that are forked. The others import what they need under faults."""
FAULTS: Final = {
    "none": 10,
    "failing request": 20,
    "hostile text": 20,
    "slow reader": 15,
    "lock": 8,
    "removed file": 6,
    "hostile checkout": 8,
    "few descriptors": 8,
    "little memory": 8,
    "cut connections": 15,
    "full disk": 4,
    "kill": 3,
    "closed window": 3,
    "newer server": 1,
    "flipped bytes": 1,
}
"""How often each is drawn. Those come less often after which servers have to start again."""
ONLY_FILES: Final = frozenset({"lock", "removed file", "flipped bytes"})
"""The faults that need a database file."""


@dataclass
class Laboratory:
    """`url` is the store's where it is no file, by way of `proxy`. `tmpfs` says that the folder `store` is a
    small disk. `exits` counts the exit codes of servers that ended without memory.
    """

    directory: Path
    seed: int
    url: str | None = None
    proxy: CuttingProxy | None = None
    tmpfs: bool = False
    drawn: dict[tuple[str, str], int] = field(default_factory=dict)
    exits: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.workspace = self.directory / "workspace"
        self.workspace.mkdir()
        self.model = ""
        self.windows: list[Window] = []
        self.steps_ahead = 0
        self.log: list[str] = []
        self.conversations = Conversations(self.chance)
        self.faults = Faults(self.directory, self.chance, self.conversations, self.proxy)

    def run(self, scenarios: int) -> None:
        """Raises an exception that holds the last steps where a promise is broken."""
        with ExitStack() as ending:
            self.model = ending.enter_context(serving([Model(self.seed)])).url
            ending.callback(newer_server.look_ahead, 0)
            ending.callback(self._end_windows)
            self.windows = self._all_windows()
            for _ in range(FEWEST):
                self.conversations.create(self.windows[0])
            try:
                for _ in range(scenarios):
                    self._scenario()
                self.check()
            except BaseException as error:
                error.add_note(f"seed {self.seed}, last: {self.log[-20:]}")
                raise

    def check(self) -> None:
        """Compares the store with what was acknowledged, by the answers of a server that starts anew."""
        self._end_windows()
        self.windows = [self._window()]
        url = self.url or f"sqlite:///{self.faults.database}"
        store = Store.open(url, server_id="check")
        try:
            for conversation, expected in self.conversations.acknowledged.items():
                stored_ids = {entry.id for entry in store.all_entries(conversation)}
                assert expected <= stored_ids, (conversation, expected - stored_ids)
                for entry_id in sorted(expected):
                    end = store.end(conversation, entry_id)
                    assert end is not None
                    path = store.rows(end, 0, end.depth)
                    assert [row.depth for row in path] == list(range(end.depth + 1))
            if self.conversations.notes:
                notes = {entry.id for entry in store.all_entries(notes_id(self.workspace.as_uri()))}
                assert self.conversations.notes <= notes, self.conversations.notes - notes
            assert store.damages() == []
        finally:
            store.close()

    def _scenario(self) -> None:
        faults = [name for name in FAULTS if self._is_possible(name)]
        fault = self.chance.choices(faults, [FAULTS[name] for name in faults])[0]
        operation = self.conversations.operation()
        self.drawn[fault, operation] = self.drawn.get((fault, operation), 0) + 1
        self.log.append(f"{fault} × {operation}")
        window = self.chance.choice(self.windows)
        if fault == "removed file":
            # A server that has not opened the store yet finds none, and makes one.
            for each in self.windows:
                each.result("coppice/conversation/list", {})
        if fault == "kill":
            self._killed(window, operation)
        elif fault == "closed window":
            self._replace(window)
            self.conversations.done(self.chance.choice(self.windows), operation)
        elif fault == "newer server":
            self._migrated(window, operation)
        elif fault == "flipped bytes":
            self._flipped(operation)
        else:
            with self.faults.named(fault)(window):
                before = len(self.conversations.acknowledged)
                reserved = fault == "full disk" and DiskReserve(self.directory / "store").is_kept()
                refused = self._done(window, operation, may_end=fault == "little memory")
            if fault == "little memory" and window in self.windows:
                # One that answered may end nevertheless.
                self._replaced_at_end(window, lambda: window.result("coppice/conversation/list", {}))
            if reserved and len(self.conversations.acknowledged) < before:
                assert refused is None, (operation, refused)
            if fault == "removed file" and operation in {"append", "delete", "import", "fork", "prompt"}:
                assert refused == "storage-failed", (operation, refused)
        for each in self.windows:
            assert each.memory() < MEMORY_LIMIT

    def _done(self, window: Window, operation: str, *, may_end: bool) -> str | None:
        """As `Conversations.done`; a server that may end is replaced when it does."""
        if not may_end:
            return self.conversations.done(window, operation)
        return self._replaced_at_end(window, lambda: self.conversations.done(window, operation))

    def _replaced_at_end(self, window: Window, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except (EOFError, BrokenPipeError):
            code = window.process.wait(PATIENCE)
            self.exits[code] = self.exits.get(code, 0) + 1
            self._replace(window)
            return None

    def _is_possible(self, fault: str) -> bool:
        if fault == "full disk":
            return self.tmpfs
        if fault == "cut connections":
            return self.proxy is not None
        return self.url is None or fault not in ONLY_FILES

    def _killed(self, window: Window, operation: str) -> None:
        conversation, text = self.conversations.any(), self.conversations.text()
        method, params, _ = self.conversations.request(window, operation, conversation, text)
        window.announced.clear()
        window.start_request(f"coppice/{method}", params)
        time.sleep(self.chance.uniform(0, 0.05))
        window.kill()
        self._replace(window)
        if operation == "prompt":
            self.conversations.acknowledged[conversation] |= set(window.announced)

    def _migrated(self, window: Window, operation: str) -> None:
        """A newer server migrates the store during an operation; the older ones may only read then."""
        for older in self.windows:
            older.result("coppice/conversation/list", {})
        self.steps_ahead += 1
        newest = newer_server.look_ahead(self.steps_ahead)
        newer = self._window()
        self.conversations.done(
            window, operation, meanwhile=partial(newer.result, "coppice/conversation/list", {})
        )
        params = {"conversationId": self.conversations.any(), "entries": [message("lost")]}
        for older in self.windows:
            refusal = older.request("coppice/append", params)["error"]
            assert refusal["data"] == {"code": "storage-failed", "found": newest, "known": newest - 1}
            assert "Update Coppice" in refusal["message"]
        self._end_windows()
        self.windows = [newer, *(self._window() for _ in range(WINDOWS - 1))]
        self.conversations.done(newer, operation)

    def _flipped(self, operation: str) -> None:
        """Flips a byte while nobody has the file open: the damage is called so and concerns no one else."""
        conversation = self.conversations.any()
        marker = f"rotten-{self.conversations.number}"
        about = {"conversationId": conversation}
        self.windows[0].result("coppice/append", {**about, "entries": [message(marker)]})
        database = self.faults.database
        content = self._content_at_rest()
        at = content.index(b'"content":"' + marker.encode()) + len(b'"content":"')
        database.write_bytes(content[:at] + b"\xff" + content[at + 1 :])
        self.windows = self._all_windows()
        answer = self.windows[0].request("coppice/conversation/export", {**about, "format": "coppice"})
        assert answer["error"]["data"]["damaged"] is True
        del self.conversations.acknowledged[conversation]
        self.conversations.done(self.windows[1], operation)
        content = self._content_at_rest()
        at = content.index(b'"content":"\xff') + len(b'"content":"')
        database.write_bytes(content[:at] + b"r" + content[at + 1 :])
        store = Store.open(f"sqlite:///{database}", server_id="check")
        with contextlib.suppress(Exception):
            store.delete(conversation)
        store.close()
        self.windows = self._all_windows()

    def _content_at_rest(self) -> bytes:
        """The database's, when nobody has it open."""
        self._end_windows()
        # A server that ends while it still reads leaves the log.
        with contextlib.closing(sqlite3.connect(self.faults.database)) as alone:
            alone.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return self.faults.database.read_bytes()

    def _window(self) -> Window:
        variables = {"COPPICE_STORAGE_URL": self.url} if self.url else {}
        is_forked = self.chance.random() < FORKED
        window = Window(
            self.directory, newer_server.command(self.steps_ahead), variables, is_forked=is_forked
        )
        settings = {
            "model": {"provider": "openai", "name": "m", "baseUrl": self.model, "contextWindow": WINDOW},
            "compaction": {"reserveTokens": 1_000, "keepRecentTokens": 500},
            "tokens": {"counter": "estimate"},
        }
        folder = {"uri": self.workspace.as_uri(), "name": "workspace"}
        options = {"settings": settings, "tools": True}
        window.initialize({"workspaceFolders": [folder], "initializationOptions": options})
        return window

    def _all_windows(self) -> list[Window]:
        return [self._window() for _ in range(WINDOWS)]

    def _replace(self, window: Window) -> None:
        if window.process.poll() is None:
            window.request("shutdown")
            window.notify("exit")
        window.end()
        self.windows[self.windows.index(window)] = self._window()

    def _end_windows(self) -> None:
        for window in self.windows:
            if window.process.poll() is None:
                window.request("shutdown")
                window.notify("exit")
            window.end()
        self.windows = []
