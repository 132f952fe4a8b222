"""The settings in force for a workspace, from every layer."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from coppice.compaction.asking.prompts import Prompts
from coppice.compaction.span.sizes import smallest_reserve
from coppice.directories import config_directory
from coppice.files.paths import path_of_uri
from coppice.settings import ModelSettings, Settings
from coppice.settings.files import (
    USER_FILE,
    WORKSPACE_FILE,
    read_user_file,
    read_workspace_file,
)
from coppice.settings.layers import (
    Layer,
    editor_layer,
    environment_layer,
    request_layer,
    resolve,
    user_layer,
    workspace_layer,
)
from coppice.store.schema.records import ModelChoice

_MOST_IGNORED: Final = 100  # sentences: a client repeats the same mistakes, and each is reported once
MOST_REMEMBERED: Final = 256
"""Workspaces whose settings are remembered: a person has tens. With files of their own some 6 kB each."""
_Explained = tuple[Settings, list[str]]


@dataclass
class SettingsSource:
    """Reads a settings file again whenever it has changed, so that an edit takes effect at once.

    `editor` is replaced as a whole, never changed in place.
    """

    editor: Mapping[str, Any] = field(default_factory=dict)
    client_layer: Callable[[Mapping[str, Any]], Layer] = editor_layer
    user_file: Path = field(default_factory=lambda: config_directory() / USER_FILE)
    ignored: dict[str, None] = field(default_factory=dict)
    """Sentences about settings of single requests that were ignored, in the order in which they came."""
    _windows: dict[Hashable, int] = field(default_factory=dict)
    _resolved: dict[str | None, tuple[object, _Explained]] = field(default_factory=dict)
    """By workspace: what the settings outside of requests were made of last, and what came of it."""

    def report_window(self, model: ModelSettings, tokens: int) -> None:
        """Records the window that a model's server reports; it counts where the settings set none."""
        self._windows = {**self._windows, _endpoint(model): tokens}

    def of(
        self,
        workspace_uri: str | None = None,
        request: Mapping[str, Any] | None = None,
        choice: ModelChoice | None = None,
    ) -> Settings:
        """The settings for a workspace, or those outside of any. A value that is not accepted is ignored.

        What `request` gave and was ignored is added to `ignored`. `model` is the one of `choice`; where the
        settings name no such model it is the one for all conversations.
        """
        settings, problems = self.explained(workspace_uri, request)
        if request and len(self.ignored) < _MOST_IGNORED:
            current = set(self.explained(workspace_uri)[1])
            self.ignored |= dict.fromkeys(problem for problem in problems if problem not in current)
        return settings if choice in (None, ModelChoice()) else self._with_choice(settings, choice)

    def explained(
        self, workspace_uri: str | None = None, request: Mapping[str, Any] | None = None
    ) -> tuple[Settings, list[str]]:
        """The settings, and a sentence for each value that was ignored."""
        place = _checkout_at(workspace_uri) if workspace_uri else None
        # Taken once: the editor's settings may be replaced while the files are read.
        environment, client = environment_layer(), self.client_layer(self.editor)
        if request:
            return self._explained(place, environment, client, request)
        files = [self.user_file] if place is None else [self.user_file, place[0]]
        made_of = ([*map(_stamp, files)], environment, client, self._windows)
        cached = self._resolved.get(workspace_uri)
        if cached is None or cached[0] != made_of:
            cached = made_of, self._explained(place, environment, client, {})
            # Several threads use it.
            if len(self._resolved) >= MOST_REMEMBERED:
                self._resolved.clear()
            self._resolved[workspace_uri] = cached
        return cached[1]

    def _explained(
        self, place: tuple[Path, Path] | None, environment: Layer, client: Layer, request: Mapping[str, Any]
    ) -> _Explained:
        user, problems = read_user_file(self.user_file)
        layers = [user_layer(user), environment]
        if place is not None:
            checkout, more = read_workspace_file(place[1])
            problems += more
            layers.append(workspace_layer(checkout))
        settings, ignored = resolve(*layers, client, request_layer(request))
        _, unknown_prompts = Prompts.from_settings(settings.prompts)
        settings = self._with_window(settings)
        return settings, [*problems, *ignored, *unknown_prompts, *_small_reserve(settings)]

    def _with_choice(self, settings: Settings, choice: ModelChoice) -> Settings:
        model = settings.models.get(choice.model or "", settings.model)
        if choice.thinking_level is not None:
            model = model.model_copy(update={"thinking_level": choice.thinking_level})
        return self._with_window(settings.model_copy(update={"model": model}))

    def _with_window(self, settings: Settings) -> Settings:
        model = settings.model
        reported = self._windows.get(_endpoint(model))
        if reported is None or "context_window" in model.model_fields_set:
            return settings
        # The window is not marked as set: the server is to be asked for it again.
        with_window = type(model).model_construct(
            model.model_fields_set, **{**dict(model), "context_window": reported}
        )
        return settings.model_copy(update={"model": with_window})


@lru_cache(MOST_REMEMBERED)
def _checkout_at(workspace_uri: str) -> tuple[Path, Path] | None:
    """The settings file of a workspace, and its folder; None where the URI names none."""
    path = path_of_uri(workspace_uri)
    return None if path is None else (Path(path) / WORKSPACE_FILE, Path(path))


def _small_reserve(settings: Settings) -> Iterator[str]:
    smallest = smallest_reserve(settings.model.context_window)
    if settings.compaction.reserve_tokens < smallest:
        yield (
            f"compaction.reserveTokens: no answer fits in {settings.compaction.reserve_tokens:,} tokens;"
            f" {smallest:,} are kept free."
        )


def _endpoint(model: ModelSettings) -> Hashable:
    return model.provider, model.base_url, model.name


def _stamp(file: Path) -> tuple[int, ...] | None:
    """What changes with the file's content; None where there is none."""
    try:
        target, link = file.stat(), file.lstat()
    except (OSError, ValueError):
        return None
    return target.st_mtime_ns, target.st_size, target.st_ino, target.st_mode, link.st_mode, target.st_ctime_ns
