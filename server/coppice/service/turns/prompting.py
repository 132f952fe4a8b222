"""The use case `coppice/prompt`: a turn that the server runs itself."""

from typing import Final

from coppice.protocol.base import ConversationParams
from coppice.protocol.prompt import AskNowResult, PromptParams, PromptResult
from coppice.protocol.server_requests import INVOKE_TOOL
from coppice.service.compaction.compacting import DRAFT_JOB
from coppice.service.compaction.compacting import JOB as COMPACTION
from coppice.service.conversations.trees import Trees
from coppice.service.core.chat_models import ChatModels
from coppice.service.core.client_turns import JOB, Turns
from coppice.service.core.context import Context
from coppice.service.core.jobs import stop_if_cancelled
from coppice.service.core.progress import JobProgress, Progress
from coppice.service.core.workers import run_read
from coppice.service.history.tools import HistoryTools
from coppice.service.notes.note_tools import NoteTools
from coppice.service.notes.notes import Notes
from coppice.service.recovery.recovering import Recovering
from coppice.service.recovery.thresholds import Thresholds
from coppice.service.turns.tool_calls import Tools
from coppice.service.turns.turn import Rooms, Turn
from coppice.settings import Settings
from coppice.store.schema.records import ConversationRecord

TITLE: Final = "Working"
ENDINGS: Final = {
    "stop": "Answered",
    "length": "The reply was cut off at its limit",
    "maxSteps": "Stopped after as many steps as were allowed",
    "tool": "Ended by a tool",
}
"""How the progress of a turn ends, by its stop reason."""


class Prompting:
    """Turns that the server runs; the client runs the tools, where it answers `coppice/invokeTool`."""

    def __init__(  # noqa: PLR0917 - the use cases that a turn is made of
        self,
        context: Context,
        models: ChatModels,
        trees: Trees,
        thresholds: Thresholds,
        recovering: Recovering,
        turns: Turns,
        history_tools: HistoryTools,
        notes: Notes,
    ) -> None:
        self._models = models
        self._rooms = Rooms(context, self._models, trees, thresholds, recovering, notes)
        self._turns = turns
        self._history_tools = history_tools
        self._running: dict[str, Turn] = {}

    async def prompt(self, params: PromptParams, progress: Progress) -> PromptResult:
        """Waits for a compaction that runs. Raises NoModelError, ModelError and ContextOverflowError.

        A conversation in which another turn runs, the server's, the client's or another server's, is busy.
        """
        conversation_id = params.conversation_id
        conversation, settings = await run_read(self._conversation, conversation_id)
        model = self._models.of(settings)
        self._turns.refuse_if_running(conversation_id)
        client = self._rooms.context.client
        ask = client.ask if INVOKE_TOOL in client.answers else None
        history = self._history_tools if settings.recall.enabled else None
        notes = (
            NoteTools(self._rooms.notes, conversation.workspace_uri, model.name)
            if settings.context.notes and settings.context.note_tools
            else None
        )
        tools = Tools(conversation_id, params.tools or (), ask, history, notes)

        async def work(shared: JobProgress) -> PromptResult:
            await self._turns.shared.begin(conversation_id)
            turn = self._running[conversation_id] = Turn(self._rooms, params, settings, tools, shared)
            try:
                stop_if_cancelled()
                result = await turn.run()
            finally:
                del self._running[conversation_id]
                self._rooms.recovering.forget(conversation_id)
                await self._turns.shared.end(conversation_id)
            shared.end(ENDINGS[result.stop_reason])
            return result

        return await self._rooms.context.jobs.run(
            conversation_id,
            JOB,
            title=TITLE,
            progress=progress,
            work=work,
            joinable=False,
            wait_for=(COMPACTION, DRAFT_JOB),
        )

    async def ask_now(self, params: ConversationParams) -> AskNowResult:
        """Has the turn that waits for its provider ask it now."""
        turn = self._running.get(params.conversation_id)
        return AskNowResult(waited=turn is not None and turn.ask_now())

    def _conversation(self, conversation_id: str) -> tuple[ConversationRecord, Settings]:
        _, record = self._rooms.context.find(conversation_id)
        return record, self._rooms.context.settings_of(record)
