"""Who answers turns, by the settings in force."""

from collections.abc import Hashable

from coppice.models.chat import ChatModel
from coppice.service.summarizers import INHERIT, Summarizers, model_of
from coppice.settings import Settings


class ChatModels:
    """The models that turns were run with, kept open for the turns that follow."""

    def __init__(self, summarizers: Summarizers) -> None:
        self._summarizers = summarizers
        self._opened: dict[Hashable, ChatModel] = {}

    def of(self, settings: Settings) -> ChatModel:
        """The model of `settings`. Raises NoModelError, with how to set one."""
        named = settings.model
        key = (named, frozenset(named.model_fields_set), tuple(settings.overflow.phrases))
        model = self._opened.get(key)
        if model is None:
            model = self._opened[key] = model_of(INHERIT, settings, self._summarizers.sample)
        return model

    async def close(self) -> None:
        for model in self._opened.values():
            await model.close()
        self._opened.clear()
