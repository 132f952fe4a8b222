"""docs/settings.md says of every setting what is so."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from coppice.cli import options
from coppice.providers import MODEL_PROVIDERS, PROVIDERS, SUMMARIZER_PROVIDERS
from coppice.settings import Settings
from coppice.settings.layers import (
    Layer,
    editor_layer,
    environment_layer,
    request_layer,
    resolve,
    user_layer,
    workspace_layer,
)

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "settings.md"
ROW = re.compile(r"^\| `([\w.]+)` \| (?:`(.+?)`|none) \| ([\w, ]+) \| (.+) \|$", re.MULTILINE)
ROWS = {name: (default, who, meaning) for name, default, who, meaning in ROW.findall(DOCUMENT.read_text())}


def fields(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting's name on the wire, with its default as JSON has it."""
    for name, field in type(model).model_fields.items():
        value, path = getattr(model, name), f"{prefix}{field.alias or name}"
        if isinstance(value, BaseModel):
            yield from fields(value, f"{path}.")
        else:
            yield path, value


DEFAULTS = dict(fields(Settings()))


def layers(name: str, value: object) -> list[Layer]:
    nested: Any = value
    for part in reversed(name.split(".")):
        nested = {part: nested}
    environ = {f"COPPICE_{name.replace('.', '_').upper()}": str(value)}
    return [
        user_layer(nested),
        environment_layer(environ),
        workspace_layer(nested),
        editor_layer(nested),
        request_layer(nested),
    ]


def accepted_by(name: str) -> list[str]:
    """The places whose value of a setting is taken, tried with a value that is not the default."""
    for value in (
        "SOME_API_KEY",
        "never",
        "high",
        "system",
        "openai",
        "estimate",
        "offline",
        "text",
        "separate",
        7,
        0.25,
        False,
        True,
        ["x"],
        ["inherit"],
        ["claude-code"],
        {"x": "y"},
    ):
        places = ("user", "environment", "workspace", "editor", "request")
        tried = {place: resolve(layer) for place, layer in zip(places, layers(name, value), strict=True)}
        taken = [place for place, (settings, _) in tried.items() if dict(fields(settings))[name] == value]
        if taken and value != DEFAULTS[name]:
            return taken
    tables = {
        "files.tools": {"reader": {"kind": "read", "path": "file"}},
        "models": {"fast": {"provider": "openai", "name": "m"}},
    }
    return [
        place
        for place, layer in zip(
            ("user", "environment", "workspace", "editor", "request"), layers(name, tables[name]), strict=True
        )
        if dict(fields(resolve(layer)[0]))[name]
    ]


def editor_settings() -> dict[str, Any]:
    manifest = json.loads((ROOT / "client-vscode" / "package.json").read_text())
    properties: dict[str, Any] = manifest["contributes"]["configuration"]["properties"]
    return properties


def test_the_editor_shows_the_defaults_in_force() -> None:
    shown = {name.removeprefix("coppice."): about["default"] for name, about in editor_settings().items()}
    assert {name: value for name, value in shown.items() if DEFAULTS.get(name, value) != value} == {}


@pytest.mark.parametrize("name", ["README.md", "docs/architecture.md"])
def test_numbers_in_other_documents_are_the_defaults_in_force(name: str) -> None:
    """Rows of the README that name a setting, and the row of sizes in architecture.md."""
    text = (ROOT / name).read_text()
    rows = re.findall(r"^\| `([\w.]+)` \| (\d+) \|", text, re.MULTILINE)
    assert [(setting, int(value)) for setting, value in rows if DEFAULTS[setting] != int(value)] == []
    sizes = re.findall(
        r"^\| window, reserve, kept part \| ([\d,]+), ([\d,]+), ([\d,]+) tokens", text, re.MULTILINE
    )
    names = ("model.contextWindow", "compaction.reserveTokens", "compaction.keepRecentTokens")
    assert [tuple(int(number.replace(",", "")) for number in row) for row in sizes] in (
        [],
        [tuple(DEFAULTS[setting] for setting in names)],
    )
    assert rows or sizes


def test_the_editor_offers_the_providers_that_there_are() -> None:
    offered = editor_settings()
    assert tuple(offered["coppice.model.provider"]["enum"]) == MODEL_PROVIDERS
    assert tuple(offered["coppice.summarizer.provider"]["enum"]) == SUMMARIZER_PROVIDERS


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_command_line_s_help_names_each_provider(provider: str) -> None:
    assert f"{provider}/NAME" in get_args(options.Model)[1].help


@pytest.mark.parametrize("name", ["model.provider", "summarizer.provider"])
def test_the_document_names_each_provider(name: str) -> None:
    assert {each for each in PROVIDERS if f"`{each}`" not in ROWS[name][2]} == set()


def test_every_setting_is_there_and_no_other() -> None:
    assert list(ROWS) == list(DEFAULTS)


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_default_is_the_one_in_force(name: str) -> None:
    written = ROWS[name][0]
    assert (json.loads(written) if written else None) == DEFAULTS[name]


@pytest.mark.parametrize("name", DEFAULTS)
def test_who_may_set_it_is_who_is_heeded(name: str) -> None:
    assert ROWS[name][1].split(", ") == accepted_by(name)
