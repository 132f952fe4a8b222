"""How often each command was used."""

from talk import run, tool, user

from coppice.compaction.facts.ledger import LedgerBuilder, ledger_details
from coppice.compaction.writing.state_lines import state_lines
from coppice.tree.messages import Message


def used(*messages: Message) -> list[tuple[str, int]]:
    state = LedgerBuilder().add_messages([user("Build it."), *messages]).ledger.state
    return [(each.command, each.times) for each in state.used]


def test_commands_that_differ_in_numbers_and_long_texts_are_of_one_form() -> None:
    posted = [run(f"gh api pulls/{n}/replies -f 'body=No. {'It is so. ' * n}'", "{}") for n in (9, 2, 10)]
    assert used(*posted[0], *posted[1], *posted[2], *run("gh api pulls/9/comments", "[]")) == [
        ("gh api pulls/10/replies -f …", 3),
        ("gh api pulls/9/comments", 1),
    ]
    ((shown, _),) = used(*posted[2])
    assert shown == "gh api pulls/10/replies -f …"


def test_what_looks_handles_files_or_failed_is_not_counted() -> None:
    assert used(
        *run("cat a.py", "x"),
        *run("git push", "ok"),
        *run("python a.py", "ok"),
        *run("mix test", "2 failed", is_error=True),
        *run("mix test || mix credo", "ok"),
    ) == [("mix test", 1)]


def test_a_command_that_is_polled_is_counted_once() -> None:
    started = "Wall time: 30.0 seconds\nProcess running with session ID 12\nOutput:\nrunning 5 tests\n"
    ended = "Wall time: 3.0 seconds\nProcess exited with code 0\nOutput:\ntest result: ok. 5 passed\n"
    begun = tool("exec_command", {"cmd": "cargo test rows"}, started)
    polled = tool("write_stdin", {"session_id": 12, "chars": ""}, started)
    done = tool("write_stdin", {"session_id": 12, "chars": " "}, ended)
    assert used(*begun, *polled, *polled, *done) == [("cargo test rows", 1)]


def test_repeated_commands_are_one_line_and_counted_on_after_a_compaction() -> None:
    posts = [*run(f"gh post --body '{'It is so. ' * 20}' \"it's it\"", "ok"), *run("bd ready", "-")]
    builder = LedgerBuilder().add_messages([*posts, *run("bd ready", "-")])
    again = LedgerBuilder.from_details({"ledger": ledger_details(builder.ledger)})
    state = again.add_messages([*posts, *posts]).ledger.state
    (line,) = [line for line in state_lines(state, {}) if "repeatedly" in line]
    assert line == """- Used repeatedly, as run last: `bd ready`, `gh post --body … 'it'"'"'s it'`"""


def test_what_was_run_once_is_not_shown_as_run_repeatedly() -> None:
    numbers = ((1, "a"), (2, "a"), (13, "b"))
    closed = [run(f"bd close dov.{number} --reason {text}", "ok") for number, text in numbers]
    assert used(*closed[0], *closed[1], *closed[2]) == [
        ("bd close dov.2 --reason a", 2),
        ("bd close dov.13 --reason b", 1),
    ]


def test_what_the_state_lists_is_not_listed_as_used_again() -> None:
    messages = [*run("pytest a", "1 passed"), *run("bd update a-1 -s done", "ok"), *run("bd ready", "-")] * 2
    lines = list(state_lines(LedgerBuilder().add_messages(messages).ledger.state, {}))
    assert lines[-1] == "- Used repeatedly, as run last: `bd ready`"
