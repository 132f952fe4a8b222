"""Of a check only the newest run counts, and only where the output shows how it ended."""

import pytest
from talk import edit, run, tool, user

from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.compaction.writing.state_lines import state_lines
from coppice.protocol.state import WorkState
from coppice.tree.messages import NOT_RUN, Message


def state(*messages: Message) -> WorkState:
    return LedgerBuilder().add_messages([user("Build it."), *messages]).ledger.state


def test_a_run_whose_result_nothing_shows_takes_the_earlier_one_away() -> None:
    seen = state(
        *run("cargo test rows", "test result: ok. 5 passed; 0 failed"),
        *edit("src/rows.rs"),
        *run("cargo test rows\ncargo clippy\ngit diff --check", "test result: ok. 6 passed; 0 failed"),
    )
    assert [check.command for check in seen.checks] == []


def test_a_pass_before_most_changes_comes_last_and_only_the_newest_of_its_purpose() -> None:
    seen = state(
        *run("mypy src", "Success: no issues found"),
        *run("mypy src tests", "Success: no issues found"),
        *edit("src/a.py"),
        *run("pytest", "3 passed"),
        *edit("src/b.py"),
        *run('git commit -am "Add b"', "[main abcdef1] Add b"),
    )
    assert list(state_lines(seen, {}))[1:] == [
        "- `pytest` passed: 3 passed; changed since: src/b.py",
        "- Commit abcdef1 Add b",
        "- `mypy src tests` passed: Success: no issues found; changed since: src/a.py, src/b.py",
    ]


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("ok  \texample.org/rows\t5.6s\nok  \texample.org/names\t(cached)", ""),
        ("ok  \texample.org/rows\t5.6s\n0 issues.", ": 0 issues."),
        ("OK (3 tests, 6 assertions)", ": OK (3 tests, 6 assertions)"),
    ],
)
def test_of_a_pass_the_line_that_counts_is_shown_and_no_verdict_alone(output: str, line: str) -> None:
    assert f"- `mise run test` passes{line}" in state_lines(state(*run("mise run test", output)), {})


@pytest.mark.parametrize("line", ["FAIL src/rows.test.ts", "FAIL example.org/rows 0.010s"])
def test_of_a_failure_the_verdict_with_its_name_is_shown(line: str) -> None:
    failed = state(*run("mise run test", f"ValueError: no row\n{line}"))
    assert f"- `mise run test` fails: ValueError: no row; {line}" in state_lines(failed, {})


def test_a_check_behind_a_folder_that_is_not_there_has_not_failed() -> None:
    absent = run("cd absent && pytest", "bash: cd: absent: No such file or directory", is_error=True)
    assert state(*run("pytest", "3 passed"), *absent).checks == []
    assert not state(*run("cd src && pytest", "no tests here", is_error=True)).checks[0].passed


@pytest.mark.parametrize(
    ("details", "result"), [(NOT_RUN, True), ({"notRun": "true"}, False), ({}, False), (None, False)]
)
def test_a_check_that_was_not_run_has_not_failed(details: object, *, result: bool) -> None:
    again = tool("run_command", {"command": "pytest"}, "1 failed", is_error=True, details=details)
    assert [check.passed for check in state(*run("pytest", "3 passed"), *again).checks] == [result]


def test_only_an_error_is_a_call_that_was_not_run() -> None:
    again = tool("run_command", {"command": "pytest"}, "4 passed", details=NOT_RUN)
    (check,) = state(*run("pytest", "3 passed"), *again).checks
    assert check.result == "4 passed"


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


STARTED = "Wall time: 30.0 seconds\nProcess running with session ID 12\nOutput:\nrunning 5 tests\n"
ENDED = "Wall time: 3.0 seconds\nProcess exited with code {}\nOutput:\ntest result: {}\n"


@pytest.mark.parametrize(("code", "result"), [(0, "ok. 5 passed"), (101, "FAILED. 1 failed")])
def test_a_check_that_a_tool_left_running_has_the_result_of_its_end(code: int, result: str) -> None:
    begun = tool("exec_command", {"cmd": "cargo test rows"}, STARTED)
    waited = tool("write_stdin", {"session_id": 12, "chars": ""}, STARTED.replace("running 5", "still 5"))
    ended = tool("write_stdin", {"session_id": 12, "chars": " "}, ENDED.format(code, result))
    seen = state(*begun, *waited)
    assert seen.checks == []
    assert [(job.command, job.state) for job in seen.jobs] == [("cargo test rows", "running")]
    (check,) = state(*begun, *waited, *ended).checks
    assert (check.command, check.passed) == ("cargo test rows", code == 0)
    assert state(*begun, *waited, *ended).jobs[0].state == ("failed" if code else "finished")


def test_a_command_in_the_background_has_not_succeeded_yet() -> None:
    output = "Command running in background with ID: b12. Output is being written to: x"
    assert state(*run("bd close rows-4", output)).commands == []
