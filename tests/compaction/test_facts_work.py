"""What was done, what is open, what was decided."""

import pytest
from talk import edit, reply, run, tool, user

from coppice.compaction.facts.actions import actions_of
from coppice.compaction.facts.commands import error_line, parse_command
from coppice.compaction.facts.decisions import decisions_in
from coppice.compaction.facts.extraction import extract_facts
from coppice.compaction.facts.goals import requests_in
from coppice.compaction.facts.progress import file_work, progress_in
from coppice.tree.messages import BashExecutionMessage, Message

FAILED = "E   AssertionError: 1 != 2\n1 failed, 3 passed"


def _open(messages: list[Message], kept: list[Message] | None = None) -> list[str]:
    return [error.what for error in extract_facts(messages, kept or []).open_errors]


def test_a_failed_command_is_open_with_its_telling_line() -> None:
    errors = extract_facts(run("cd app && pytest -q 2>&1 | tail -5", FAILED)).open_errors
    assert [(error.what, error.error) for error in errors] == [("pytest -q", "E AssertionError: 1 != 2")]


@pytest.mark.parametrize(
    ("first", "later", "is_open"),
    [
        ("pytest tests/a.py", run("pytest tests/a.py", "3 passed"), False),
        ("pytest tests/a.py", run("pytest", "9 passed"), False),
        ("pytest tests/a.py", run("pytest tests/b.py", "3 passed"), True),
        ("pytest tests/a.py", run("pytest tests/a.py tests/b.py", "6 passed"), False),
        ("mix test", run("mix compile", ""), True),
        ("npm run check", run("npm run build", "ok"), True),
        ("npm run check", run("cd x; npm run check 2>&1", "ok"), False),
        ("pytest", reply("All good now, it works."), True),
    ],
)
def test_only_a_later_success_on_the_same_target_closes_an_error(
    first: str, later: list[Message] | Message, *, is_open: bool
) -> None:
    after = later if isinstance(later, list) else [later]
    assert bool(_open([*run(first, FAILED), *after])) is is_open


def test_an_error_mended_in_the_kept_messages_is_not_open() -> None:
    failing = run("make test", FAILED)
    assert _open(failing) == ["make test"]
    assert _open(failing, run("make test", "4 passed")) == []


def test_an_error_in_a_file_changed_since_is_closed_by_the_next_working_command() -> None:
    failing = run("npx tsc", "src/view.ts(3,1): error TS2339: no such property", is_error=True)
    assert _open([*failing, *edit("src/view.ts")]) == ["npx tsc"]
    assert _open([*failing, *edit("src/view.ts"), *run("npm run check", "ok")]) == []


def test_looking_at_text_with_the_word_error_is_no_error() -> None:
    assert _open([*run("grep -rn error src", "src/a.py: error: 3 failed"), *run("cat log", FAILED)]) == []


def test_zero_failures_are_a_success() -> None:
    assert _open(run("mix test", "14 tests, 0 failures")) == []


def test_a_failed_edit_is_open_until_the_file_is_changed() -> None:
    failed = tool("Edit", {"file_path": "a.py"}, "String not found", is_error=True)
    assert _open(failed) == ["Edit a.py"]
    assert _open([*failed, *edit("a.py")]) == []


def test_a_command_that_the_user_stopped_is_no_error() -> None:
    assert _open(run("make test", "Command aborted", is_error=True)) == []


def test_a_command_that_the_user_ran_counts() -> None:
    assert _open([BashExecutionMessage(command="make lint", output="boom", exit_code=2)]) == ["make lint"]


def test_changes_that_failed_are_not_done() -> None:
    messages = [
        *edit("a.py", "def load_rows(): ..."),
        *edit("a.py"),
        *tool("Write", {"file_path": "b.py", "content": "x"}, "no space", is_error=True),
        *tool("Write", {"file_path": "c.py", "content": "class Row: ..."}, "ok"),
    ]
    works = {work.path: (work.verbs, list(work.names)) for work in file_work(actions_of(messages))}
    assert works == {"a.py": ({"edited": 2}, ["load_rows"]), "c.py": ({"written": 1}, ["Row"])}


def test_commits_pushes_and_test_outcomes_are_milestones() -> None:
    messages = [
        *run("make test", "3 passed in 0.1s"),
        *run('git add a && git commit -m "Add rows"', "[main 1234567] Add rows"),
        *run("git commit -m \"$(cat <<'EOF'\nfeat: stream\n\nmore\nEOF\n)\"", "ok"),
        *run("git push", "ok"),
        *run("make test", "5 passed in 0.1s"),
    ]
    assert extract_facts(messages).progress.milestones == (
        "Committed: Add rows",
        "Committed: feat: stream",
        "Pushed",
        "`make test` passed: 5 passed in 0.1s",
    )


