"""The places that settings come from, and which of them may set what.

From the lowest to the highest: the defaults, the user's file, the environment, the workspace's file, the
editor, the request. A value that is not accepted is reported by name, and the place below decides.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeGuard
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from coppice.providers import PROVIDERS
from coppice.settings import Settings

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one place. `name` is what a report calls the place.

    `sections` are those that it may set; None allows all. Where `may_move_keys` is false, a key that a lower
    layer names is not sent to an endpoint of this layer; where `may_name_keys` is false, the layer itself
    names only variables of API keys, and a provider's own only for that provider.
    """

    name: str
    values: Mapping[str, Any]
    sections: frozenset[str] | None = None
    may_move_keys: bool = True
    may_name_keys: bool = True


_SIZES: Final = frozenset({"compaction", "branchSummary", "recall", "tokens", "files"})
_REQUEST: Final = _SIZES | {"context"}
_EDITOR: Final = _REQUEST | {"model", "models", "summarizer", "overflow", "hooks"}


def environment_layer(environ: Mapping[str, str] | None = None) -> Layer:
    """`COPPICE_STORAGE_URL` and `COPPICE_STORAGE_DIRECTORY`."""
    environ = os.environ if environ is None else environ
    names = {"url": "COPPICE_STORAGE_URL", "directory": "COPPICE_STORAGE_DIRECTORY"}
    storage = {key: value for key, name in names.items() if (value := environ.get(name))}
    return Layer("the environment", {"storage": storage} if storage else {})


def user_layer(values: Mapping[str, Any]) -> Layer:
    """The user's own file: may set everything."""
    return Layer("the user's settings file", values)


def workspace_layer(values: Mapping[str, Any]) -> Layer:
    """A checkout is not trusted: it can set no endpoint, key, command, prompt, role or storage place."""
    return Layer("the workspace's settings file", values, _SIZES)


def editor_layer(values: Mapping[str, Any]) -> Layer:
    """What the editor sends: may name no storage, and no key of its own."""
    return Layer("the editor's settings", values, _EDITOR, may_move_keys=False, may_name_keys=False)


def command_line_layer(values: Mapping[str, Any]) -> Layer:
    """What an editor may set, given by the user in a command."""
    return Layer("the command line", values, _EDITOR, may_move_keys=False)


def request_layer(values: Mapping[str, Any]) -> Layer:
    """What one request sends: may set what concerns that request."""
    return Layer("the request's settings", values, _REQUEST)


def resolve(*layers: Layer) -> tuple[Settings, list[str]]:
    """The settings that `layers` make, lowest first, and a sentence for each value that was ignored."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for layer in layers:
        before = {section: dict(values.get(section, {})) for section in _ENDPOINTS}
        problems += _crowded(layer.values, layer)
        for path, value in _leaves(layer.values):
            if layer.sections is not None and path[0] not in layer.sections:
                problem: str | None = f"{layer.name} may not set it"
            elif problem := _misfit(path, value):
                problem = f"{problem} ({layer.name})"
            elif not layer.may_name_keys:
                problem = _key_problem(path, value, values)
            if problem:
                problems.append(f"{_shown(path)}: {problem}; it was ignored.")
            else:
                _put(values, path, value)
        if not layer.may_move_keys:
            problems += _withhold_keys(before, values, layer)
    return Settings.model_validate(values), problems


_KEY_SUFFIX: Final = "_API_KEY"
_NO_KEY: Final = (
    f"a client may name only a variable that ends in {_KEY_SUFFIX}, or one that apiKeys.allow in your own"
    " settings file lists"
)
_ELSEWHERE: Final = "use another variable, or list it in apiKeys.allow in your own settings file"
_ENDPOINTS: Final = ("model", "summarizer")
_KEY_OWNERS: Final = {provider.key_variable: provider for provider in PROVIDERS.values()}


def _key_problem(path: Path, value: object, values: Mapping[str, Any]) -> str | None:
    """A client may name a variable that is one of an API key, and no other of the user's environment."""
    if path[0] == "models" and isinstance(value, Mapping):
        return _configured_key_problem(value, values)
    accepted = [*_allowed(values), values.get(path[0], {}).get("apiKeyEnv")]
    if path[1:] != ("apiKeyEnv",) or str(value).endswith(_KEY_SUFFIX) or value in accepted:
        return None
    return _NO_KEY


