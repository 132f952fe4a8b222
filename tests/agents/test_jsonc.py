"""Edits of JSON with comments: everything else stays as it is."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.agents import jsonc
from coppice.agents.edits import Member
from coppice.agents.jsonc import MAX_DEPTH, MAX_VALUES, ConfigurationError
from coppice.agents.jsonc_edits import with_item, with_member, without_items, without_member

SERVER = {"command": "coppice", "args": ["mcp"]}
PATH = ("mcpServers", "coppice")
FILES = [
    "{}",
    '{"a": 1}',
    '{"a": [], "b": {"c": null}}\n',
    '{\n  "a": 1\n}\n',
    '\ufeff{\r\n\t"a": 1\r\n}\r\n',
    '{\n  // first\n  "a": 1, // about a\n  /* b */ "b": "}//" // about b\n}\n',
    '{\n  "a": 1, // a trailing comma\n}\n',
    '{\n  "mcpServers": {\n    "other": {"command": "x"}, // theirs\n  },\n}\n',
    '{\n    "mcpServers": {\n        "other": {"command": "x"}\n    }\n}\n',
]


def plain(text: str) -> Any:
    """The value of JSON with comments and trailing commas, in which `//` stands in no string but one."""
    without = re.sub(r'("}//")|//[^\n]*|/\*.*?\*/', lambda match: match[1] or "", text.lstrip("\ufeff"))
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", without))


@pytest.mark.parametrize("text", FILES)
def test_a_member_is_added_and_taken_out_again(text: str) -> None:
    added = with_member(text, PATH, SERVER)
    value = plain(text)
    value.setdefault("mcpServers", {})["coppice"] = SERVER
    assert plain(added) == value
    keep = 1 if "mcpServers" in text else 0
    assert without_member(added, PATH, keep=keep) == text


@pytest.mark.parametrize(
    "text",
    [
        "{\n  // mine\n  a: 1,\n  'it\\'s}': '\\\\', // b\n}\n",
        "{ a: { $b_1: .5, c: +Infinity }, 'd': 0xFF }\n",
        '{ a: "one \\\n two" }',
        "{ mcpServers: { other: { command: 'x' } } }",
        "{ 'mcpServers': { other: { command: 'x' }, } }",
    ],
)
def test_json5_is_edited_too(text: str) -> None:
    member = Member(path=Path("openclaw.json"), what="", keys=PATH, value=SERVER)
    added = member.applied(text)
    assert member.is_in(added)
    assert not member.is_in(text)
    assert member.removed(added, text) == text


@pytest.mark.parametrize("text", FILES)
def test_an_item_is_added_and_taken_out_again(text: str) -> None:
    added = with_item(with_item(text, ("p", "allow"), "mcp__coppice__a"), ("p", "allow"), "mcp__coppice__b")
    assert plain(added)["p"] == {"allow": ["mcp__coppice__a", "mcp__coppice__b"]}
    assert without_items(added, ("p", "allow"), re.compile("mcp__coppice__[ab]")) == text


@pytest.mark.parametrize("text", FILES)
def test_comments_and_order_of_the_others_stay(text: str) -> None:
    added = with_member(text, PATH, SERVER)
    rest = iter(added)
    assert all(character in rest for character in text), "something was taken away"
    for line in (line for line in text.splitlines() if "//" in line):
        assert line in added or line.replace(" //", ", //") in added, "a comment lost its line"


def test_a_value_that_is_there_is_replaced_in_place() -> None:
    text = '{\n  "mcpServers": {\n    "coppice": {"command": "old"}, // mine\n    "z": {}\n  }\n}\n'
    added = with_member(text, PATH, SERVER)
    assert list(plain(added)["mcpServers"]) == ["coppice", "z"]
    assert plain(added)["mcpServers"]["coppice"] == SERVER
    assert "// mine" in added


@pytest.mark.parametrize("indent", [None, 2])
def test_only_hooks_of_ours_go(indent: int | None) -> None:
    def groups(*commands: list[str]) -> str:
        hooks = [{"hooks": [{"command": command} for command in each], "matcher": ""} for each in commands]
        return json.dumps({"hooks": hooks, "allow": ["my-ours"]}, indent=indent)

    ours = re.compile("ours(?: now)?")
    for before, after in (
        ([["ours"], ["theirs"], ["ours now", "ours"]], [["theirs"]]),
        ([["ours", "theirs"]], [["theirs"]]),
        ([["theirs", "ours", "theirs too"], ["ours"]], [["theirs", "theirs too"]]),
        ([["my-ours", "ours.sh", "ours; x"], []], [["my-ours", "ours.sh", "ours; x"], []]),
    ):
        assert plain(without_items(groups(*before), ("hooks",), ours)) == plain(groups(*after))
    assert without_items(groups([]), ("allow",), ours) == groups([])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  // nothing\n",
        "[]",
        "1",
        '{"a": }',
        '{"a" 1}',
        '{"a": 1',
        '{"a": 1} x',
        '{"a": "\n"}',
    ],
)
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError):
        with_member(text, PATH, SERVER)


@pytest.mark.parametrize("text", ['{"mcpServers": []}', '{"mcpServers": 1}'])
def test_another_value_on_the_way_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="mcpServers is not an object"):
        with_member(text, PATH, SERVER)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="nested too deeply"):
        with_member('{"mcpServers": ' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), PATH, SERVER)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("many", ["0,", '{"a": []},', '"\\u0041]\\"",'])
def test_a_large_value_that_no_edit_is_about_stays(many: str) -> None:
    text = f'{{"mcpServers": {{}}, "history": [{many * (2 * MAX_VALUES)}1], "a": [[]]}}'
    changed = with_member(text, PATH, SERVER)
    assert json.loads(changed)["mcpServers"] == {"coppice": SERVER}
    assert without_member(changed, PATH, keep=1) == text


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "text",
    [
        f'{{"mcpServers": [{"0," * MAX_VALUES}0]}}',
        f'{{"history": [{"0," * MAX_VALUES}0,]}}',
        f"{{{'a: 0,' * MAX_VALUES}}}",
    ],
    ids=["on the way", "no plain JSON", "members"],
)
def test_more_values_than_can_be_looked_into_in_some_seconds_are_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="more than 100,000 values"):
        with_member(text, PATH, SERVER)


def test_members_that_are_no_json_are_not_all_read_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(jsonc, "_end_of_json", lambda _, at: read.append(at))
    members = ", ".join(f'"k{number}": [1,]' for number in range(10 * jsonc.MAX_FAILURES))
    text = f'{{"mcpServers": {{}}, {members}}}'
    jsonc.parsed(text, PATH)
    assert len(read) == jsonc.MAX_FAILURES
    changed = with_member(text, PATH, SERVER)
    assert without_member(changed, PATH, keep=1) == text


NAMES = st.sampled_from(["a", "b", "mcpServers", "é\n"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.sampled_from([None, 2, "\t"]))
def test_any_file_is_as_before_when_a_member_was_taken_out(value: dict[str, Any], indent: Any) -> None:
    text = json.dumps(value, indent=indent)
    if isinstance(value.get("mcpServers", {}), dict):
        added = with_member(text, PATH, SERVER)
        assert json.loads(added) == {
            **value,
            "mcpServers": {**value.get("mcpServers", {}), "coppice": SERVER},
        }
        assert json.loads(without_member(added, PATH, keep=int("mcpServers" in value))) == value
