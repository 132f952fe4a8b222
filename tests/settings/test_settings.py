"""Which layer may say what, and what happens to a bad value."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coppice.service.core.settings_source import SettingsSource
from coppice.settings import Settings
from coppice.settings.files import read_user_file
from coppice.settings.layers import (
    editor_layer,
    environment_layer,
    request_layer,
    resolve,
    user_layer,
    workspace_layer,
)


def test_the_defaults_are_those_of_the_contract() -> None:
    settings = Settings()
    assert settings.compaction.reserve_tokens == 16_384
    assert settings.compaction.keep_recent_tokens == 20_000
    assert settings.compaction.enabled
    assert settings.model.context_window == 200_000
    assert settings.summarizer.fallbacks == ["offline"]
    assert settings.hooks.timeout_seconds == 10


def test_a_later_layer_wins_key_by_key() -> None:
    settings, problems = resolve(
        user_layer({"compaction": {"reserveTokens": 1, "keepRecentTokens": 2}}),
        editor_layer({"compaction": {"reserveTokens": 3}}),
        request_layer({"compaction": {"keepRecentTokens": 4}}),
    )
    assert problems == []
    assert (settings.compaction.reserve_tokens, settings.compaction.keep_recent_tokens) == (3, 4)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"compaction": {"reserveTokens": "many"}}, "compaction.reserveTokens"),
        ({"compaction": {"reserveTokens": -1}}, "compaction.reserveTokens"),
        ({"compaction": {"enabled": 1}}, "compaction.enabled"),
        ({"compaction": {"nonsense": 1}}, "compaction.nonsense"),
        ({"compaction": 5}, "compaction"),
        ({"nonsense": {"a": 1, "b": 2}}, "nonsense"),
        ({"tokens": {"counter": "abacus"}}, "tokens.counter"),
        ({"files": {"tools": {"x": {"kind": "sing"}}}}, "files.tools.x"),
        ({"files": {"ignore": ["a"] * 2_001}}, "files.ignore"),
        ({"model": {"provider": "abacus"}}, "model.provider"),
    ],
)
def test_a_bad_value_is_reported_by_name_and_the_default_used(values: dict[str, object], name: str) -> None:
    settings, problems = resolve(user_layer(values))
    assert settings == Settings()
    assert len(problems) == 1
    assert problems[0].startswith(f"{name}: ")


@pytest.mark.parametrize(
    "values",
    [
        {"model": {"baseUrl": "http://evil/v1"}},
        {"model": {"apiKeyEnv": "HOME"}},
        {"summarizer": {"baseUrl": "http://evil/v1"}},
        {"storage": {"directory": "/evil"}},
        {"context": {"summaryRole": "system"}},
        {"apiKeys": {"allow": ["HOME"]}},
        {"prompts": {"summary": "obey"}},
        {"hooks": {"timeoutSeconds": 1}},
        {"overflow": {"phrases": [""]}},
    ],
)
def test_a_checkout_cannot_set(values: dict[str, object]) -> None:
    settings, problems = resolve(workspace_layer(values))
    assert settings == Settings()
    assert "may not set it" in problems[0]


@pytest.mark.parametrize(
    "values", [{"storage": {"url": "x"}}, {"prompts": {"summary": "x"}}, {"apiKeys": {"allow": ["HOME"]}}]
)
def test_an_editor_cannot_set(values: dict[str, object]) -> None:
    settings, problems = resolve(editor_layer(values))
    assert settings == Settings()
    assert "may not set it" in problems[0]


def test_a_checkout_can_set_sizes() -> None:
    settings, problems = resolve(workspace_layer({"compaction": {"keepRecentTokens": 9}}))
    assert problems == []
    assert settings.compaction.keep_recent_tokens == 9


def test_the_environment_names_the_storage() -> None:
    layer = environment_layer({"COPPICE_STORAGE_DIRECTORY": "/data", "OTHER": "x"})
    assert resolve(layer)[0].storage.directory == "/data"


@pytest.mark.parametrize("content", [b"a = ", b"\xff\xfe\x00", b"[compaction\n"])
def test_a_broken_file_is_a_problem_and_no_value(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(content)
    values, problems = read_user_file(file)
    assert values == {}
    assert len(problems) == 1
    assert str(tmp_path) not in problems[0]


def test_an_absent_file_is_no_problem(tmp_path: Path) -> None:
    assert read_user_file(tmp_path / "none.toml") == ({}, [])


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda names: names, "the editor's settings"),
        (lambda names: {"compaction": names}, "compaction"),
        (lambda names: {"files": {"tools": names}}, "files.tools"),
    ],
)
def test_a_checkout_does_not_hold_the_server_with_names(make: Callable[[object], Any], name: str) -> None:
    """Its `.vscode/settings.json` has no limit of size, and the event loop waits for what it says."""
    many = {f"tool{n}": {"kind": "read", "path": "p"} for n in range(20_000)}
    began = time.thread_time()
    settings, problems = resolve(editor_layer({"compaction": {"reserveTokens": 5}}), editor_layer(make(many)))
    assert time.thread_time() - began < 1  # it took 2 to 5 s
    assert settings.compaction.reserve_tokens == 5
    assert problems[0] == f"{name}: it has more than 500 names; the others were ignored."
    assert len(problems) <= 1_001


def test_a_checkout_does_not_hold_the_server_with_sections_either(tmp_path: Path) -> None:
    names = {f"x{n}": n for n in range(500)}
    sections = {"compaction": names, "files": names} | {f"section{n}": names for n in range(400)}
    source = SettingsSource(editor=sections, user_file=tmp_path / "none")
    began = time.thread_time()
    source.of(None, request=sections)
    assert time.thread_time() - began < 1  # it was not done in 40 s
    assert len(source.explained()[1]) == 1_400
