"""`coppice list`, `import`, `export`, `context` and `tree` on what is stored."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli.conftest import Coppice, on_terminal, start
from cli.sessions import assistant, entry, long_session, user, write_session

from coppice.cli.tree import drawn
from coppice.protocol.trees import TreeNode


def imported(coppice: Coppice, file: Path, *options: str | Path) -> str:
    return str(json.loads(coppice("import", file, *options, "--json").out)["conversation"]["id"])


def test_an_import_says_what_was_stored(coppice: Coppice, tmp_path: Path) -> None:
    ran = coppice("import", long_session(tmp_path))
    assert ran.code == 0
    assert ran.out.endswith("  240 entries stored\n")


def test_an_import_through_standard_input_is_stored(coppice: Coppice, tmp_path: Path) -> None:
    ran = coppice("import", "-", stdin=long_session(tmp_path).read_bytes())
    assert ran.out.endswith("  240 entries stored\n")
    assert len(json.loads(coppice("list", "--json").out)["conversations"]) == 1


def test_a_format_that_is_not_the_file_s_is_refused(coppice: Coppice, tmp_path: Path) -> None:
    ran = coppice("import", long_session(tmp_path), "--format", "claude-code")
    assert (ran.code, ran.out) == (1, "")


def test_the_newest_conversation_is_listed_first(coppice: Coppice, tmp_path: Path) -> None:
    old, new = (imported(coppice, long_session(tmp_path, turns)) for turns in (2, 3))
    listed = json.loads(coppice("list", "--json").out)["conversations"]
    assert {each["id"] for each in listed} == {old, new}
    times = [each["modifiedAt"] for each in listed]
    assert times == sorted(times, reverse=True)
    assert len(json.loads(coppice("list", "--limit", "1", "--json").out)["conversations"]) == 1


def test_a_list_is_a_row_each_with_tabs(coppice: Coppice, tmp_path: Path) -> None:
    conversation = imported(coppice, long_session(tmp_path))
    rows = coppice("list").out.splitlines()
    assert [row.split("\t")[0] for row in rows] == [conversation]
    assert rows[0].split("\t")[2:] == ["240", "Please write part 0 of the shop; never use globals in it."]


def test_an_empty_list_says_so(coppice: Coppice) -> None:
    assert coppice("list").out.startswith("No conversations are stored")


def test_a_conversation_is_found_by_the_beginning_of_its_id(coppice: Coppice, home: Path) -> None:
    (home / "other").mkdir()
    conversation = imported(coppice, long_session(home, 3), "--workspace", home / "other")
    assert coppice("context", conversation[:8]).out == coppice("context", conversation).out
    short = coppice("context", conversation[:7])
    assert (short.code, "There is neither a file nor a stored conversation" in short.err) == (1, True)


def test_the_beginning_of_an_id_is_looked_for_in_the_workspace_that_is_named(
    coppice: Coppice, home: Path
) -> None:
    (home / "other").mkdir()
    conversation = imported(coppice, long_session(home, 3), "--workspace", home / "other")
    assert coppice("context", conversation[:8], "--workspace", home / "other").code == 0
    assert coppice("context", conversation[:8], "--workspace", home / "work").code == 1
    hits = coppice("search", "shop", "--conversation", conversation[:8]).out.splitlines()
    assert {hit.split("\t")[0] for hit in hits} == {conversation}


def test_a_beginning_that_several_ids_have_is_refused(
    coppice: Coppice, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter(("aaaaaaaa1", "aaaaaaaa2"))
    counting = SimpleNamespace(uuid4=lambda: SimpleNamespace(hex=next(numbers)))
    monkeypatch.setattr("coppice.service.conversations.portability.uuid", counting)
    assert [imported(coppice, long_session(home, 3)) for _ in range(2)] == ["aaaaaaaa1", "aaaaaaaa2"]
    ran = coppice("context", "aaaaaaaa")
    assert (ran.code, "give more of the id" in ran.err) == (1, True)
    listed = on_terminal("list", columns=80)
    assert all(each in listed for each in ("aaaaaaaa1", "aaaaaaaa2"))


def test_every_workspace_is_listed_and_found_from_anywhere(coppice: Coppice, home: Path) -> None:
    (home / "other").mkdir()
    conversation = imported(coppice, long_session(home, 3), "--workspace", home / "other")
    assert json.loads(coppice("list", "--json").out) == {"conversations": []}
    (listed,) = json.loads(coppice("list", "--all", "--json").out)["conversations"]
    assert (listed["id"], listed["workspaceUri"]) == (conversation, (home / "other").as_uri())
    assert json.loads(coppice("context", conversation, "--json").out)["tokens"] > 0


def test_a_store_that_does_not_open_hides_no_other(coppice: Coppice, home: Path) -> None:
    conversation = imported(coppice, long_session(home, 3))
    (home / "stores" / "broken.sqlite3").write_bytes(b"no database" * 500)
    ran = coppice("list", "--all", "--json")
    assert [each["id"] for each in json.loads(ran.out)["conversations"]] == [conversation]
    assert "broken.sqlite3" in ran.err
    assert coppice("context", conversation).code == 0


@pytest.mark.parametrize("format_", ["coppice", "pi"])
def test_what_is_exported_comes_back_the_same(coppice: Coppice, tmp_path: Path, format_: str) -> None:
    file, again = long_session(tmp_path), tmp_path / "again.jsonl"
    assert coppice("export", file, "--format", format_, "--output", again).code == 0
    first, second = (
        json.loads(coppice("tree", each, "--mode", "all", "--json").out) for each in (file, again)
    )
    assert first == second


def test_an_export_goes_to_standard_output_byte_for_byte(coppice: Coppice, tmp_path: Path) -> None:
    conversation = imported(coppice, long_session(tmp_path))
    with start("export", conversation, "--format", "pi") as process:
        out, err = process.communicate()
    coppice("export", conversation, "--format", "pi", "--output", tmp_path / "out.jsonl")
    assert (out, err) == ((tmp_path / "out.jsonl").read_bytes(), b"")


def test_an_export_replaces_nothing_unless_forced(coppice: Coppice, tmp_path: Path) -> None:
    file, output = long_session(tmp_path), tmp_path / "out.md"
    output.write_text("precious")
    assert coppice("export", file, "--format", "markdown", "-o", output).code == 1
    assert output.read_text() == "precious"
    assert coppice("export", file, "--format", "markdown", "-o", output, "--force").code == 0
    assert output.read_text().startswith("# ")
    assert coppice("export", file, "--format", "coppice", "-o", file, "--force").code == 1


@pytest.mark.parametrize("format_", ["entries", "openai", "anthropic"])
def test_a_context_in_a_provider_s_form_is_json(coppice: Coppice, tmp_path: Path, format_: str) -> None:
    ran = coppice("context", long_session(tmp_path, 3), "--format", format_)
    messages = json.loads(ran.out)
    assert messages[0]["role"] == "user"
    assert "tokens" in ran.err


def test_a_context_as_text_shows_the_summary_as_the_model_sees_it(coppice: Coppice, tmp_path: Path) -> None:
    compacted = tmp_path / "compacted.jsonl"
    assert coppice("compact", long_session(tmp_path), "--output", compacted).code == 0
    text = coppice("context", compacted).out
    seen = json.loads(coppice("context", compacted, "--format", "entries").out)
    assert text.startswith(f"[User]: {seen[0]['content'][0]['text']}\n")
    assert "\n<summary>\n## Goal\n" in text


def test_a_context_of_a_leaf_ends_there(coppice: Coppice, tmp_path: Path) -> None:
    ran = coppice("context", long_session(tmp_path, 3), "--leaf", "e3")
    assert ran.out.endswith("[Assistant]: Part 0 stands in src/part_0.py.\n")


def test_a_tree_is_drawn_with_its_branches(coppice: Coppice, tmp_path: Path) -> None:
    file = write_session(tmp_path / "tree.jsonl", [user("root"), assistant("one"), user("left")])
    with file.open("a", encoding="utf-8") as lines:
        for number, parent, message in ((3, 1, user("right")), (4, 3, assistant("deep"))):
            lines.write(json.dumps(entry(number, parent, message)) + "\n")
    lines_drawn = coppice("tree", file).out.splitlines()
    assert [line.split("  (")[0] for line in lines_drawn] == [
        "● e1 assistant one",
        "├─ ○ e2 user left",
        "└─ ● e4 assistant deep",
    ]
    assert lines_drawn[0].endswith("  (2 entries)")
    assert lines_drawn[2].endswith("← you are here")


def node(name: str, parent: str | None) -> TreeNode:
    about = {"id": name, "parentId": parent, "type": "message", "preview": "", "timestamp": ""}
    return TreeNode.model_validate({**about, "tokens": 1, "childCount": 0, "onCurrentPath": False})


def test_a_tree_of_many_levels_is_drawn_without_recursion() -> None:
    names = [str(number) for number in range(5000)]
    nodes = [node(name, names[index - 1] if index else None) for index, name in enumerate(names)]
    nodes += [node(f"b{name}", name) for name in names]
    lines = [line.plain for line in drawn(nodes, None)]
    assert len(lines) == 10_000
    assert max(len(line) for line in lines) < 200


def test_a_listing_that_is_cut_off_says_so(coppice: Coppice, tmp_path: Path) -> None:
    ran = coppice("tree", long_session(tmp_path), "--mode", "all", "--limit", "10")
    assert len(ran.out.splitlines()) == 11
    assert "--limit 20" in ran.out
    whole = json.loads(
        coppice("tree", long_session(tmp_path), "--mode", "all", "--limit", "9999", "--json").out
    )
    assert len(whole["nodes"]) == 240
