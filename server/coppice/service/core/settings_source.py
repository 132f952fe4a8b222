"""The settings in force for a workspace, from every layer."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

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
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
_Content = tuple[dict[str, Any], list[str]]
_Explained = tuple[Settings, list[str]]
_Stamp = tuple[int, ...]


@dataclass
class SettingsSource:
    """Reads a settings file again whenever it has changed, so that an edit takes effect at once.

    `editor` is replaced as a whole, never changed in place: settings are resolved again when a layer differs.
    """

    editor: Mapping[str, Any] = field(default_factory=dict)
    client_layer: Callable[[Mapping[str, Any]], Layer] = editor_layer
    user_file: Path = field(default_factory=lambda: config_directory() / USER_FILE)
    ignored: dict[str, None] = field(default_factory=dict)
    """Sentences about settings of single requests that were ignored, in the order in which they came."""
    _windows: dict[Hashable, int] = field(default_factory=dict)
    _read: dict[Path, tuple[_Stamp | None, _Content]] = field(default_factory=dict)
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
            current = self.explained(workspace_uri)[1]
            self.ignored |= dict.fromkeys(problem for problem in problems if problem not in current)
        return settings if choice in (None, ModelChoice()) else self._with_choice(settings, choice)

    def explained(
        self, workspace_uri: str | None = None, request: Mapping[str, Any] | None = None
    ) -> tuple[Settings, list[str]]:
        """The settings, and a sentence for each value that was ignored."""
        user, problems = self._content(self.user_file, self.user_file, read_user_file)
        layers: list[Layer] = [user_layer(user), environment_layer()]
        place = _checkout_at(workspace_uri) if workspace_uri else None
        if place is not None:
            checkout, more = self._content(*place, read_workspace_file)
            problems = [*problems, *more]
            layers.append(workspace_layer(checkout))
        layers += [self.client_layer(self.editor), request_layer(request or {})]
        if request:
            return self._explained(layers, problems)
        made_of = (layers, problems, self._windows)
        cached = self._resolved.get(workspace_uri)
        if cached is None or cached[0] != made_of:
            cached = _remember(self._resolved, workspace_uri, (made_of, self._explained(layers, problems)))
        return cached[1]

    def _explained(self, layers: Sequence[Layer], problems: Sequence[str]) -> _Explained:
        settings, ignored = resolve(*layers)
        _, unknown_prompts = Prompts.from_settings(settings.prompts)
        settings = self._with_window(settings)
        return settings, [*problems, *ignored, *unknown_prompts, *_small_reserve(settings)]

    def _content(self, file: Path, place: Path, read: Callable[[Path], _Content]) -> _Content:
        stamp = _stamp(file)
        cached = self._read.get(file)
        if cached is None or cached[0] != stamp:
            cached = _remember(self._read, file, (stamp, read(place)))
        return cached[1]

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


def _remember(cache: dict[Key, Value], key: Key, value: Value) -> Value:
    """Stores the value, in a cache that is emptied when it is full: several threads use it."""
    if len(cache) >= MOST_REMEMBERED:
        cache.clear()
    cache[key] = value
    return value


def _small_reserve(settings: Settings) -> Iterator[str]:
    smallest = smallest_reserve(settings.model.context_window)
    if settings.compaction.reserve_tokens < smallest:
        yield (
            f"compaction.reserveTokens: no answer fits in {settings.compaction.reserve_tokens:,} tokens;"
            f" {smallest:,} are kept free."
        )


def _endpoint(model: ModelSettings) -> Hashable:
    return model.provider, model.base_url, model.name


def _stamp(file: Path) -> _Stamp | None:
    """What changes with the file's content; None where there is none."""
    try:
        target, link = file.stat(), file.lstat()
    except (OSError, ValueError):
        return None
    return target.st_mtime_ns, target.st_size, target.st_ino, target.st_mode, link.st_mode, target.st_ctime_ns
