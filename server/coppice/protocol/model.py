"""Messages of `coppice/model`: which model answers turns."""

from coppice.protocol.base import WireModel, WorkspaceUri
from coppice.providers import ModelProvider


class ModelParams(WireModel):
    """Without `workspaceUri` the settings that hold outside every workspace are read."""

    workspace_uri: WorkspaceUri | None = None


class ModelResult(WireModel):
    """What the settings in force select. No request is made to the model.

    `problem` is present where no turn can begin with these settings, and names what to set.
    """

    provider: ModelProvider
    name: str | None = None
    context_window: int
    problem: str | None = None
