"""Of a check only the newest run counts, and only where the output shows how it ended."""

from talk import edit, run, user

from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.compaction.writing.state_lines import state_lines
from coppice.protocol.state import WorkState
from coppice.tree.messages import Message


def state(*messages: Message) -> WorkState:
    return LedgerBuilder().add_messages([user("Build it."), *messages]).ledger.state


def test_a_run_whose_result_nothing_shows_takes_the_earlier_one_away() -> None:
    seen = state(
        *run("cargo test rows", "test result: ok. 5 passed; 0 failed"),
        *edit("src/rows.rs"),
        *run("cargo test rows\ncargo clippy\ngit diff --check", "test result: ok. 6 passed; 0 failed"),
    )
    assert [check.command for check in seen.checks] == []


def test_a_pass_before_most_changes_is_not_listed_beside_a_newer_one() -> None:
    seen = state(
        *run("mypy src", "Success: no issues found"),
        *edit("src/a.py"),
        *run("pytest", "3 passed"),
        *edit("src/b.py"),
    )
    lines = [line for line in state_lines(seen, {}) if "passed" in line]
    assert lines == ["- `pytest` passed: 3 passed; changed since: src/b.py"]


def test_only_commands_on_something_that_has_a_number_are_listed() -> None:
    seen = state(
        *run("cargo fmt"), *run("bd close rows-4", "Closed."), *run("docker run --rm alpine:3.20 true")
    )
    assert [each.command for each in seen.commands] == ["bd close rows-4"]


def test_what_a_later_command_on_the_same_overtook_is_not_listed() -> None:
    claim = [
        message for n in (1, 2) for message in run(f"bd update rows-{n} --status in_progress", "Updated.")
    ]
    seen = state(*claim, *run("bd close rows-1 rows-3", "Closed."))
    assert [each.command for each in seen.commands] == [
        "bd update rows-2 --status in_progress",
        "bd close rows-1 rows-3",
    ]


def test_names_that_are_left_out_of_a_list_are_marked() -> None:
    written = "\n".join(f"def read_{n}(): ..." for n in range(20))
    (definitions,) = state(*edit("rows.py", written), *edit("notes.md", written)).definitions
    assert definitions.names == ["…", *(f"read_{n}" for n in range(6, 20))]
