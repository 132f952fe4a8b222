"""A renamed file that a status shows is gone under its old name and there under its new one."""

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
    state = LedgerBuilder(root="/work").add_messages(messages).ledger.state
    assert {file.path: file.kind for file in state.uncommitted} == {"lib/d.txt": "deleted", new: "renamed"}
