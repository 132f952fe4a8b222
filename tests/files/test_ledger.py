"""Which files a path's work touched."""

from typing import Any

import pytest

from coppice.files.ledger import FileLedger
from coppice.files.paths import normalize_path, path_of_uri
from coppice.settings import ToolMapping
from coppice.tree.entries import ENTRY, Entry


def called(name: str, arguments: dict[str, Any], *, error: bool = False, call_id: str = "c") -> list[Entry]:
    call = {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
    reply = {"role": "assistant", "content": [call]}
    result = {"role": "toolResult", "toolCallId": call_id, "toolName": name, "content": [], "isError": error}
    return [
        ENTRY.validate_python(
            {"type": "message", "id": f"{role}", "parentId": None, "timestamp": "", "message": text}
        )
        for role, text in (("reply", reply), ("result", result))
    ]


def activity(*changes: dict[str, Any]) -> Entry:
    values = {"type": "file_activity", "id": "f", "parentId": None, "timestamp": "", "changes": list(changes)}
    return ENTRY.validate_python(values)


def ledger() -> FileLedger:
    return FileLedger(root="/home/me/app")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read", {"path": "src/a.py"}),
        ("Read", {"file_path": "/home/me/app/src/a.py"}),
        ("copilot_readFile", {"filePath": "/home/me/app/src/a.py"}),
        ("mcp__filesystem__read_text_file", {"path": "./src/a.py"}),
        ("read_multiple_files", {"paths": ["src/a.py"]}),
        ("str_replace_based_edit_tool", {"command": "view", "path": "src/a.py"}),
    ],
)
def test_a_tool_reads(tool: str, arguments: dict[str, Any]) -> None:
    seen = ledger().add(called(tool, arguments))
    assert seen.read_files == ["src/a.py"]
    assert seen.modified_files == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit", {"path": "src/a.py"}),
        ("Write", {"file_path": "/home/me/app/src/a.py", "content": "x"}),
        ("MultiEdit", {"file_path": "src/a.py", "edits": []}),
        ("NotebookEdit", {"notebook_path": "src/a.py"}),
        ("copilot_replaceString", {"filePath": "src/a.py"}),
        ("replace_string_in_file", {"filePath": "src/a.py"}),
        ("mcp__fs__write_file", {"path": "src/a.py", "content": ""}),
        ("str_replace_editor", {"command": "str_replace", "path": "src/a.py"}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch"}),
    ],
)
def test_a_tool_writes(tool: str, arguments: dict[str, Any]) -> None:
    assert ledger().add(called(tool, arguments)).modified_files == ["src/a.py"]


PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch\n"


@pytest.mark.parametrize(
    "line",
    [
        f"apply_patch <<'EOF'\n{PATCH}EOF",
        f"cd /home/me/app && apply_patch <<EOF\n{PATCH}EOF\nmake test",
        f"/usr/bin/apply_patch '{PATCH}'",
        f"FOO=1 env time apply_patch <<'EOF'\n{PATCH}EOF",
        f"if apply_patch <<'EOF'\n{PATCH}EOF\nthen make; fi",
        f"cat <<'EOF' | apply_patch\n{PATCH}EOF",
        f"printf '%s' '{PATCH}' | apply_patch",
        f"bash -lc \"apply_patch <<'EOF'\n{PATCH}EOF\n\"",
        f"test -d x || mkdir x\napply_patch '{PATCH}'",
    ],
)
def test_a_shell_that_has_apply_patch_writes(line: str) -> None:
    assert ledger().add(called("exec_command", {"cmd": line})).modified_files == ["src/a.py"]


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ("exec_command", f"cat <<'EOF'\n{PATCH}EOF"),
        ("exec_command", f"cat > notes <<'EOF'\napply_patch <<X\n{PATCH}X\nEOF"),
        ("exec_command", f"git commit -m '{PATCH}'"),
        ("exec_command", f"apply_patch --help\necho '{PATCH}'"),
        ("exec_command", f"false && apply_patch '{PATCH}' || true"),
        ("ask_user", f"apply_patch <<'EOF'\n{PATCH}EOF"),
        ("Bash", f"echo '{PATCH}'"),
    ],
)
def test_a_patch_that_is_only_text_changes_no_file(tool: str, line: str) -> None:
    assert ledger().add(called(tool, {"command": line})).histories == {}
    assert ledger().add(called(tool, {"cmd": line})).histories == {}


@pytest.mark.parametrize("tool", ["bash", "Grep", "Glob", "ls", "task", "web_search", "TodoWrite"])
def test_other_tools_touch_no_file(tool: str) -> None:
    assert ledger().add(called(tool, {"path": "src", "command": "cat a"})).histories == {}


def test_a_call_that_failed_touched_nothing() -> None:
    assert ledger().add(called("edit", {"path": "a.py"}, error=True)).histories == {}


def test_a_call_without_a_result_touched_nothing() -> None:
    assert ledger().add(called("edit", {"path": "a.py"})[:1]).histories == {}


def test_a_file_that_was_read_and_then_changed_is_listed_as_changed_alone() -> None:
    seen = ledger().add(called("read", {"path": "a"})).add(called("edit", {"path": "a"}))
    assert (seen.read_files, seen.modified_files) == ([], ["a"])
    assert seen.histories["a"].reads == 1
    assert seen.histories["a"].writes == 1


