"""Configuration files of agents that are no files, or that a parser fails at: an error, and no change."""

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from systems import needs_links, needs_pipes

from coppice.agents import files, jsonc, jsonc_edits
from coppice.agents.edits import Block, Edit, Member
from coppice.agents.jsonc import ConfigurationError
from coppice.agents.yaml_edits import YamlMember

FILE = Path("configuration")
SERVER = {"command": "coppice"}
OURS = re.compile("coppice hook")
BLOCK = Block(path=FILE, what="", tables="[mcp_servers.coppice]\n", name=("mcp_servers", "coppice"))
MEMBER = Member(path=FILE, what="", keys=("mcpServers", "coppice"), value=SERVER)
YAML_MEMBER = YamlMember(path=FILE, what="", keys=("mcp_servers", "coppice"), value=SERVER)


@needs_pipes
@pytest.mark.timeout(30)
def test_a_pipe_that_nobody_writes_to_is_no_configuration(tmp_path: Path) -> None:
    pipe = tmp_path / "settings.json"
    os.mkfifo(pipe)
    with pytest.raises(ConfigurationError, match="no regular file"):
        files.read(pipe)


@needs_links
@pytest.mark.timeout(30)
def test_a_link_to_a_device_is_no_configuration_and_one_to_a_file_is(tmp_path: Path) -> None:
    device, link = tmp_path / "device.json", tmp_path / "link.json"
    device.symlink_to("/dev/zero")
    with pytest.raises(ConfigurationError, match="no regular file"):
        files.read(device)
    (tmp_path / "dotfile.json").write_text("{}")
    link.symlink_to(tmp_path / "dotfile.json")
    assert files.read(link) == "{}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"a = {'[' * 100_000}", "nested too deeply"),
        (f"a = {'9' * 5_000}", "no valid TOML"),
        (f"{'a.' * 20_000}b = 1", "dots"),
        (f"{'a.' * 500}b = 1\n" * 20, "dots"),
    ],
)
def test_a_toml_file_that_the_parser_fails_at_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        BLOCK.applied(text)


@pytest.mark.parametrize("quotes", ['"""', "'''"])
@pytest.mark.parametrize("before", ["", 'a = "\\""\n', "b = 'it # is'\n", 'c = """x""""\n', "# it's\n"])
def test_a_text_that_holds_our_comments_is_neither_taken_for_ours_nor_changed(
    before: str, quotes: str
) -> None:
    block = BLOCK.applied(None)
    text = f"{before}text = {quotes}\n{block}{quotes}\n"
    assert BLOCK.removed(text, None) == text
    applied = BLOCK.applied(text)
    assert applied == f"{text}\n{block}"
    assert BLOCK.removed(applied, None) == BLOCK.removed(applied, text) == text


TABLES = """\
[mcp_servers.coppice]
args = ["[mcp_servers.coppice]"]

[[hooks.SessionStart]]
matcher = "compact"

[[hooks.SessionStart.hooks]]
command = "ours"
"""


@pytest.mark.parametrize("before", ["", 'model = "m"\n', 'model = "m"'])
@pytest.mark.parametrize(
    "theirs",
    [
        '\n[projects."/a]b"]\ntrust_level = "trusted" # [mcp_servers.coppice]\n',
        '\n[hooks.state."x:y:0"]\ntrusted_hash = "0"\n\n[a]\nb = """\n[[hooks.SessionStart]]\n"""\n',
        '\n[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ncommand = "theirs"\n',
        '# theirs\n\n  # and of [b]\n[b]\nc = [\n["""\n# no comment\n"""]]\n[mcp_servers.coppices]\nd = 1\n',
    ],
)
@pytest.mark.parametrize(
    "approvals",
    ["[mcp_servers.coppice.tools.a]", '[mcp_servers . "coppice"."a]b"]', "\t[ 'mcp_servers'.coppice.tools ]"],
)
def test_tables_that_others_put_before_the_comment_at_the_end_stay(
    before: str, theirs: str, approvals: str
) -> None:
    block = Block(path=FILE, what="", tables=TABLES, name=("mcp_servers", "coppice"))
    head, end = block.applied(before).rsplit("# ", 1)
    text = f'{head}\n# approved\n{approvals}\napproval_mode = "approve"\n{theirs}# {end}'
    gap = "\n" if before and not before.endswith("\n") else ""
    removed = block.removed(text, before)
    assert removed == f"{before}{gap}{theirs}"
    assert tomllib.loads(removed)
    assert block.applied(text).count(theirs.strip()) == 1
    assert block.removed(block.applied(text), None).strip() == block.removed(text, None).strip()


@pytest.mark.timeout(30)
@pytest.mark.parametrize("many", ["# a\n", "\n", "# a\n\t", '[a."', "[" * 9 + "\n", '["a', "[a.'b'\n"])
def test_a_block_of_any_size_is_taken_out(many: str) -> None:
    head, end = BLOCK.applied(None).rsplit("# ", 1)
    theirs = "[b]\n" + many * 300_000 + "\n"
    assert BLOCK.removed(f"{head}{theirs}# {end}", None) == theirs


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        *[(MEMBER, json.dumps({"mcpServers": {"coppice": value}})) for value in ("x", [1], None, 5)],
        *[(YAML_MEMBER, f"mcp_servers:\n  coppice: {value}\n") for value in ("x", "[1]", "null", "5")],
    ],
)
def test_an_entry_of_another_type_with_our_name_stays(edit: Edit, text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"There is a \w+\.coppice of another type"):
        edit.applied(text)
    assert edit.removed(text, None) == text


def test_a_word_that_the_user_had_comes_back_after_others_wrote_the_file() -> None:
    choice = Member(path=FILE, what="", keys=("plugins", "memory"), value="coppice")
    before = '{"plugins": {"memory": \'mine\'}}'
    assert choice.removed(before, None) == before
    changed = choice.applied(before).replace("{", '{"other": 1, ', 1)
    assert choice.removed(changed, before) == '{"other": 1, "plugins": {"memory": \'mine\'}}'


@pytest.mark.parametrize("others", [0, 1, 3])
def test_any_number_of_items_is_taken_out_at_once(monkeypatch: pytest.MonkeyPatch, others: int) -> None:
    theirs = [{"hooks": [{"command": f"theirs {number}"}]} for number in range(others)]
    ours = [{"hooks": [{"command": "coppice hook"}]}] * 1_000
    calls: list[str] = []
    parsed = jsonc.parsed

    def counted(text: str, path: tuple[str, ...]) -> Any:
        calls.append(text)
        return parsed(text, path)

    monkeypatch.setattr("coppice.agents.jsonc_edits.parsed", counted)
    for items in (ours + theirs, theirs + ours, theirs[:1] + ours + theirs[1:]):
        for indent in (None, 2):
            calls.clear()
            text = json.dumps({"hooks": items, "a": 1}, indent=indent)
            left = json.loads(jsonc_edits.without_items(text, ("hooks",), OURS))
            assert left == ({"hooks": theirs, "a": 1} if theirs else {"a": 1})
            assert len(calls) <= 4


def test_a_number_in_base_60_that_is_too_large_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no YAML"):
        YAML_MEMBER.applied(f"a: 1{':59' * 200}.5\n")
