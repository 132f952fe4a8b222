"""The use cases as one object: what a front end starts, asks and closes."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from coppice.compaction.asking.summarizer import Summarizer
from coppice.protocol.server_requests import ClientPort, NoClient
from coppice.service.branches.forking import Forking
from coppice.service.branches.labels_and_pins import LabelsAndPins
from coppice.service.branches.navigating import Navigating
from coppice.service.branches.summarize_span import Spans
from coppice.service.branches.undoing import Undoing
from coppice.service.compaction.compacting import Compacting
from coppice.service.conversations.changes_elsewhere import ChangesElsewhere
from coppice.service.conversations.conversations import Conversations
from coppice.service.conversations.following import Following
from coppice.service.conversations.portability import Portability
from coppice.service.conversations.searching import Searching
from coppice.service.conversations.trees import Trees
from coppice.service.core.chat_models import ChatModels
from coppice.service.core.client_turns import Turns
from coppice.service.core.context import Context
from coppice.service.core.progress import ProgressOf, no_progress
from coppice.service.core.settings_source import SettingsSource
from coppice.service.core.stores import Stores
from coppice.service.core.summarizers import Summarizers
from coppice.service.core.workers import run_long, run_read
from coppice.service.files.tracking import Tracking
from coppice.service.history.recall import Recall
from coppice.service.history.tools import HistoryTools
from coppice.service.hooks.hooks import Hooks
from coppice.service.hooks.plugins import Plugins, installed_plugins
from coppice.service.notes.notes import Notes
from coppice.service.recovery.clearing import Clearing
from coppice.service.recovery.recovering import Recovering
from coppice.service.recovery.thresholds import Thresholds
from coppice.service.recovery.truncating import Truncating
from coppice.service.turns.model_choosing import ModelChoosing
from coppice.service.turns.prompting import Prompting
from coppice.service.turns.slash_commands import SlashCommands
from coppice.service.views.documents import Documents
from coppice.service.views.views import Views

PROBLEM_SECONDS: Final = 0.25  # seconds between two looks for problems; a reader sees no delay


class Service:
    """Everything Coppice does for one client, whatever protocol the client speaks.

    `settings` default to those of the user's files and the environment; `summarizer` replaces the ones that
    the settings name. `plugins` default to the extensions that are installed in the server's environment.
    """

    def __init__(
        self,
        client: ClientPort | None = None,
        *,
        summarizer: Summarizer | None = None,
        settings: SettingsSource | None = None,
        plugins: Plugins | None = None,
        progress_of: ProgressOf = no_progress,
    ) -> None:
        client = client or NoClient()
        self.settings = settings or SettingsSource()
        self.stores = Stores(self.settings)
        self.summarizers = Summarizers(client, summarizer)
        self.hooks = Hooks(plugins or Plugins(), client)
        self._plugins = plugins
        self._context = Context(self.stores, self.settings, client, self.summarizers, self.hooks, progress_of)
        self.jobs = self._context.jobs
        self._background: list[asyncio.Task[None]] = []
        self.tracking = Tracking(self._context)
        self._context.before_writing.append(self.tracking.record)
        self.turns = Turns(self._context)
        self.changes_elsewhere = ChangesElsewhere(self._context, self.turns.shared)
        self.conversations = Conversations(self._context, self.tracking, self.turns)
        self.trees = Trees(self._context)
        self.views = Views(self._context)
        self.compacting = Compacting(self._context, self.turns)
        self.truncating = Truncating(self._context, self.turns)
        self.clearing = Clearing(self._context, self.turns)
        self.notes = Notes(self._context, self.trees)
        self.thresholds = Thresholds(self._context, self.compacting, self.clearing, self.notes)
        self.recovering = Recovering(self._context, self.compacting, self.truncating, self.turns)
        self.recall = Recall(self._context)
        self.history_tools = HistoryTools(self.recall)
        self._models = ChatModels(self.summarizers, self.settings)
        self.model_choosing = ModelChoosing(self._context, self._models, self.turns)
        self.prompting = Prompting(
            self._context,
            self._models,
            self.trees,
            self.thresholds,
            self.recovering,
            self.turns,
            self.history_tools,
            self.notes,
        )
        self.slash_commands = SlashCommands(
            self._context, self.prompting, self.compacting, self.views, self.notes
        )
        self.portability = Portability(self._context)
        self.following = Following(self._context, self.conversations)
        self.documents = Documents(self._context)
        self.navigating = Navigating(self._context, self.turns)
        self.spans = Spans(self._context)
        self.forking = Forking(self._context)
        self.labels_and_pins = LabelsAndPins(self._context)
        self.undoing = Undoing(self._context, self.turns)
        self.searching = Searching(self.stores)

    async def start(self, workspace_folders: list[str], client_settings: Mapping[str, Any]) -> list[str]:
        """Begins to serve; a sentence for each setting that was passed over. Opens no store yet."""
        self.stores.folders = list(workspace_folders)
        if self._plugins is None:
            self.hooks.plugins = await run_read(installed_plugins)
        self._background = [
            asyncio.create_task(self._show_problems()),
            asyncio.create_task(self.changes_elsewhere.watch()),
            asyncio.create_task(self.tracking.keep_recording()),
        ]
        return [*self.hooks.plugins.problems, *await self.set_client_settings(client_settings)]

    async def set_workspace_folders(self, uris: list[str]) -> None:
        """Change the open folders; file events of closed ones are no longer recorded."""
        self.tracking.close_folders(set(self.stores.folders) - set(uris))
        self.stores.folders = list(uris)

    async def set_client_settings(self, settings: Mapping[str, Any]) -> list[str]:
        """Replace the settings that the editor gives; a sentence for each value that was ignored."""
        self.settings.editor = dict(settings)
        return await run_read(self._problems)

    async def close(self) -> None:
        """Stops what runs, writing nothing of it, records the last file events and closes the stores."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._context.jobs.close()
        await self.turns.shared.close()
        await self._models.close()
        await self.hooks.close()
        await self.tracking.settle()
        await run_long(self.stores.close)

    def _problems(self) -> list[str]:
        folders: list[str | None] = [*self.stores.folders] or [None]
        problems = [problem for folder in folders for problem in self.settings.explained(folder)[1]]
        return list(dict.fromkeys(problems))

    async def _show_problems(self) -> None:
        """Shows the client what is found wrong with its stores and settings."""
        reported: set[str] = set()
        while True:
            await asyncio.sleep(PROBLEM_SECONDS)
            for problem in list(self.stores.problems):  # other threads add to them meanwhile
                if problem not in reported:
                    reported.add(problem)
                    self._context.client.show(problem)
            for problem in list(self.settings.ignored):
                if problem not in reported:
                    reported.add(problem)
                    self._context.client.log(problem)
