"""The use case `coppice/prompt`: a turn that the server runs itself."""

import asyncio

from coppice.errors import NoModelError
from coppice.service.context import Context
from coppice.service.jobs import Progress
from coppice.service.messages.prompt import PromptParams, PromptResult


class Prompting:
    def __init__(self, context: Context) -> None:
        self._context = context

    async def prompt(self, params: PromptParams, progress: Progress) -> PromptResult:
        del progress
        await asyncio.to_thread(self._context.stores.of_conversation, params.conversation_id)
        raise NoModelError("No model answers turns here yet.")
