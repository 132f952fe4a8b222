"""The settings in force for a workspace, from every layer."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from coppice.compaction.prompts import Prompts
from coppice.files.paths import path_of_uri
from coppice.settings import (
    Layer,
    ModelSettings,
    Settings,
    config_directory,
    editor_layer,
    environment_layer,
    read_layer_file,
    request_layer,
    resolve,
    user_layer,
    workspace_layer,
)

WORKSPACE_FILE: Final = ".coppice/settings.toml"
USER_FILE: Final = "settings.toml"


@dataclass
class SettingsSource:
    """Reads the settings files anew at each look, so that an edit counts at once."""

    editor: Mapping[str, Any] = field(default_factory=dict)
    user_file: Path = field(default_factory=lambda: config_directory() / USER_FILE)
    _windows: dict[Hashable, int] = field(default_factory=dict)

    def tell_window(self, model: ModelSettings, tokens: int) -> None:
        """What a model's server says of its window. It holds from then on where the settings name none."""
        self._windows[_whose(model)] = tokens

    def of(self, workspace_uri: str | None = None, request: Mapping[str, Any] | None = None) -> Settings:
        return self.explained(workspace_uri, request)[0]

    def explained(
        self, workspace_uri: str | None = None, request: Mapping[str, Any] | None = None
    ) -> tuple[Settings, list[str]]:
        """The settings, and a sentence for each value that was passed over."""
        user, problems = read_layer_file(self.user_file)
        layers: list[Layer] = [user_layer(user), environment_layer()]
        folder = path_of_uri(workspace_uri) if workspace_uri else None
        if folder is not None:
            checkout, more = read_layer_file(Path(folder) / WORKSPACE_FILE)
            problems += more
            layers.append(workspace_layer(checkout))
        layers += [editor_layer(self.editor), request_layer(request or {})]
        settings, misfits = resolve(*layers)
        _, unknown_prompts = Prompts.from_settings(settings.prompts)
        return self._with_window(settings), [*problems, *misfits, *unknown_prompts]

    def _with_window(self, settings: Settings) -> Settings:
        model = settings.model
        told = self._windows.get(_whose(model))
        if told is None or "context_window" in model.model_fields_set:
            return settings
        # A window that was told is not one that was set: the server is still to be asked for it.
        known = ModelSettings.model_construct(
            model.model_fields_set, **{**dict(model), "context_window": told}
        )
        return settings.model_copy(update={"model": known})


def _whose(model: ModelSettings) -> Hashable:
    return model.provider, model.base_url, model.name
