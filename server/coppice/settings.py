"""Settings: what they mean, what they default to, and which layer may say what.

Layers, later wins: the defaults; the user's file; the workspace's file; the editor; the request. A value
that does not fit is reported by name and the layer below it stands.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

Tokens = Annotated[int, Field(ge=1, le=100_000_000)]


class _Section(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", strict=True, frozen=True
    )


class CompactionSettings(_Section):
    """Sizes in tokens. `max_summary_tokens` defaults to 0.8 of the reserve."""

    enabled: bool = True
    reserve_tokens: Tokens = 16_384
    keep_recent_tokens: Tokens = 20_000
    max_summary_tokens: Tokens | None = None


class BranchSummarySettings(_Section):
    reserve_tokens: Tokens = 16_384
    ask: Literal["ask", "always", "never"] = "ask"


class ModelSettings(_Section):
    """Who answers turns. `api_key_env` names an environment variable; the key itself is no setting."""

    provider: Literal["none", "openai", "anthropic", "editor"] = "none"
    base_url: str | None = None
    name: str | None = None
    api_key_env: str | None = None
    context_window: Tokens = 200_000
    max_output_tokens: Tokens | None = None


class SummarizerSettings(_Section):
    """Who writes summaries: `offline`, the model (`inherit`), or another one.

    `fallbacks` are asked in order when that fails; `offline` comes last even where it is not named. Each has
    `timeout_seconds`; what a model has told by then stays, and the rest is summarized offline.
    """

    provider: Literal["inherit", "offline", "openai", "anthropic", "editor"] = "inherit"
    base_url: str | None = None
    name: str | None = None
    api_key_env: str | None = None
    context_window: Tokens | None = None
    max_output_tokens: Tokens | None = None
    fallbacks: list[Literal["inherit", "editor", "offline"]] = ["offline"]
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 240


class TokenSettings(_Section):
    counter: Literal["auto", "tiktoken", "estimate"] = "auto"


class ContextSettings(_Section):
    summary_role: Literal["user", "system"] = "user"


class ToolMapping(_Section):
    """How a tool's arguments name files: `path` (and `from` for a rename) are argument names."""

    kind: Literal["read", "write", "delete", "rename"]
    path: str
    from_path: str | None = Field(default=None, alias="from")


class FileSettings(_Section):
    count_open_as_read: bool = False
    ignore: list[str] = []
    tools: dict[str, ToolMapping] = {}


class OverflowSettings(_Section):
    phrases: list[str] = []


class HookSettings(_Section):
    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 10


class StorageSettings(_Section):
    url: str | None = None
    directory: str | None = None


class Settings(_Section):
    compaction: CompactionSettings = CompactionSettings()
    branch_summary: BranchSummarySettings = BranchSummarySettings()
    model: ModelSettings = ModelSettings()
    summarizer: SummarizerSettings = SummarizerSettings()
    tokens: TokenSettings = TokenSettings()
    context: ContextSettings = ContextSettings()
    files: FileSettings = FileSettings()
    overflow: OverflowSettings = OverflowSettings()
    hooks: HookSettings = HookSettings()
    storage: StorageSettings = StorageSettings()
    prompts: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one place. `name` is what a report calls the place."""

    name: str
    values: Mapping[str, Any]
    allowed: frozenset[str] | None = None
    """The sections and keys this place may set; None allows all."""


_EVERYWHERE: Final = frozenset({"compaction", "branchSummary", "tokens", "context", "files"})
_EDITOR: Final = _EVERYWHERE | {"model", "summarizer", "overflow", "hooks"}


def user_layer(values: Mapping[str, Any]) -> Layer:
    return Layer("the user's settings file", values)


def workspace_layer(values: Mapping[str, Any]) -> Layer:
    """A checkout is untrusted: it can name no endpoint, credential, command, prompt or storage place."""
    return Layer("the workspace's settings file", values, _EVERYWHERE)


def editor_layer(values: Mapping[str, Any]) -> Layer:
    return Layer("the editor's settings", values, _EDITOR)


def request_layer(values: Mapping[str, Any]) -> Layer:
    return Layer("the request's settings", values, _EVERYWHERE)


def environment_layer(environ: Mapping[str, str] | None = None) -> Layer:
    """`COPPICE_STORAGE_URL` and `COPPICE_STORAGE_DIRECTORY`."""
    environ = os.environ if environ is None else environ
    names = {"url": "COPPICE_STORAGE_URL", "directory": "COPPICE_STORAGE_DIRECTORY"}
    storage = {key: environ[name] for key, name in names.items() if environ.get(name)}
    return Layer("the environment", {"storage": storage} if storage else {})


def resolve(*layers: Layer) -> tuple[Settings, list[str]]:
    """The settings that `layers` make, lowest first, and a sentence for each value that was passed over."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for layer in layers:
        for path, value in _leaves(layer.values):
            name = ".".join(path)
            if layer.allowed is not None and path[0] not in layer.allowed:
                problems.append(f"{name}: {layer.name} may not set it; it was ignored.")
            elif problem := _misfit(path, value):
                problems.append(f"{name}: {problem} ({layer.name}); it was ignored.")
            else:
                _put(values, path, value)
    return Settings.model_validate(values), problems


def read_layer_file(path: Path) -> tuple[dict[str, Any], list[str]]:
    """The values of a TOML settings file; an absent file has none, a broken one is a problem to report."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")), []
    except FileNotFoundError:
        return {}, []
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return {}, [f"{path.name}: the settings file could not be read ({reason}); it was ignored."]


def config_directory() -> Path:
    """Where the user's `settings.toml` lies; `COPPICE_CONFIG_DIRECTORY` moves it."""
    moved = os.environ.get("COPPICE_CONFIG_DIRECTORY")
    return Path(moved) if moved else platformdirs.user_config_path("coppice")


def data_directory(settings: Settings) -> Path:
    """Where workspaces are stored unless `storage.url` names a server."""
    named = settings.storage.directory
    return Path(named).expanduser() if named else platformdirs.user_data_path("coppice") / "workspaces"


_OPEN_TABLES: Final = frozenset({("prompts",), ("files", "tools")})


def _leaves(values: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not isinstance(values, Mapping):
        yield path, values
        return
    for key, value in values.items():
        here = (*path, str(key))
        nested = isinstance(value, Mapping) and path not in _OPEN_TABLES
        if nested:
            yield from _leaves(value, here)
        elif value is not None:
            yield here, value


def _misfit(path: tuple[str, ...], value: object) -> str | None:
    """Why `value` cannot stand at `path`, or None when it can."""
    if len(path) == 1 and path[0] != "prompts":
        return "this is no setting" if path[0] not in _SECTIONS else "a table is expected here"
    probe: dict[str, Any] = {}
    _put(probe, path, value)
    try:
        _SETTINGS.validate_python(probe)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        return "this is no setting" if first["type"] == "extra_forbidden" else first["msg"].lower()
    return None


def _put(values: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    for key in path[:-1]:
        values = values.setdefault(key, {})
    values[path[-1]] = value


_SETTINGS: Final = TypeAdapter(Settings)
_SECTIONS: Final = frozenset(to_camel(name) for name in Settings.model_fields)
