"""The branch and its commits: at a detached HEAD no branch is stated, and a rebase gives one new hashes."""

import pytest
from talk import edit, run, user

from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.protocol.state import WorkState
from coppice.tree.messages import Message

ON_MAIN = run("git status", "On branch main\nnothing to commit, working tree clean\n")


def state_of(*messages: Message) -> WorkState:
    return LedgerBuilder().add_messages([user("Do it."), *ON_MAIN, *messages]).ledger.state


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git checkout 1a2b3c4", "Note: switching to '1a2b3c4'.\n\nYou are in 'detached HEAD' state.\n"),
        ("git switch --detach v1.0", "HEAD is now at 1a2b3c4 Read rows\n"),
        ("git status", "HEAD detached at 1a2b3c4\nnothing to commit, working tree clean\n"),
        ("git status -sb", "## HEAD (no branch)\n"),
    ],
)
def test_the_branch_before_is_not_stated(command: str, output: str) -> None:
    assert state_of().branch == "main"
    assert state_of(*run(command, output)).branch == ""


@pytest.mark.parametrize("command", ["cat README.md && git status", "git status -sb && cat README.md"])
def test_a_heading_is_no_branch(command: str) -> None:
    assert state_of(*run(command, "## main...origin/main\n## Usage\n")).branch == "main"


def test_a_short_status_names_the_branch() -> None:
    assert state_of(*run("git status -sb", "## side...origin/side\n M a.txt\n")).branch == "side"


def test_a_commit_there_has_its_hash_and_no_branch_and_takes_the_files() -> None:
    output = "[detached HEAD 1a2b3c4] Read rows\n 1 file changed, 1 insertion(+)\n"
    state = state_of(*edit("src/rows.py"), *run("git commit -am 'Read rows'", output))
    assert [(each.hash, each.subject, each.branch, each.files) for each in state.commits] == [
        ("1a2b3c4", "Read rows", "", ["src/rows.py"])
    ]
    assert (state.branch, state.uncommitted) == ("", [])
    assert state_of(*run("git switch main", "Switched to branch 'main'\n")).branch == "main"


@pytest.mark.parametrize(
    ("command", "output", "branch"),
    [
        ("git commit -m 'Read rows'", "[side 1a2b3c4] Read rows\n 1 file changed\n", "side"),
        ("git commit -m 'Read rows'", "[detached HEAD 1a2b3c4] Read rows\n 1 file changed\n", ""),
        ("git -C /other commit -m 'Read rows'", "[side 1a2b3c4] Read rows\n 1 file changed\n", "main"),
        ("git branch --show-current", "side\n", "side"),
        ("cd /other && git branch --show-current", "side\n", "main"),
        ("git branch --show-current && ls", "a.txt\n", "main"),
    ],
)
def test_a_commit_and_the_current_branch_tell_where_the_user_went(
    command: str, output: str, branch: str
) -> None:
    builder = LedgerBuilder(root="/work").add_messages([user("Do it."), *ON_MAIN, *run(command, output)])
    assert builder.ledger.state.branch == branch


@pytest.mark.parametrize(
    ("command", "hashes"),
    [
        ("git rebase origin/main", ["1a2b3c4", ""]),
        ("git rebase --continue", ["1a2b3c4", ""]),
        ("git rebase --onto origin/main main", ["1a2b3c4", ""]),
        ("git rebase --update-refs origin/main", ["", ""]),
        ("git branch -m main trunk && git rebase origin/main", ["1a2b3c4", ""]),
        ("git branch -m trunk && git rebase origin/main", ["1a2b3c4", ""]),
        ("git rebase origin/main main", ["", ""]),
        ("git rebase --onto origin/main side main", ["", ""]),
    ],
)
def test_a_rebase_leaves_the_hashes_of_other_branches(command: str, hashes: list[str]) -> None:
    state = state_of(
        *run("git commit -m 'Read rows'", "[main 1a2b3c4] Read rows\n 1 file changed\n"),
        *run("git switch side", "Switched to branch 'side'\n"),
        *run("git commit -m 'Write rows'", "[side 5d6e7f8] Write rows\n 1 file changed\n"),
        *run(command, "Successfully rebased and updated.\n"),
    )
    assert [commit.hash for commit in state.commits] == hashes


@pytest.mark.parametrize(
    ("command", "branches"),
    [
        ("git branch -M trunk", ["trunk", "old"]),
        ("git branch -m old older", ["main", "older"]),
    ],
)
def test_commits_of_a_branch_that_is_renamed_are_of_the_new_name(command: str, branches: list[str]) -> None:
    commits = [
        *run("git commit -m 'Read rows'", "[main 1a2b3c4] Read rows\n 1 file changed\n"),
        *run("git switch old", "Switched to branch 'old'\n"),
        *run("git commit -m 'Write rows'", "[old 5d6e7f8] Write rows\n 1 file changed\n"),
        *run("git switch main", "Switched to branch 'main'\n"),
    ]
    state = state_of(*commits, *run(command, ""))
    assert ([each.branch for each in state.commits], state.branch) == (branches, branches[0])
    refused = state_of(*commits, *run(command, "fatal: a branch of that name exists", is_error=True))
    assert [each.branch for each in refused.commits] == ["main", "old"]