def test_a_todo_list_tells_done_doing_and_coming() -> None:
    todos = [
        {"content": "Parse", "status": "completed"},
        {"content": "Render", "status": "in_progress"},
        {"content": "Document", "status": "pending"},
    ]
    progress = extract_facts([user("Build the thing"), *tool("TodoWrite", {"todos": todos}, "ok")]).progress
    assert "Parse" in progress.milestones
    assert progress.in_progress[0] == "Render"
    assert progress.next_steps[0] == "Document"


def test_a_claimed_task_is_in_progress_until_it_is_closed() -> None:
    claimed = [
        *run("bd show x-1", "x-1 · Add rows [P1]\nmore"),
        *run("bd update x-1 --status in_progress", "ok"),
    ]
    assert progress_in(claimed, actions_of(claimed)).in_progress == ("Task x-1: Add rows",)
    closed = [*claimed, *run("bd close x-0 x-1 --reason done", "ok")]
    assert progress_in(closed, actions_of(closed)).in_progress == ()


def test_a_list_headed_as_coming_gives_the_next_steps() -> None:
    messages = [user("Go"), reply("Half done.\n\nRemaining:\n- write docs\n- tag it\n\nShall I?")]
    assert extract_facts(messages).progress.next_steps == ("write docs", "tag it")


def test_after_a_closing_word_nothing_is_in_progress() -> None:
    assert (
        extract_facts([user("Fix the parser"), reply("All done, everything works.")]).progress.in_progress
        == ()
    )


def test_small_talk_is_no_request() -> None:
    texts = ["ok", "continue", "yes, go ahead", "好的，继续", "wow", "okay fix the parser now"]
    assert [found.text for found in requests_in([user(text) for text in texts])] == [
        "okay fix the parser now"
    ]


def test_a_decision_has_its_reason() -> None:
    found = decisions_in([reply("I'll use SQLite because there is no server to run.")])
    assert [(item.what, item.why) for item in found] == [
        ("I'll use SQLite", "because there is no server to run.")
    ]


def test_a_later_decision_replaces_the_earlier_one() -> None:
    messages = [
        reply("Let's use SQLite for storage because it is simple."),
        user("Actually, let's use PostgreSQL instead of SQLite because two machines write."),
    ]
    first, second = decisions_in(messages)
    assert "PostgreSQL" in first.superseded_by
    assert second.superseded_by == ""
    assert "two machines write" in second.why


def test_a_chinese_decision_is_replaced_too() -> None:
    first, second = decisions_in(
        [user("我们决定采用 Redis 做缓存，因为速度快"), user("改用 Memcached，不再使用 Redis")]
    )
    assert "Memcached" in first.superseded_by
    assert "速度快" in first.why
    assert second.superseded_by == ""


def test_unrelated_decisions_stand_side_by_side() -> None:
    found = decisions_in(
        [reply("We decided to use tabs in the Makefile."), reply("We went with Redis instead of Memcached.")]
    )
    assert [item.superseded_by for item in found] == ["", ""]


def test_a_tool_result_decides_nothing() -> None:
    assert decisions_in(run("cat plan.md", "We decided to use PostgreSQL instead of SQLite.")) == []


@pytest.mark.parametrize(
    ("command", "family", "looks"),
    [
        ("cd x && make test 2>&1 | tail -5", "make test", False),
        ("FOO=1 timeout 30 npx tsx a.ts | head", "npx tsx", False),
        ("python -m pytest -k rows", "python -m pytest", False),
        ("sed -i 's/a;b|c/d/' f && npm run check", "npm run check", False),
        ("git -C sub status", "git sub", False),
        ("git log --oneline -5", "git log", True),
        ("grep -rn foo . | wc -l", "grep", True),
        ("", "", True),
        ("'unclosed", "'unclosed", False),
    ],
)
def test_a_command_line_is_read_down_to_what_it_does(command: str, family: str, *, looks: bool) -> None:
    line = parse_command(command)
    assert (line.family, line.looks) == (family, looks)


def test_the_telling_line_is_the_first_error_and_else_the_last_line() -> None:
    assert error_line("building\nfatal: no such ref\nExit code 1") == "fatal: no such ref"
    assert error_line("one\ntwo\nExit code 1") == "two"
    assert error_line("") == ""
