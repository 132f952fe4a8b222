"""The use cases `coppice/model` and `coppice/conversation/setModel`: who answers."""

from typing import Any, Final

from coppice.errors import NoModelError
from coppice.protocol.conversations import ConversationResult, SetModelParams
from coppice.protocol.model import ConfiguredModelInfo, ModelParams, ModelResult, Prices
from coppice.providers import PROVIDERS, THINKING_LEVELS
from coppice.service.conversations.conversations import conversation_of
from coppice.service.core.chat_models import ChatModels
from coppice.service.core.client_turns import Turns
from coppice.service.core.context import Context, now
from coppice.service.core.workers import run_read
from coppice.service.window.usage import usage_state
from coppice.settings import ModelSettings, Settings
from coppice.store.schema.records import LEAF, ConversationRecord, ModelChoice, NewRecord
from coppice.tokens.measuring import size_of_entry
from coppice.tree.entries import Entry, ModelChangeEntry, ThinkingLevelChangeEntry
from coppice.tree.ids import new_entry_id

_DEFAULT_LEVEL: Final = "default"
"""What an entry calls the level that the settings do not name: as much as the model thinks by itself."""


class ModelChoosing:
    """Which model the settings select, and which one a user chooses for a conversation."""

    def __init__(self, context: Context, models: ChatModels, turns: Turns) -> None:
        self._context = context
        self._models = models
        self._turns = turns

    async def model(self, params: ModelParams) -> ModelResult:
        """Which models answer turns, and what is missing where one cannot."""
        settings = await run_read(self._context.settings.of, params.workspace_uri)
        models = [
            ConfiguredModelInfo(
                id=name,
                prices=Prices.model_validate(model.prices, from_attributes=True) if model.prices else None,
                **self._described(settings, model),
            )
            for name, model in settings.models.items()
        ]
        return ModelResult(models=models, **self._described(settings, settings.model))

    async def set_model(self, params: SetModelParams) -> ConversationResult:
        """The choice is recorded in the tree. Raises NoModelError where the settings name no such model.

        Raises ConversationBusyError while a turn runs: it goes on with the model that it began with.
        """
        conversation_id = params.conversation_id
        await self._turns.refuse_if_turn_runs(conversation_id)
        choice = ModelChoice(params.model, params.thinking_level)

        def write() -> tuple[ConversationRecord, bool]:
            store, record = self._context.find(conversation_id)
            settings = self._context.settings.of(record.workspace_uri)
            if choice.model is not None and choice.model not in settings.models:
                raise NoModelError(_unknown(choice.model, settings))
            if choice == record.choice:
                return record, False
            before = self._context.settings_of(record).model
            entries = _changes(before, self._context.settings.of(record.workspace_uri, choice=choice).model)
            records = [NewRecord(entry, size_of_entry(entry)) for entry in entries]
            store.append(conversation_id, records, parent_id=LEAF, modified_at=now(), choice=choice)
            return store.conversation(conversation_id), True

        record, changed = await self._context.write(conversation_id, write)
        if changed:
            self._context.announce(conversation_id, record.leaf_id, "entries", "leaf", "model")
            usage = await run_read(lambda: usage_state(self._context.path(conversation_id)))
            self._context.announce_usage(conversation_id, usage)
        return ConversationResult(conversation=conversation_of(record))

    def _described(self, settings: Settings, model: ModelSettings) -> dict[str, Any]:
        problem: str | None = None
        try:
            self._models.of(settings.model_copy(update={"model": model}))
        except NoModelError as error:
            problem = str(error)
        return {
            "provider": model.provider,
            "name": model.name,
            "context_window": model.context_window,
            "thinking_level": model.thinking_level,
            "thinking_levels": list(THINKING_LEVELS) if model.provider in PROVIDERS else [],
            "problem": problem,
        }


def _changes(before: ModelSettings, after: ModelSettings) -> list[Entry]:
    """The entries that record a choice: what it changes; the model where it changes nothing."""
    entries: list[Entry] = []
    at = now()
    level_changes = before.thinking_level != after.thinking_level
    if (before.provider, before.name) != (after.provider, after.name) or not level_changes:
        entries.append(
            ModelChangeEntry(
                id=new_entry_id(),
                parent_id=None,
                timestamp=at,
                provider=after.provider,
                model_id=after.name or "",
            )
        )
    if level_changes:
        level = after.thinking_level or _DEFAULT_LEVEL
        entries.append(
            ThinkingLevelChangeEntry(id=new_entry_id(), parent_id=None, timestamp=at, thinking_level=level)
        )
    return entries


def _unknown(name: str, settings: Settings) -> str:
    names = ", ".join(settings.models)
    offered = f"It has {names}." if names else "It is empty."
    return f"There is no model called {name!r} in the setting models. {offered}"