def _configured_key_problem(model: Mapping[str, Any], values: Mapping[str, Any]) -> str | None:
    """The same for one of `models`, which comes whole: its key is for no endpoint of a lower layer."""
    variable = model.get("apiKeyEnv")
    if variable is None or variable in _allowed(values):
        return None
    owner = _KEY_OWNERS.get(variable)
    if owner is not None and not _is_own_endpoint(model, owner.address):
        return f"the key in {variable} is for another endpoint; {_ELSEWHERE}"
    return None if variable.endswith(_KEY_SUFFIX) else _NO_KEY


def _withhold_keys(before: Mapping[str, Any], values: dict[str, Any], layer: Layer) -> Iterator[str]:
    """Takes out keys that a layer's settings would send to another endpoint than the one they are for."""
    for name in _ENDPOINTS:
        section = values.get(name, {})
        variable = section.get("apiKeyEnv")
        if variable is None or variable in _allowed(values):
            continue
        owner = _KEY_OWNERS.get(variable)
        if variable == before[name].get("apiKeyEnv"):
            moved = any(before[name].get(key) != section.get(key) for key in ("provider", "baseUrl"))
        else:
            moved = (
                not layer.may_name_keys and owner is not None and not _is_own_endpoint(section, owner.address)
            )
        if moved:
            del section["apiKeyEnv"]
            yield (
                f"{name}.apiKeyEnv: the key in {variable} is for another endpoint and not sent to this one;"
                f" {_ELSEWHERE}."
            )


def _is_own_endpoint(section: Mapping[str, Any], address: str) -> bool:
    provider = PROVIDERS.get(section.get("provider", ""))
    url = section.get("baseUrl") or (provider.address if provider else "")
    try:
        return urlsplit(url.strip())[:2] == urlsplit(address)[:2]
    except ValueError:
        return False


def _allowed(values: Mapping[str, Any]) -> list[str]:
    allowed: list[str] = values.get("apiKeys", {}).get("allow", [])
    return allowed


_INNER_TABLES: Final = frozenset(
    {
        ("prompts",),
        ("compaction", "clear"),
        ("files", "tools"),
        ("sources", "folders"),
    }
)
"""Tables in a section, and the section whose keys the user chooses."""

_MOST_NAMES: Final = 500
"""In a table. To judge one takes 0.05 ms, a checkout may have 100,000, and a provider has some 300 models."""

_SHOWN_CHARS: Final = 80
"""Of a name in a report. The longest name of a setting has under 40."""


def _leaves(values: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    for here, value in _named(values, path):
        if _is_table(value, here):
            yield from _leaves(value, here)
        elif value is not None:
            yield here, value


def _crowded(values: Mapping[str, Any], layer: Layer, path: Path = ()) -> Iterator[str]:
    """A sentence for each table of which `_leaves` leaves names out."""
    if len(values) > _MOST_NAMES:
        yield f"{_shown(path) or layer.name}: it has more than {_MOST_NAMES} names; the others were ignored."
    for here, value in _named(values, path):
        if _is_table(value, here):
            yield from _crowded(value, layer, here)


def _named(values: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    return (((*path, str(key)), value) for key, value in islice(values.items(), _MOST_NAMES))


def _is_table(value: object, path: Path) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping) and (path in _INNER_TABLES or (len(path) == 1 and path[0] in _SECTIONS))


def _misfit(path: Path, value: object) -> str | None:
    """Why `value` cannot be set at `path`, or None when it can."""
    if len(path) == 1:
        return "a table is expected here" if path[0] in _SECTIONS else "there is no such setting"
    probe: dict[str, Any] = {}
    _put(probe, path, value)
    try:
        _SETTINGS.validate_python(probe)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        missing = first["type"] == "extra_forbidden"
        return "there is no such setting" if missing else first["msg"].removeprefix("Value error, ").lower()
    except RecursionError:
        return "it is nested too deeply"
    return None


def _put(values: dict[str, Any], path: Path, value: object) -> None:
    for key in path[:-1]:
        values = values.setdefault(key, {})
    values[path[-1]] = value


def _shown(path: Path) -> str:
    name = ".".join(path)
    return name if len(name) <= _SHOWN_CHARS else f"{name[:_SHOWN_CHARS]}…"


_SETTINGS: Final = TypeAdapter(Settings)
_SECTIONS: Final = frozenset(field.alias or name for name, field in Settings.model_fields.items())