def test_a_move_takes_the_history_along() -> None:
    seen = (
        ledger()
        .add(called("read", {"path": "a"}))
        .add(called("move_file", {"source": "a", "destination": "b"}))
    )
    assert seen.modified_files == ["b"]
    assert seen.histories["b"].renamed_from == "a"
    assert seen.histories["b"].reads == 1


def test_a_moved_folder_takes_its_files_along_and_is_no_file_itself() -> None:
    rename = activity({"path": "new", "from": "old", "kind": "renamed", "source": "editor"})
    seen = ledger().add(called("edit", {"path": "old/x.py"})).add([rename])
    assert seen.modified_files == ["new/x.py"]


def test_a_deleted_file_is_listed_as_deleted_until_it_comes_back() -> None:
    gone = activity({"path": "a", "kind": "deleted", "source": "watcher"})
    seen = ledger().add(called("write", {"path": "a"})).add([gone])
    assert (seen.modified_files, seen.deleted_files) == ([], ["a"])
    seen.add(called("write", {"path": "a"}))
    assert (seen.modified_files, seen.deleted_files) == (["a"], [])


def test_both_sides_of_a_change_are_in_its_sources() -> None:
    seen = ledger().add([activity({"path": "a", "kind": "modified", "source": "editor"})])
    seen.add(called("edit", {"path": "a"}))
    assert seen.histories["a"].sources == ("editor", "tool")


def test_a_branch_summary_brings_the_files_of_its_branch() -> None:
    values = {
        "type": "branch_summary",
        "id": "b",
        "parentId": None,
        "timestamp": "",
        "summary": "",
        "fromId": "x",
    }
    details = {"readFiles": ["r"], "modifiedFiles": ["m"], "other": 1}
    seen = ledger().add([ENTRY.validate_python({**values, "details": details})])
    assert (seen.read_files, seen.modified_files) == (["r"], ["m"])


def test_a_ledger_survives_being_stored() -> None:
    seen = ledger().add(called("read", {"path": "a"})).add(called("edit", {"path": "/elsewhere/b"}))
    again = FileLedger.from_json(seen.to_json(), seen.root, {})
    assert again.histories == seen.histories


def test_a_user_can_name_tools_of_his_own() -> None:
    mine = {"scribble": ToolMapping(kind="write", path="where")}
    seen = FileLedger(root="/r", mappings=mine).add(called("scribble", {"where": "x.txt"}))
    assert seen.modified_files == ["x.txt"]


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("/w/a/b.py", "/w", "a/b.py"),
        ("a/../b.py", "/w", "b.py"),
        ("../x", "/w", "/x"),
        ("/else/x", "/w", "/else/x"),
        ("/west/x", "/w", "/west/x"),
        ("C:\\w\\a.py", "C:\\w", "a.py"),
        ("c:/W/Sub/A.py", "C:\\w", "Sub/A.py"),
        ("d:\\x", "C:\\w", "D:/x"),
        ("C:\\w\\a/b.py", "C:\\w", "a/b.py"),
        ("a\\b/c.py", "C:\\w", "a/b/c.py"),
        ("\\\\?\\C:\\w\\a.py", "c:/w", "a.py"),
        ("\\\\.\\c:\\w\\a.py", "C:\\w", "a.py"),
        ("\\\\Server\\share\\w\\a.py", "//server/share/w", "a.py"),
        ("\\\\server\\share/w/Sub\\A.py", "\\\\SERVER\\Share\\w", "Sub/A.py"),
        ("\\\\?\\UNC\\server\\share\\w\\a.py", "//server/share/w", "a.py"),
        ("a\\b.py", "\\\\server\\share\\w", "a/b.py"),
        ("..\\b.py", "//server/share/w", "//server/share/b.py"),
        ("//server/share/x", "C:\\w", "//server/share/x"),
        ("\\\\server\\share\\west", "//server/share/w", "//server/share/west"),
        ("\\\\server\\share\\x", None, "//server/share/x"),
        ("\\\\?\\UNC\\server\\share\\x", None, "//server/share/x"),
        ("//w/a.py", "/w", "a.py"),
        ("/server/share/w/a.py", "//server/share/w", "/server/share/w/a.py"),
        ("a\\b/c.py", "/w", "a\\b/c.py"),
        ("/W/a.py", "/w", "/W/a.py"),
        ("/w", "/w", "."),
        ("/a", "/", "a"),
        ("x/y", None, "x/y"),
    ],
)
def test_a_path_is_relative_inside_the_workspace_and_absolute_outside(
    path: str, root: str | None, expected: str
) -> None:
    assert normalize_path(path, root) == expected


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("file:///w/a%20b", "/w/a b"),
        ("file:///c%3A/w", "c:/w"),
        ("file://localhost/w", "/w"),
        ("untitled:x", None),
        ("file:///w/%E2%82%AC", "/w/€"),
        ("FILE:///w/a", "/w/a"),
        ("file://server/share/a", "//server/share/a"),
        ("file:////w/a", "/w/a"),
        ("file://%3F/C%3A/w", "//?/C:/w"),
        ("file:///w/a%00", None),
        ("file://[", None),
    ],
)
def test_a_file_uri_names_a_path(uri: str, expected: str | None) -> None:
    assert path_of_uri(uri) == expected
