"""Who answers turns, by the settings in force."""

from collections.abc import Hashable

from coppice.models.chat import ChatModel
from coppice.service.core.settings_source import SettingsSource
from coppice.service.core.summarizers import INHERIT, Summarizers, model_of
from coppice.settings import Settings


class ChatModels:
    """The models that turns were run with, kept open for the turns that follow."""

    def __init__(self, summarizers: Summarizers, source: SettingsSource) -> None:
        self._summarizers = summarizers
        self._source = source
        self._opened: dict[Hashable, ChatModel] = {}

    def of(self, settings: Settings) -> ChatModel:
        """The model of `settings`. Raises NoModelError, with how to set one."""
        key = (settings.model.model_dump_json(exclude_unset=True), tuple(settings.overflow.phrases))
        model = self._opened.get(key)
        if model is None:
            model = self._opened[key] = model_of(INHERIT, settings, self._summarizers.sample)
        return model

    async def window_of(self, settings: Settings) -> int:
        """The model's window, in tokens. A window that its server reports is used from then on."""
        limits = await self.of(settings).limits()
        if limits.source == "server":
            self._source.report_window(settings.model, limits.context_window)
        return limits.context_window

    async def close(self) -> None:
        """Close the connections of all models."""
        for model in self._opened.values():
            await model.close()
        self._opened.clear()
