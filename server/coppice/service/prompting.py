"""The use case `coppice/prompt`: a turn that the server runs itself."""

import asyncio
from typing import Final, cast

from coppice.service.chat_models import ChatModels
from coppice.service.compacting import DRAFT_JOB
from coppice.service.compacting import JOB as COMPACTION
from coppice.service.context import Context
from coppice.service.jobs import Progress, SharedProgress
from coppice.service.messages.prompt import PromptParams, PromptResult
from coppice.service.recovering import Recovering
from coppice.service.server_requests import Ask
from coppice.service.thresholds import Thresholds
from coppice.service.tool_calls import Tools
from coppice.service.trees import Trees
from coppice.service.turn import Rooms, Turn
from coppice.service.turns import JOB, Turns
from coppice.settings import Settings

TITLE: Final = "Working"
ENDINGS: Final = {
    "stop": "Answered",
    "length": "The reply was cut off at its limit",
    "maxSteps": "Stopped after as many steps as were allowed",
}
"""What a person is told of a turn that ended, by its stop reason."""


class Prompting:
    """`ask` sends a request to a client that answers `coppice/invokeTool`, and is None for any other."""

    def __init__(
        self, context: Context, trees: Trees, thresholds: Thresholds, recovering: Recovering, turns: Turns
    ) -> None:
        self.ask: Ask | None = None
        self._models = ChatModels(context.summarizers, context.settings)
        self._rooms = Rooms(context, self._models, trees, thresholds, recovering)
        self._turns = turns

    async def prompt(self, params: PromptParams, progress: Progress) -> PromptResult:
        """Waits for a compaction that runs. Raises NoModelError, ModelError and ContextOverflowError.

        A conversation in which another turn runs, the server's or the client's, is busy.
        """
        conversation_id = params.conversation_id
        settings = await asyncio.to_thread(self._settings, conversation_id)
        self._models.of(settings)
        self._turns.refuse_if_running(conversation_id)
        tools = Tools(conversation_id, params.tools or (), self.ask)

        async def work(shared: SharedProgress) -> PromptResult:
            try:
                result = await Turn(self._rooms, params, settings, tools, shared).run()
            finally:
                self._rooms.recovering.forget(conversation_id)
            shared.end(ENDINGS[result.stop_reason])
            return result

        result = await self._rooms.context.jobs.run(
            conversation_id,
            JOB,
            title=TITLE,
            progress=progress,
            work=work,
            joinable=False,
            behind=(COMPACTION, DRAFT_JOB),
        )
        return cast("PromptResult", result)

    async def close(self) -> None:
        await self._models.close()

    def _settings(self, conversation_id: str) -> Settings:
        store = self._rooms.context.stores.of_conversation(conversation_id)
        return self._rooms.context.settings.of(store.conversation(conversation_id).workspace_uri)
