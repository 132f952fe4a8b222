"""The stores of the open workspace folders, opened when first needed."""

import threading
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from coppice.errors import UnknownConversationError
from coppice.service.settings_source import SettingsSource
from coppice.service.workspaces import workspace_of
from coppice.settings import data_directory
from coppice.store.location import workspace_database
from coppice.store.records import ConversationRecord
from coppice.store.store import Store

NO_FOLDER: Final = "untitled:coppice"
"""The workspace of conversations that belong to no folder."""


class Stores:
    """Finds the store that holds a conversation. Thread-safe; every method may block on the disk."""

    def __init__(self, settings: SettingsSource, folders: Iterable[str] = ()) -> None:
        self.server_id = uuid.uuid4().hex
        self._settings = settings
        self._folders = list(folders)
        self._open: dict[str, Store] = {}
        self._home: dict[str, Store] = {}
        self._lock = threading.RLock()

    @property
    def folders(self) -> list[str]:
        return list(self._folders)

    def set_folders(self, uris: Iterable[str]) -> None:
        self._folders = list(uris)

    def workspaces(self) -> list[str]:
        """The workspace folders, or the place of conversations that belong to none."""
        return list(self._folders) or [NO_FOLDER]

    def default_workspace(self) -> str:
        return self.workspaces()[0]

    def of_workspace(self, workspace_uri: str) -> Store:
        settings = self._settings.of()
        url = settings.storage.url or workspace_database(Path(data_directory(settings)), workspace_uri)
        with self._lock:
            if url not in self._open:
                self._open[url] = Store.open(url, server_id=self.server_id)
            return self._open[url]

    def of_conversation(self, conversation_id: str) -> Store:
        """The open workspaces are asked first, then every workspace that is stored.

        Raises UnknownConversationError where none holds it.
        """
        with self._lock:
            home = self._home.get(conversation_id)
            if home is not None:
                return home
            for store in self._candidates():
                if _holds(store, conversation_id):
                    self._home[conversation_id] = store
                    return store
            elsewhere = workspace_of(self._settings.of(), conversation_id)
            if elsewhere is not None:
                self._home[conversation_id] = self.of_workspace(elsewhere)
                return self._home[conversation_id]
        raise UnknownConversationError(
            f"There is no conversation {conversation_id[:80]!r}. "
            "List the conversations to see which there are."
        )

    def forget(self, conversation_id: str) -> None:
        with self._lock:
            self._home.pop(conversation_id, None)

    def opened(self) -> list[Store]:
        with self._lock:
            return list(self._open.values())

    def close(self) -> None:
        with self._lock:
            for store in self._open.values():
                store.close()
            self._open.clear()
            self._home.clear()

    def _candidates(self) -> list[Store]:
        for uri in self.workspaces():
            self.of_workspace(uri)
        return list(self._open.values())


def _holds(store: Store, conversation_id: str) -> bool:
    try:
        record: ConversationRecord = store.conversation(conversation_id)
    except UnknownConversationError:
        return False
    return record.id == conversation_id
