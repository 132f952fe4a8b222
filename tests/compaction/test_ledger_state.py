"""What is failing, committed and answered: the state of the work at the end of the span."""

import pytest
from talk import edit, reply, request, run, tool, user

from coppice.compaction.ledger.builder import LedgerBuilder, ledger_of
from coppice.summarizers.offline import ledger_for
from coppice.tree.messages import BashExecutionMessage, Message

FAILED = "E   AssertionError: assert 600.0 == 180\n1 failed, 41 passed"


@pytest.mark.parametrize(
    ("later", "is_open"),
    [
        ("pytest -q tests/test_settings.py", True),
        ("pytest -k settings", True),
        ("pytest settings", True),
        ("pytest", False),
        ("pytest -q --tb=short", False),
    ],
)
def test_a_check_of_less_does_not_settle_a_failure(later: str, *, is_open: bool) -> None:
    messages = [*run("pytest -q", FAILED), *edit("a.py"), *run(later, "14 passed")]
    (problem,) = ledger_of(messages).problems
    assert problem.open is is_open


def test_a_check_of_the_same_file_and_more_settles_its_failure() -> None:
    messages = [
        *run("pytest tests/a.py", FAILED),
        *edit("a.py"),
        *run("pytest tests/b.py tests/a.py", "2 passed"),
    ]
    (problem,) = ledger_of(messages).problems
    assert not problem.open


def test_the_same_failure_at_another_address_of_memory_is_one() -> None:
    runs = [
        run("pytest", f"E   where 1 = <f object at {address}>\n1 failed")
        for address in ("0x7f51e9a1", "0x7f96")
    ]
    (problem,) = ledger_of([message for each in runs for message in each]).problems
    assert (problem.open, problem.error) == (True, "E where 1 = <f object at 0x…> 1 failed")


def test_checks_and_fixes_are_those_of_the_later_part() -> None:
    before = [*run("pytest tests/a.py", FAILED), *edit("a.py")]
    later = [*edit("b.py"), *run("pytest tests/a.py tests/b.py", "30 passed")]
    ledger = ledger_for(request(before, kept=later))
    (check,) = ledger.checks
    assert (check.command, check.passed, check.stale) == ("pytest tests/a.py tests/b.py", True, False)
    assert [(each.open, each.fix) for each in ledger.problems] == [(False, ["a.py", "b.py"])]


def test_a_wider_run_that_fails_replaces_an_earlier_failure_and_no_earlier_pass() -> None:
    narrow = [*run("pytest tests/a.py", "2 passed"), *run("pytest tests/b.py", FAILED)]
    checks = ledger_of([*narrow, *run("pytest", FAILED)]).checks
    assert [(check.command, check.passed) for check in checks] == [
        ("pytest tests/a.py", True),
        ("pytest", False),
    ]


def files(messages: list[Message]) -> list[tuple[str, str]]:
    return [(file.path, file.kind) for file in ledger_of(messages).uncommitted]


def test_git_s_global_options_hide_no_commit() -> None:
    commit = "git -C sub -c user.name=dev --no-pager commit -qm 'Stream rows'"
    (made,) = ledger_of([*edit("a.py"), *run(commit, "")]).commits
    assert (made.subject, made.files) == ("Stream rows", ["a.py"])


def test_a_commit_takes_what_was_staged_before_it() -> None:
    changes = [*edit("a.py"), *edit("b.py"), *edit("c.py")]
    added = [*run("git add a.py", ""), *run("git add b.py && git commit -m x", "[main 1234567] x")]
    assert files([*changes, *added]) == [("c.py", "edited")]
    assert files([*changes, *run("git add a.py", ""), *run("git commit -am x", "[main 1234567] x")]) == []


def test_a_commit_whose_push_fails_takes_what_was_added() -> None:
    command = "git add a.py && git commit -m x && git push"
    pushed = run(command, "[main 1234567] x\nerror: failed to push some refs", is_error=True)
    assert files([*edit("a.py"), *edit("b.py"), *pushed]) == [("b.py", "edited")]


def test_what_is_no_longer_staged_is_still_changed() -> None:
    unstaged = [*run("git add a.py b.py", ""), *run("git reset", ""), *run("git add b.py", "")]
    changes = [*edit("a.py"), *edit("b.py"), *unstaged, *run("git restore --staged a.py", "")]
    assert files(changes) == [("a.py", "edited"), ("b.py", "edited")]
    assert files([*changes, *run("git commit -m x", "[main 1234567] x")]) == [("a.py", "edited")]


def test_what_is_deleted_or_renamed_is_not_called_changed() -> None:
    made = [*tool("write", {"path": "new.py", "content": "x = 1"}, "written"), *edit("old.py"), *edit("a.py")]
    after = [*run("git rm -q -f new.py && rm old.py", ""), *run("git mv a.py b.py", "")]
    assert ("b.py", "edited") in files([*made, *after])
    assert {path for path, kind in files([*made, *after]) if kind != "deleted"} == {"b.py"}


@pytest.mark.parametrize(
    ("command", "output", "left"),
    [
        ("git status --short", " M b.py\n?? notes/\n", ["b.py"]),
        ("git status", "Changes not staged for commit:\n\tmodified:   b.py\n", ["b.py"]),
        ("git status --short | head -1", " M b.py\n", ["a.py", "b.py"]),
        ("git status --short src", " M b.py\n", ["a.py", "b.py"]),
        ("cd ../other && git status -s", " M other.py\n", ["a.py", "b.py"]),
    ],
)
def test_a_whole_status_names_what_is_not_committed(command: str, output: str, left: list[str]) -> None:
    messages = [*edit("a.py"), *edit("b.py"), *run(command, output)]
    assert [path for path, _ in files(messages)] == left


def test_a_command_of_the_user_s_is_no_step_of_the_turn() -> None:
    answered: list[Message] = [user("what did i just execute?"), reply("You ran `ls`.")]
    builder = LedgerBuilder().add_messages([*answered, BashExecutionMessage(command="find .", output="a")])
    assert builder.ledger.finished
    assert builder.ledger.recent == []
