"""Who writes the summaries, by the settings in force."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Final, ParamSpec, TypeVar

from coppice.compaction.asking.prompts import Prompts
from coppice.compaction.asking.summarizer import (
    Summarizer,
    SummaryRequest,
    WrittenSummary,
    without_progress,
)
from coppice.errors import NoModelError
from coppice.models.chat import ChatModel
from coppice.models.choosing import chat_model
from coppice.models.editor import Sample
from coppice.protocol.server_requests import SAMPLE, ClientPort
from coppice.providers import PROVIDERS
from coppice.service.core.worker_process import call_in_process
from coppice.service.core.workers import run_long
from coppice.settings import ModelSettings, Settings, SummarizerSettings
from coppice.summarizers.fallback import FallbackSummarizer
from coppice.summarizers.llm import ModelSummarizer
from coppice.summarizers.offline import OfflineSummarizer

OFFLINE: Final = "offline"
INHERIT: Final = "inherit"
_LATER: Final = 60.0
"""How long whoever is out of time has to make a summary of what is there, in seconds."""


class Summarizers:
    """Makes the summarizer that the settings name, with its fallbacks; the last is always `offline`.

    `fixed` replaces the choice of the settings.
    """

    def __init__(self, client: ClientPort, fixed: Summarizer | None = None) -> None:
        self._client = client
        self._fixed = fixed

    @property
    def sample(self) -> Sample | None:
        """Asks the editor's own model; None where the client does not offer it."""
        return partial(self._client.ask, SAMPLE) if SAMPLE in self._client.answers else None

    @asynccontextmanager
    async def of(self, settings: Settings) -> AsyncIterator[Summarizer]:
        """The summarizer for one piece of work; its connections are closed when the block ends."""
        if self._fixed is not None:
            yield self._fixed
            return
        async with AsyncExitStack() as stack:
            chain = [(name, self._named(name, settings, stack)) for name in order_of(settings)]
            limit = settings.summarizer.timeout_seconds + _LATER
            yield FallbackSummarizer(chain, seconds=limit)

    def _named(self, name: str, settings: Settings, stack: AsyncExitStack) -> Summarizer:
        if name == OFFLINE:
            return _ProcessSummarizer()
        try:
            model = model_of(name, settings, self.sample)
        except NoModelError as error:
            return _Unavailable(error)
        stack.push_async_callback(model.close)
        prompts, _ = Prompts.from_settings(settings.prompts)
        chosen = settings.summarizer
        return ModelSummarizer(
            model, prompts, seconds=chosen.timeout_seconds, split_turn=chosen.split_turn, compute=in_process
        )


def model_of(name: str, settings: Settings, sample: Sample | None = None) -> ChatModel:
    """The model of a name in the order; close it in the end. Raises NoModelError, with how to set one."""
    return chat_model(settings_of(name, settings), sample=sample, overflow_phrases=settings.overflow.phrases)


def settings_of(name: str, settings: Settings) -> ModelSettings | SummarizerSettings:
    """The settings of a name in the order."""
    if name == INHERIT:
        return settings.model
    return settings.summarizer if name == settings.summarizer.provider else ModelSettings(provider="editor")


class _ProcessSummarizer:
    """Has the offline summarizer write in another process, except about little text."""

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        """Raises WorkTooLongError. Cancelling ends the process."""
        if request.ledger is not None:
            # All that is computed then depends on the facts.
            request = replace(request, history=(), turn_prefix=(), kept_messages=())
        return await in_process(_written_offline, without_progress(request))


def _written_offline(request: SummaryRequest) -> WrittenSummary:
    return asyncio.run(OfflineSummarizer().summarize(request))


class _Unavailable:
    """A summarizer that is set but cannot be asked; the next in the order writes instead."""

    def __init__(self, error: NoModelError) -> None:
        self._error = error

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        del request
        raise self._error


def answers_side_by_side(settings: Settings) -> bool:
    """Whether whoever may write a summary can do so while the model answers a turn.

    A server that is not the provider's own may have room for one request, and break one off for another.
    """
    asked = [settings_of(name, settings) for name in order_of(settings) if name != OFFLINE]
    return not any(each.provider in PROVIDERS and each.base_url for each in asked)


def order_of(settings: Settings) -> list[str]:
    """Who is asked, in order: the summarizer's own provider, then the fallbacks, and `offline` in the end.

    `inherit` is the model that answers turns; it is passed over while none is set.
    """
    wanted = [settings.summarizer.provider, *settings.summarizer.fallbacks]
    there = [name for name in wanted if name != INHERIT or settings.model.provider != "none"]
    before = there[: there.index(OFFLINE)] if OFFLINE in there else there
    return [*dict.fromkeys(before), OFFLINE]


P = ParamSpec("P")
T = TypeVar("T")


async def in_process(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """`call_in_process`, from the event loop. A cancel ends the process."""
    return await run_long(call_in_process, function, *args, **kwargs)
