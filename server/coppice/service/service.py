"""The use cases as one object: what a front end starts, asks and closes."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Final

from coppice.compaction.summarizer import Summarizer
from coppice.errors import CoppiceError
from coppice.service.compacting import Compacting
from coppice.service.context import CHANGED, Context, Emit
from coppice.service.conversations import Conversations
from coppice.service.documents import Documents
from coppice.service.forking import Forking
from coppice.service.hooks import Hooks
from coppice.service.marking import Marking
from coppice.service.messages.events import ConversationChanged
from coppice.service.navigating import Navigating
from coppice.service.plugins import Plugins, installed_plugins
from coppice.service.portability import Portability
from coppice.service.prompting import Prompting
from coppice.service.recovering import Recovering
from coppice.service.searching import Searching
from coppice.service.server_requests import Ask
from coppice.service.settings_source import SettingsSource
from coppice.service.spans import Spans
from coppice.service.stores import Stores
from coppice.service.summarizers import Summarizers
from coppice.service.thresholds import Thresholds
from coppice.service.tracking import Tracking
from coppice.service.trees import Trees
from coppice.service.truncating import Truncating
from coppice.service.turns import Turns
from coppice.service.undoing import Undoing
from coppice.service.views import Views

WATCH_SECONDS: Final = 0.25


class Service:
    """Everything Coppice does for one client, whatever protocol the client speaks.

    `emit(method, params)` is called on the event loop for every notification. `settings` default to those
    of the user's files and the environment; `summarizer` stands in for the ones that the settings name.
    `ask` sends a request to a client that answers `coppice/abortTurn`. `plugins` default to the extensions
    that are installed in the server's environment.
    """

    def __init__(
        self,
        *,
        emit: Emit,
        summarizer: Summarizer | None = None,
        settings: SettingsSource | None = None,
        ask: Ask | None = None,
        plugins: Plugins | None = None,
    ) -> None:
        self.settings = settings or SettingsSource()
        self.stores = Stores(self.settings)
        self.summarizers = Summarizers(summarizer)
        self.hooks = Hooks(plugins or Plugins())
        self._plugins = plugins
        self._context = Context(self.stores, self.settings, emit, self.summarizers, self.hooks)
        self._beside: list[asyncio.Task[None]] = []
        self.tracking = Tracking(self._context)
        self._context.before_writing.append(self.tracking.record)
        self.conversations = Conversations(self._context, self.tracking)
        self.trees = Trees(self._context)
        self.views = Views(self._context)
        self.turns = Turns(self._context, ask)
        self.compacting = Compacting(self._context, self.turns)
        self.truncating = Truncating(self._context)
        self.thresholds = Thresholds(self._context, self.compacting)
        self.recovering = Recovering(self._context, self.compacting, self.truncating, self.turns)
        self.prompting = Prompting(self._context, self.trees, self.thresholds, self.recovering, self.turns)
        self.portability = Portability(self._context)
        self.documents = Documents(self._context)
        self.navigating = Navigating(self._context)
        self.spans = Spans(self._context)
        self.forking = Forking(self._context)
        self.marking = Marking(self._context)
        self.undoing = Undoing(self._context)
        self.searching = Searching(self._context)

    async def start(self, workspace_folders: list[str], client_settings: Mapping[str, Any]) -> list[str]:
        """Begins to serve; a sentence for each setting that was passed over. Opens no store yet."""
        self.stores.set_folders(workspace_folders)
        if self._plugins is None:
            self.hooks.plugins = await asyncio.to_thread(installed_plugins)
        self._beside = [
            asyncio.create_task(self._watch()),
            asyncio.create_task(self.tracking.keep_recording()),
        ]
        return [*self.hooks.plugins.problems, *await self.set_client_settings(client_settings)]

    async def set_workspace_folders(self, uris: list[str]) -> None:
        self.tracking.close_folders(set(self.stores.folders) - set(uris))
        self.stores.set_folders(uris)

    async def set_client_settings(self, settings: Mapping[str, Any]) -> list[str]:
        self.settings.editor = dict(settings)
        return await asyncio.to_thread(self._problems)

    async def close(self) -> None:
        """Stops what runs, writing nothing of it, records the last file events and closes the stores."""
        for task in self._beside:
            task.cancel()
        await asyncio.gather(*self._beside, return_exceptions=True)
        await self._context.jobs.close()
        await self.prompting.close()
        await self.tracking.settle()
        await asyncio.to_thread(self.stores.close)

    def _problems(self) -> list[str]:
        found: dict[str, None] = {}
        folders: list[str | None] = [*self.stores.folders] or [None]
        for folder in folders:
            found.update(dict.fromkeys(self.settings.explained(folder)[1]))
        return list(found)

    async def _watch(self) -> None:
        """Tells the client what other servers did on its stores."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            for store in self.stores.opened():
                with contextlib.suppress(CoppiceError):
                    for change in await asyncio.to_thread(store.changes):
                        self._context.emit(
                            CHANGED,
                            ConversationChanged.model_validate(
                                {
                                    "conversationId": change.conversation_id,
                                    "leafId": change.leaf_id,
                                    "changes": change.kinds,
                                }
                            ),
                        )
