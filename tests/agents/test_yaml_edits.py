"""Entries of a YAML configuration that are added and taken out as text."""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from coppice.agents.jsonc import ConfigurationError
from coppice.agents.yaml_edits import YamlItem, YamlMember

SERVER: Final = {"command": "/bin/coppice", "args": ["mcp"]}
LINE: Final = '  coppice: {"command": "/bin/coppice", "args": ["mcp"]}\n'
FILE: Final = Path("config.yaml")


def member(*keys: str, value: object = SERVER) -> YamlMember:
    return YamlMember(path=FILE, what="", keys=keys or ("mcp_servers", "coppice"), value=value)


ENABLED: Final = YamlItem(path=FILE, what="", keys=("plugins", "enabled"), item="coppice")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, f"mcp_servers:\n{LINE}"),
        ("# mine\nmodel: m # this\n", f"# mine\nmodel: m # this\nmcp_servers:\n{LINE}"),
        ("model: m", f"model: m\nmcp_servers:\n{LINE}"),
        ("mcp_servers: {}\nmodel: m\n", f"mcp_servers:\n{LINE}model: m\n"),
        (
            "mcp_servers:\n    # of others\n    other:\n        command: x\n\nmodel: m\n",
            f"mcp_servers:\n  {LINE}    # of others\n    other:\n        command: x\n\nmodel: m\n",
        ),
        ("text: |\n  mcp_servers:\n    no: 1\n", f"text: |\n  mcp_servers:\n    no: 1\nmcp_servers:\n{LINE}"),
        ("? model\n: m\n", f"? model\n: m\nmcp_servers:\n{LINE}"),
        ("a: 1\r\n", f"a: 1\r\nmcp_servers:\r\n{LINE[:-1]}\r\n"),
    ],
)
def test_a_server_is_added_and_all_else_stays(before: str | None, after: str) -> None:
    assert member().applied(before) == after
    assert member().applied(after) == after
    assert member().is_in(after)
    assert not member().is_in(before)


@pytest.mark.parametrize(
    "before",
    [
        "# mine\nmodel: m # this\n",
        "mcp_servers: {}\nmodel: m\n",
        "mcp_servers:\n  other:\n    command: x\na: 1\n",
    ],
)
def test_what_was_added_is_taken_out(before: str) -> None:
    assert member().removed(member().applied(before) + "later: 1\n", before) == f"{before}later: 1\n"


def test_what_the_agent_wrote_anew_is_recognized() -> None:
    rewritten = "mcp_servers:\n  coppice:\n    args:\n    - mcp\n    command: /bin/coppice\nmodel: m\n"
    assert member().is_in(rewritten)
    assert member().removed(rewritten, "model: m\n") == "model: m\n"
    assert not member().is_in(rewritten.replace("/bin/coppice", "/bin/coppice2"))


def test_a_value_takes_the_place_of_another_and_gives_it_back() -> None:
    engine = member("context", "engine", value="coppice")
    before = "context:\n  engine: compressor # built in\n  other: 1\n"
    after = engine.applied(before)
    assert after == "context:\n  engine: coppice\n  other: 1\n"
    assert engine.removed(f"{after}more: 1\n", before) == f"{before}more: 1\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "plugins:\n  enabled:\n  - one\n  - two\nm: 1\n",
            "plugins:\n  enabled:\n  - one\n  - two\n  - coppice\nm: 1\n",
        ),
        ("plugins:\n  enabled: [one]\n", "plugins:\n  enabled: [one, coppice]\n"),
        ("plugins:\n  enabled: []\n", "plugins:\n  enabled: [coppice]\n"),
        ("plugins:\n  disabled: []\n", "plugins:\n  enabled: [coppice]\n  disabled: []\n"),
        ("m: 1\n", "m: 1\nplugins:\n  enabled: [coppice]\n"),
    ],
)
def test_a_word_is_added_to_a_list(before: str, after: str) -> None:
    assert ENABLED.applied(before) == after
    assert ENABLED.applied(after) == after
    assert ENABLED.removed(f"{after}later: 1\n", before) == f"{before}later: 1\n"


@pytest.mark.parametrize(
    "before",
    [
        "mcp_servers: {a: 1}\n",
        "mcp_servers: &x\n  a: 1\n",
        "a: 1\n---\nb: 1\n",
        "mcp_servers:\n- a\n",
        "mcp_servers: 5\n",
        "{model: m}\n",
        "{\n  model: m,\n  mcp_servers: {}\n}\n",
        "- a\n",
        "model: [\n",
        "model: &m {a: 1}\nother: *m\n",
        'text: "a\n\nmcp_servers:\n\n  b"\n',
        "model: m\n...\n",
        "a: " + "[" * 5000 + "]" * 5000 + "\n",
    ],
)
def test_other_layouts_are_left_to_the_user(before: str) -> None:
    with pytest.raises(ConfigurationError):
        member().applied(before)


@pytest.mark.parametrize(
    "before", ["{plugins: {enabled: [coppice]}}\n", "plugins: {enabled: [coppice], other: 1}\n"]
)
def test_what_cannot_be_taken_out_is_said(before: str) -> None:
    assert ENABLED.applied(before) == before
    with pytest.raises(ConfigurationError, match=r"plugins\.enabled by hand"):
        ENABLED.removed(before, None)


NAMES: Final = st.sampled_from(["mcp_servers", "coppice", "plugins", "enabled", "a b", "1", "é", "no"])
VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("edit", [member(), member("plugins", "enabled", value="coppice"), ENABLED])
@settings(max_examples=40)
@given(st.dictionaries(NAMES, VALUES, max_size=4), st.sampled_from([True, False, None]))
def test_whatever_is_in_a_file_stays(
    edit: YamlMember | YamlItem,
    data: dict[str, Any],
    flow: bool | None,  # noqa: FBT001 - generated
) -> None:
    before = yaml.safe_dump(data, default_flow_style=flow)
    outer, inner = edit.keys
    try:
        after = edit.applied(before)
        removed = edit.removed(after, before)
    except ConfigurationError:
        return
    held = yaml.safe_load(after)
    old: Any = data.get(outer) if isinstance(data.get(outer), dict) else {}
    ours = held[outer][inner]
    assert (
        ours == edit.value if isinstance(edit, YamlMember) else ours == [*_listed(old.get(inner)), "coppice"]
    )
    assert held == {**data, outer: {**old, inner: ours}}
    assert _without_empty(yaml.safe_load(removed) or {}) == _without_empty(data)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _without_empty(value: Any) -> Any:
    """What is empty may be written in another way."""
    if isinstance(value, dict):
        return {
            key: inner for key, each in value.items() if (inner := _without_empty(each)) not in ({}, [], None)
        }
    return value


def test_a_list_of_words_that_are_no_plain_ones_stays_what_it_was() -> None:
    before = "plugins:\n  enabled: ['a, b', \"c\"]\n"
    assert ENABLED.applied(before) == "plugins:\n  enabled: ['a, b', \"c\", coppice]\n"


def test_a_value_that_the_user_chose_meanwhile_stays() -> None:
    engine = member("context", "engine", value="coppice")
    text = "context:\n  engine: lcm\n"
    assert engine.removed(text, "context:\n  engine: compressor\n") == text


@pytest.mark.parametrize("value", ["!!timestamp x", "!!int ''", "!!float ''", "!!bool x"])
def test_a_value_that_its_tag_does_not_fit_is_refused(value: str) -> None:
    with pytest.raises(ConfigurationError):
        member().applied(f"model: {value}\n")
