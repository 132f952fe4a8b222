"""Messages of `coppice/model`: which models answer turns."""

from coppice.protocol.base import WireModel, WorkspaceUri
from coppice.providers import ModelProvider, ThinkingLevel


class ModelParams(WireModel):
    """Without `workspaceUri` the settings that hold outside every workspace are read."""

    workspace_uri: WorkspaceUri | None = None


class Prices(WireModel):
    """What a million tokens cost, as the user has set it; `cachedInput` those read from the provider's cache.

    `cacheWrite` is for those written to it; without it they cost what `input` does.
    """

    input: float
    cached_input: float
    cache_write: float | None = None
    output: float
    currency: str


class SelectedModel(WireModel):
    """A model as the settings describe it. `name` is what its provider calls it.

    `thinkingLevels` are those that a user can choose from. `problem` is present where no turn can begin with
    the model, and names what to set.
    """

    provider: ModelProvider
    name: str | None = None
    context_window: int
    thinking_level: ThinkingLevel | None = None
    thinking_levels: list[ThinkingLevel]
    problem: str | None = None


class ConfiguredModelInfo(SelectedModel):
    """One of `models` in the settings; `id` is its name there."""

    id: str
    prices: Prices | None = None


class ModelResult(SelectedModel):
    """What the settings in force select for a conversation without a choice of its own, and `models`, which a
    user can choose from. No request is made to a model.
    """

    models: list[ConfiguredModelInfo]
