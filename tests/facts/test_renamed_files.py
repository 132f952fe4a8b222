"""Renamed files: what a status shows of them, and those that only the index has."""

import pytest
from talk import run, tool

from coppice.compaction.facts.ledger import LedgerBuilder

LONG = "On branch main\nChanges to be committed:\n\trenamed:    lib/d.txt -> file8.txt\n"
SHORT = 'R  lib/d.txt -> "new name.txt"\n'


@pytest.mark.parametrize(
    ("command", "output", "new"),
    [("git status", LONG, "file8.txt"), ("git status --short", SHORT, "new name.txt")],
)
def test_both_names_of_a_renamed_file_are_changes(command: str, output: str, new: str) -> None:
    messages = tool("Bash", {"command": command}, output, is_error=False)
    state = LedgerBuilder(root="/project").add_messages(messages).ledger.state
    assert {file.path: file.kind for file in state.uncommitted} == {"lib/d.txt": "deleted", new: "renamed"}


def test_a_new_file_in_the_index_is_not_restored_away_and_leaves_nothing_where_it_is_renamed() -> None:
    commands = ["git add new.txt", "git restore new.txt", "git mv new.txt other.txt"]
    messages = tool(
        "Write", {"file_path": "/project/new.txt", "content": "x"}, "File created successfully at: new.txt"
    )
    messages += [message for each in commands for message in tool("Bash", {"command": each}, "")]
    state = LedgerBuilder(root="/project").add_messages(messages).ledger.state
    assert {file.path: file.kind for file in state.uncommitted} == {"other.txt": "created"}
    back = tool("Bash", {"command": "git checkout HEAD -- a.txt"}, "")
    change = tool("Bash", {"command": "echo x > a.txt && git add a.txt"}, "")
    state = LedgerBuilder(root="/project").add_messages([*change, *back]).ledger.state
    assert state.uncommitted == []


def test_a_file_that_only_a_dropped_commit_had_is_not_stated_as_deleted() -> None:
    made = "[main {}] {}\n 1 file changed, 1 insertion(+)\n create mode 100644 new dir/a.txt\n"
    write = tool("Write", {"file_path": "/project/new dir/a.txt", "content": "x\n"}, "File created")
    seen = [*write, *tool("Bash", {"command": "git status"}, "nothing to commit, working tree clean\n")]
    amend = tool("Bash", {"command": "git commit --amend -m Two"}, made.format("2222222", "Two"))
    commit = tool("Bash", {"command": "git add -A && git commit -m One"}, made.format("1111111", "One"))
    change = tool("Bash", {"command": "echo y >> 'new dir/a.txt'"})
    reset = tool("Bash", {"command": "git reset --soft HEAD~1"})
    remove = tool("Bash", {"command": "git rm -qf 'new dir/a.txt'"})
    without = tool("Bash", {"command": "git commit --amend -m Two"}, "[main 2222222] Two\n 1 file changed\n")
    for session in (
        [*seen, *amend, *remove, *reset],
        [*seen, *remove, *without, *reset],
        [*write, *commit, *change, *reset, *remove],
    ):
        state = LedgerBuilder(root="/project").add_messages(session).ledger.state
        assert state.uncommitted == []


def test_a_commit_created_what_it_prints_itself() -> None:
    made = "[main {0}] {1}\n 1 file changed, 1 insertion(+)\n create mode 100644 {2}\n"
    outputs = made.format("1111111", "One", "a.txt"), made.format("2222222", "Two", "b.txt")
    session = [*run("echo a > a.txt; echo b > b.txt")]
    both = "git add a.txt && git commit -m One && git add b.txt && git commit -m Two"
    session += [*run(both, "".join(outputs)), *run("git reset --soft HEAD~1")]
    state = LedgerBuilder(root="/project").add_messages([*session, *run("rm a.txt")]).ledger.state
    assert {file.path: file.kind for file in state.uncommitted} == {"a.txt": "deleted", "b.txt": "created"}


def test_what_a_pull_or_another_repository_created_is_none_of_a_commit() -> None:
    pulled = "Fast-forward\n README.md | 1 +\n 1 file changed\n create mode 100644 README.md\n"
    made = "[main 1111111] One\n 1 file changed\n"
    changed = run("echo a > README.md && git commit -am Zero", "[main 0000000] Zero\n 1 file changed\n")
    for command, output in (
        ("git pull && git commit -am One", pulled + made),
        ("cd sub && git commit -am One", f"{made} create mode 100644 README.md\n"),
    ):
        session = [*changed, *run(command, output), *run("git reset --soft HEAD~1")]
        state = LedgerBuilder(root="/project").add_messages(session).ledger.state
        assert state.uncommitted == []


def test_the_files_of_a_commit_are_those_whose_changes_it_took() -> None:
    made = "[main 1111111] One\n 2 files changed\n create mode 100644 a.txt\n create mode 100644 b.txt\n"
    session = [*run("echo a > a.txt"), *run("git status", "nothing to commit, working tree clean\n")]
    session += [*run("echo b > b.txt"), *run("git add b.txt && git commit -m One", made)]
    [commit] = LedgerBuilder(root="/project").add_messages(session).ledger.state.commits
    assert commit.files == ["b.txt"]
