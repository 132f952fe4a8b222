"""The workspace of the agent: its store, its conversations, and which of them is running."""

import asyncio
import re
import threading
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path
from typing import Final

from coppice.errors import CoppiceError, StorageFailedError, UnknownConversationError, sentence_of
from coppice.mcp.options import Options
from coppice.mcp.rendering import shortened
from coppice.service.conversations.following import Updated
from coppice.service.core.workspaces import databases
from coppice.service.service import Service
from coppice.store.schema.records import ConversationRecord
from coppice.store.search.indexing import EVERYTHING, Scope
from coppice.store.store import Store

RESUME_COMMANDS = {
    "claude-code": "claude --resume {id}",
    "codex": "codex resume {id}",
    "copilot": "copilot --resume {id}",
    "gemini": "gemini --resume {id}",
    "openclaw": "openclaw agent --session-id {id} --message …",
    "hermes": "hermes --resume {id}",
    "opencode": "opencode --session {id}",
    "pi": "pi --session {id}",
}
"""By the format of a session: the command with which its agent goes on with it."""
_RESUMES_NO_SUB_AGENT: Final = ("claude-code", "gemini")
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
"""An id that a shell takes as one word and a program as no option. Agents give no other."""

_FOLDER_CHARS: Final = 200  # characters of a folder in an error: a model reads it


class Project:
    """What the tools read and write. Thread-safe; everything blocks on the disk.

    Raises StorageFailedError for a folder that no path leads to.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.workspace = _uri_of(options.folder)
        service = Service()
        service.stores.folders = [self.workspace]
        self.settings = service.settings
        self._stores = service.stores
        self.transcripts = Transcripts(service, self.workspace)
        self._others: dict[str, Store] = {}
        self.scope = Scope(workspace_uri=self.workspace)

    @property
    def store(self) -> Store:
        """The store of the workspace. Raises StorageFailedError."""
        return self._stores.of_workspace(self.workspace)

    def running(self) -> str | None:
        """The id of the conversation that the agent's session is stored as; None where that is unknown."""
        if self.options.session is None:
            return None
        return next(iter(self.store.named_conversations(self.scope, self.options.session)), None)

    def named(self, name: str) -> str:
        """The id of the newest conversation of the workspace that `name` names. Raises
        UnknownConversationError.
        """
        matches = self.store.named_conversations(self.scope, name.strip())
        if not matches:
            raise UnknownConversationError(
                f"No session of this project has the id {name[:80]!r}. history_overview lists them."
            )
        return matches[0]

    def allows_others(self) -> bool:
        """Whether the user's settings let the tools read other workspaces."""
        return self.settings.of(self.workspace).mcp.other_workspaces

    def others(self) -> Iterator[tuple[Store, Scope]]:
        """The stores of the other workspaces with what to look through in them; unreadable ones are left out.

        Each opens its file again when it is used after the next was asked for.
        """
        settings = self.settings.of(self.workspace)
        if settings.storage.url is not None:
            yield self.store, EVERYTHING
            return
        own = self._stores.url_of(self.workspace)
        for url in databases(settings):
            if url == own:
                continue
            with suppress(CoppiceError):
                if url not in self._others:
                    self._others[url] = Store.open(
                        url, server_id=self._stores.server_id, index_idle_seconds=None
                    )
                yield self._others[url], EVERYTHING
                self._others[url].rest()


def _uri_of(folder: str) -> str:
    try:
        return Path(folder).resolve().as_uri()
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
        raise StorageFailedError(
            f"The folder {folder[:_FOLDER_CHARS]!r} cannot be opened ({type(error).__name__}). "
            "Start `coppice mcp` with --workspace and the project's folder."
        ) from error


def label_of(record: ConversationRecord) -> str:
    """A conversation for a reader: its agent and the id that the agent gave its session, shortened."""
    agent, session = _origin(record)
    return f"{agent} {shortened(session)}"


def resume_command(record: ConversationRecord) -> str | None:
    """The command with which a session's agent goes on with it, or None where none is documented."""
    agent, session = _origin(record)
    command = RESUME_COMMANDS.get(agent)
    if record.parent_conversation_id is not None and agent in _RESUMES_NO_SUB_AGENT:
        return None
    return command.format(id=session) if command is not None and _PLAIN_ID.fullmatch(session) else None


def _origin(record: ConversationRecord) -> tuple[str, str]:
    source = record.source or {}
    agent = source.get("format")
    session = source.get("headerId", source.get("sessionId"))
    return (
        agent if isinstance(agent, str) else "coppice",
        session if isinstance(session, str) and session else record.id,
    )


_WAIT_SECONDS: Final = 5.0
"""Seconds that a call waits for an update. The first of 10,000 transcripts takes about a minute."""


class Transcripts:
    """Updates in a thread, one at a time. Thread-safe."""

    def __init__(self, service: Service, workspace: str) -> None:
        self._service = service
        self._workspace = workspace
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: Future[Updated] | None = None

    def update(self) -> str | None:
        """Store what is new; a sentence when that lasts longer than a call may wait, or fails."""
        with self._lock:
            running = self._running = self._running or self._started()
        wait([running], timeout=_WAIT_SECONDS)
        if not running.done():
            return "Transcripts of this project are still being read; ask again in a moment."
        with self._lock:
            if self._running is running:
                self._running = None
        error = running.exception()
        if error is None:
            return None
        reason = sentence_of(error, type(error).__name__)
        return f"What agents wrote since the last call could not be read: {reason}"

    def _started(self) -> Future[Updated]:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, daemon=True, name="coppice-transcripts").start()
        return asyncio.run_coroutine_threadsafe(self._service.following.update(self._workspace), self._loop)
