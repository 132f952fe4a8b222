"""Renamed files: what a status shows of them, and those that only the index has."""

import pytest
from talk import tool

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
