"""The stores of the open workspace folders, opened when first needed."""

import threading
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from coppice.errors import CoppiceError, StorageFailedError, StoreDamagedError, UnknownConversationError
from coppice.service.core.conversation_index import ConversationIndex
from coppice.service.core.settings_source import SettingsSource
from coppice.service.core.workers import release_writers
from coppice.service.core.workspaces import databases
from coppice.settings import data_directory
from coppice.store.engines.choosing import name_of, sqlite_path
from coppice.store.store import Store
from coppice.store.tree.known_files import KnownFiles
from coppice.store.tree.location import spare_database, workspace_database

NO_FOLDER: Final = "untitled:coppice"
"""The workspace of conversations that belong to no folder."""

IDLE_SECONDS: Final = 120.0
"""How long a store that is no open folder's stays open after its last use. To open it again takes 4 ms."""

MAX_OPEN: Final = 32
"""Stores that are open at a time. Each has up to eleven descriptors, of often 1,024 for a process."""


class Stores:
    """Finds the store that holds a conversation. Thread-safe; methods block unless documented otherwise.

    A store that is given out stays usable when it has been closed for being idle: it opens its connections
    again.
    """

    def __init__(self, settings: SettingsSource) -> None:
        self.server_id = uuid.uuid4().hex
        self.folders: list[str] = []
        """The URIs of the workspace folders that the client has open. Stores of others stay open."""
        self._settings = settings
        self._index = ConversationIndex()
        self._open: dict[str, Store] = {}
        self._used: dict[str, float] = {}
        self._home: dict[str, str] = {}
        self._opening: dict[str, threading.Lock] = {}
        self.problems: dict[str, None] = {}
        """Sentences about stores that cannot be used or are gone, in the order in which they were found."""
        self._lock = threading.Lock()

    def workspaces(self) -> list[str]:
        """The workspace folders, or the place of conversations that belong to none."""
        return self.folders or [NO_FOLDER]

    def default_workspace(self) -> str:
        """The workspace of what names none: the first folder. Does not block."""
        return self.workspaces()[0]

    def url_of(self, workspace_uri: str) -> str:
        """The URL of the store that keeps a workspace's conversations."""
        settings = self._settings.of()
        return settings.storage.url or workspace_database(Path(data_directory(settings)), workspace_uri)

    def of_workspace(self, workspace_uri: str) -> Store:
        """The workspace's store; while it is damaged, another one for new conversations."""
        url = self.url_of(workspace_uri)
        try:
            return self._opened(url)
        except StoreDamagedError as error:
            if sqlite_path(url) is None:
                raise
            self._report(f"{name_of(url)}: {error} New conversations are kept in another file until then.")
            return self._opened(spare_database(url))

    def of_conversation(self, conversation_id: str) -> Store:
        """The open workspaces are asked first, then the index of every workspace that is stored.

        Raises:
            UnknownConversationError: no store holds it.
            StorageFailedError: no store that could be read holds it, and one could not be read.
        """
        home = self.home_of(conversation_id)
        if home is None:
            home = self._find(conversation_id)
            with self._lock:
                self._home[conversation_id] = home
        return self._opened(home)

    def home_of(self, conversation_id: str) -> str | None:
        """The URL of the store that held a conversation when it was last looked for. Does not block.

        The store counts as used now: it is not closed before the caller can use it.
        """
        with self._lock:
            home = self._home.get(conversation_id)
            if home is not None:
                self._used[home] = time.monotonic()
            return home

    def forget(self, conversation_id: str) -> None:
        """Forgets where a deleted conversation was."""
        with self._lock:
            self._home.pop(conversation_id, None)

    def watched(self) -> list[Store]:
        """The stores whose changes by other servers matter now: the others are closed after a while."""
        watched = {self.url_of(uri) for uri in self.workspaces()}
        oldest = time.monotonic() - IDLE_SECONDS
        with self._lock:
            idle = [url for url in self._open if url not in watched and self._used[url] < oldest]
            needed = [store for url, store in self._open.items() if url not in idle]
        self._rest(idle)
        return needed

    def close(self) -> None:
        """Closes all stores. A store that is asked for later is opened again."""
        with self._lock:
            stores = dict(self._open)
            self._open.clear()
            self._home.clear()
        for url, store in stores.items():
            store.close()
            release_writers(url)

    def _rest(self, urls: Sequence[str]) -> None:
        """Closes stores until they are used again."""
        with self._lock:
            closing = {url: store for url in urls if (store := self._open.pop(url, None)) is not None}
            self._home = {key: url for key, url in self._home.items() if url not in closing}
        for url, store in closing.items():
            store.rest()
            release_writers(url)

    def _make_room(self) -> None:
        """Closes the stores that were not used for longest where too many are open."""
        with self._lock:
            longest_unused = sorted(self._open, key=self._used.__getitem__)
        self._rest(longest_unused[:-MAX_OPEN])

    def _opened(self, url: str) -> Store:
        with self._lock:
            self._used[url] = time.monotonic()
            if (store := self._open.get(url)) is not None:
                return store
            opening = self._opening.setdefault(url, threading.Lock())
        # A store that another program holds back delays nobody but those who need it.
        with opening:
            if (store := self._open.get(url)) is None:
                store = self._newly_opened(url)
                with self._lock:
                    self._open[url] = store
        self._make_room()
        return store

    def _newly_opened(self, url: str) -> Store:
        """Also remembers that the file exists, and reports that another one did before it."""
        path = sqlite_path(url)
        if path is None:
            return Store.open(url, server_id=self.server_id)
        known_files = KnownFiles(path.parent)
        was_gone = known_files.is_gone(path)
        store = Store.open(url, server_id=self.server_id)
        known_files.note(path)
        if was_gone:
            self._report(
                f"{path.name}, a file of conversations, is not where it was: a new, empty one was made. If "
                "it was moved by mistake, close every editor and put it back in place of the new one."
            )
        return store

    def _report(self, problem: str) -> None:
        with self._lock:
            self.problems[problem] = None

    def _find(self, conversation_id: str) -> str:
        """The URL of the store that holds a conversation."""
        failures: list[str] = []
        ours = [self.url_of(uri) for uri in self.workspaces()]
        for url in ours:
            try:
                self._opened(url).conversation(conversation_id)
            except UnknownConversationError:
                continue
            except CoppiceError as error:
                failures.append(f"{name_of(url)}: {error}")
                continue
            return url
        others = [url for url in databases(self._settings.of()) if url not in ours]
        holder, unread = self._index.find(conversation_id, others)
        if holder is not None:
            return holder
        failures += unread
        if failures:
            raise StorageFailedError(
                f"The conversation is in no store that can be read. {len(failures)} cannot be read: "
                f"{failures[0]}"
            )
        raise UnknownConversationError(
            f"There is no conversation {conversation_id[:80]!r}. "
            "List the conversations to see which there are."
        )
