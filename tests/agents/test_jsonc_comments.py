"""Edits of JSON with comments, of any shape: comments and the entries of others stay byte for byte."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.agents.connecting import Connections
from coppice.agents.edits import Items, Member
from coppice.agents.jsonc import ConfigurationError
from coppice.agents.jsonc_edits import with_member, without_items, without_member

SERVER = {"command": ["coppice", "mcp"]}
NEWER = {"command": ["coppice", "mcp", "--new"], "enabled": True}
HOOK = {"command": "coppice b"}
PATH = ("mcp", "coppice")
LIST = ("hooks", "After")
OURS = re.compile("coppice [ab]")
ITEMS = Items(path=Path("f"), what="", keys=LIST, items=("coppice a", {"hooks": [HOOK]}), ours=OURS)
COMMENTED_OUT = """{
  "theme": "dark",
  "mcp": {
    // "github": {"enabled": true}
    /* "db": {} */
  }
}
"""
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<comma>,)(?=\s*[}\]])', re.DOTALL)


def plain(text: str) -> Any:
    """What JSON with comments and trailing commas says, read in another way than the edits do."""
    text = TOKEN.sub(lambda token: " " if token["comment"] else token[0], text)
    return json.loads(TOKEN.sub(lambda token: "" if token["comma"] else token[0], text))


def comments(text: str) -> list[str]:
    return [token["comment"] for token in TOKEN.finditer(text) if token["comment"]]


BLANKS = [
    "",
    " ",
    "\n",
    "\r\n\t",
    "\n    ",
    "// } , ]\n",
    " // c \r\n  ",
    "/* , } */",
    "\n/*\n*/ // e\n",
    "// d\r",
]
GAPS = st.sampled_from(BLANKS)
VALUES = st.sampled_from(
    [
        "1",
        '"s"',
        "null",
        '"/* } */"',
        '"//"',
        '"\\\\"',
        '"a\\"b"',
        "[]",
        "[1, // e\n]",
        '{"a": {/* f */}}',
    ]
)


@st.composite
def files(draw: st.DrawFn, *, connected: bool) -> str:
    """A configuration with members of others and, where it is `connected`, ours between them."""

    def spaced(text: str) -> str:
        return draw(GAPS) + text + draw(GAPS)

    def member(key: str, value: str) -> str:
        return f"{spaced(json.dumps(key))}:{spaced(value)}"

    def within(brackets: str, parts: list[str]) -> str:
        comma = draw(st.sampled_from(["", ","])) if parts else ""
        return f"{brackets[0]}{','.join(parts)}{comma}{draw(GAPS)}{brackets[1]}"

    def theirs(name: str) -> list[str]:
        return [member(f"{name}{number}", draw(VALUES)) for number in range(draw(st.integers(0, 2)))]

    def values() -> list[str]:
        return [spaced(draw(VALUES)) for _ in range(draw(st.integers(0, 2)))]

    def some(ours: list[str]) -> list[str]:
        return ours if connected or draw(st.booleans()) else []

    hooks = within("[]", [*values(), spaced(json.dumps(HOOK)), *values(), "1"])
    items = [spaced('"coppice a"'), spaced(json.dumps({"hooks": [HOOK]})), spaced(f'{{"hooks": {hooks}}}')]
    server = [spaced(f'"coppice": {json.dumps(SERVER)}')]
    array = within("[]", values() + (items if connected else []) + values())
    servers = within("{}", theirs("a") + (server if connected else []) + theirs("b"))
    events = within("{}", theirs("c") + some([member("After", array)]) + theirs("d"))
    members = some([member("mcp", servers)]) + theirs("e") + some([member("hooks", events)])
    return draw(GAPS) + within("{}", theirs("g") + members + theirs("h")) + draw(GAPS)


@given(files(connected=False))
def test_a_member_that_is_added_and_changed_leaves_every_comment_and_value(text: str) -> None:
    expected = plain(text)
    for server in (SERVER, NEWER):
        after = with_member(text, PATH, server)
        expected.setdefault("mcp", {})["coppice"] = server
        assert plain(after) == expected
        assert comments(after) == comments(text)
        text = after


@given(files(connected=False))
def test_items_that_are_added_leave_every_comment_and_value(text: str) -> None:
    after = ITEMS.applied(text)
    expected = plain(text)
    expected.setdefault("hooks", {}).setdefault("After", []).extend(ITEMS.items)
    assert plain(after) == expected
    assert comments(after) == comments(text)
    assert ITEMS.is_in(after)


@given(files(connected=True))
def test_a_member_that_is_taken_out_leaves_every_comment_and_value(text: str) -> None:
    after = without_member(text, PATH, keep=0)
    expected = plain(text)
    del expected["mcp"]["coppice"]
    assert without_empty(plain(after), "mcp") == without_empty(expected, "mcp")
    assert comments(after) == comments(text)


@given(files(connected=True))
def test_items_that_are_taken_out_leave_every_comment_and_value(text: str) -> None:
    after = without_items(text, LIST, OURS)
    assert not OURS.search(json.dumps(plain(after)["hooks"]) if "hooks" in plain(after) else "")
    assert plain(after).get("hooks", {}).get("After", []) == left(plain(text)["hooks"]["After"])
    others = {key: value for key, value in plain(text).items() if key != "hooks"}
    assert {key: value for key, value in plain(after).items() if key != "hooks"} == others
    assert comments(after) == comments(text)


def left(items: list[Any]) -> list[Any]:
    """The items without ours, and without the groups of hooks that then have none."""
    others = []
    for item in items:
        if isinstance(item, dict) and "hooks" in item:
            hooks = [hook for hook in item["hooks"] if hook != HOOK]
            others += [{"hooks": hooks}] if hooks else []
        elif item != "coppice a":
            others.append(item)
    return others


def without_empty(value: dict[str, Any], key: str) -> dict[str, Any]:
    return {each: inner for each, inner in value.items() if each != key or inner}


@pytest.mark.parametrize("text", [COMMENTED_OUT, "{ // all\n}", "{/* a */}", '{"mcp": {// x\n// y\r\n}}'])
def test_what_is_commented_out_in_an_empty_object_stays(text: str) -> None:
    added = with_member(text, PATH, SERVER)
    assert plain(added)["mcp"] == {"coppice": SERVER}
    assert comments(added) == comments(text)
    assert comments(without_member(added, PATH, keep=0)) == comments(text)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('{"mcp": {\n  // history\n  "coppice": {}}}', '{"mcp": {\n  // history\n}}'),
        ('{"mcp": {\n  // history\n  "coppice": {}\n  }}', '{"mcp": {\n  // history\n  }}'),
        ('{"mcp": {\n  // old\r\n  "coppice": {}, "b": 1}}', '{"mcp": {\n  // old\r\n "b": 1}}'),
        ('{"mcp": {"a": 1, // a\n  "coppice": {} // ours\n}}', '{"mcp": {"a": 1 // a\n // ours\n}}'),
    ],
)
def test_the_line_end_of_a_comment_above_what_is_taken_out_stays(text: str, after: str) -> None:
    assert without_member(text, PATH, keep=0) == after


def test_what_was_commented_out_outlives_connecting_and_removing(tmp_path: Path) -> None:
    file = tmp_path / "opencode.jsonc"
    file.write_text(COMMENTED_OUT)
    edits = [Member(path=file, what="the server", keys=PATH, value=SERVER)]
    connections = Connections(tmp_path / "own")
    connections.connect("opencode", connections.connecting("opencode", edits))
    file.write_text(file.read_text().replace('"dark"', '"light"'))
    connections.remove("opencode", connections.removing("opencode", edits))
    assert file.read_text() == COMMENTED_OUT.replace('"dark"', '"light"')


def test_a_file_that_connecting_made_stays_while_it_has_a_comment(tmp_path: Path) -> None:
    file = tmp_path / "opencode.jsonc"
    edits = [Member(path=file, what="the server", keys=PATH, value=SERVER)]
    connections = Connections(tmp_path / "own")
    connections.connect("opencode", connections.connecting("opencode", edits))
    file.write_text(f"// mine\n{file.read_text()}")
    connections.remove("opencode", connections.removing("opencode", edits))
    assert file.read_text() == "// mine\n{}\n"


def test_an_edit_that_would_change_more_is_refused_and_the_backup_stays(tmp_path: Path) -> None:
    file = tmp_path / "opencode.jsonc"
    file.write_text("{}")
    edits = [Member(path=file, what="the server", keys=PATH, value=SERVER)]
    connections = Connections(tmp_path / "own")
    connections.connect("opencode", connections.connecting("opencode", edits))
    twice = '{"mcp": {"coppice": {"command": "mine"}, "coppice": {}}}'
    file.write_text(twice)
    with pytest.raises(ConfigurationError, match=r"opencode\.jsonc: .* Take mcp\.coppice out by hand\."):
        connections.removing("opencode", edits)
    assert file.read_text() == twice
    assert [*(tmp_path / "own").glob("*.backup")]
