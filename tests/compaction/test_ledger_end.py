"""The end of the span: what was announced, what was done after it, and what became of intentions."""

from dataclasses import replace

import pytest
from talk import edit, reply, request, run, tool, user

from coppice.compaction.ledger.builder import ledger_of
from coppice.compaction.summary import Summary
from coppice.compaction.summary_parser import parse_summary
from coppice.summarizers.offline import summarize_offline
from coppice.tree.messages import AssistantMessage, Message, TextContent, ToolCall

PLAN = "I'll change these:\n\n1. `Reader` - add a cursor\n2. `Writer` - flush at the end\n\nLet me start:"


def announce(text: str, path: str, new: str = "x = 1") -> list[Message]:
    """A text of the assistant in one message with an edit, and the edit's result."""
    call, result = edit(path, new)
    assert isinstance(call, AssistantMessage)
    return [call.model_copy(update={"content": [TextContent(text=text), *call.content]}), result]


def written(messages: list[Message]) -> Summary:
    return parse_summary(summarize_offline(request(messages)))


def test_what_was_done_after_the_last_announcement_is_stated_with_its_result() -> None:
    messages = [
        user("Build the importer"),
        *announce("Now add the cursor:", "src/reader.py", "cursor = open_cursor()"),
        *run("make test", "E   ValueError: closed\n1 failed, 2 passed"),
    ]
    events = [(event.kind, event.text, event.failed) for event in ledger_of(messages).recent]
    assert events == [
        ("announced", "Now add the cursor", False),
        ("changed", "src/reader.py", False),
        ("ran", "make test", False),
    ]
    last = written(messages).in_progress[-1]
    assert "(2) changed src/reader.py (`cursor = open_cursor()`)" in last
    assert last.endswith("(3) ran `make test` (1 failed, 2 passed).")


def test_a_plan_stays_while_its_steps_are_taken_and_ends_with_a_commit() -> None:
    messages = [user("Improve both"), *announce(PLAN, "src/reader.py"), *edit("src/other.py")]
    ledger = ledger_of(messages)
    assert [event.kind for event in ledger.recent] == ["planned", "changed", "changed"]
    assert ledger.recent[0].text == "`Reader` - add a cursor; `Writer` - flush at the end"
    messages += run('git commit -am "Improve"', "[main 1234567] Improve")
    assert [event.kind for event in ledger_of(messages).recent] == ["changed", "changed", "ran"]


def test_an_intention_that_was_carried_out_says_in_which_file() -> None:
    text = "I need to rename `load_rows` to `read_rows` in `Reader`."
    messages = [user("Rename it"), *announce(text, "src/reader.py"), reply("Renamed.")]
    (statement,) = [each for each in ledger_of(messages).statements if "load_rows" in each.text]
    assert statement.about == "src/reader.py"
    assert any(line.endswith("(Carried out in src/reader.py.)") for line in written(messages).context)


def test_an_intention_that_nothing_followed_is_no_statement() -> None:
    text = "I need to look at `load_rows` and `read_rows` in `src/reader.py`."
    call = AssistantMessage(content=[TextContent(text=text), ToolCall(id="1", name="Read", arguments={})])
    messages = [user("Explain it"), call, reply("`read_rows` calls `load_rows` because both share a lock.")]
    assert [each.text for each in ledger_of(messages).statements] == [
        "`read_rows` calls `load_rows` because both share a lock."
    ]


def test_a_turn_that_ended_is_answered_and_its_question_waits() -> None:
    parsed = written(
        [user("Fix it"), user("Review the rest"), *edit("a.py"), reply("Reviewed. Shall I push?")]
    )
    assert parsed.goal[-1] == "Last request, answered: Review the rest"
    assert parsed.next_steps[0].endswith("has not answered yet: Shall I push?")
    assert not any("Complete" in step for step in parsed.next_steps)


def test_a_request_that_came_last_was_not_begun() -> None:
    parsed = written([user("Fix it"), reply("Fixed."), user("Now write the docs")])
    assert parsed.next_steps[-1].startswith("Begin with the current request")


def test_a_text_published_from_a_file_is_quoted() -> None:
    body = "The importer reads each row once because the source is a stream."
    messages = [
        user("Open a request"),
        *tool("Write", {"file_path": "/tmp/body.md", "content": body}, "ok"),  # noqa: S108 - no file is opened
        *run("forge open --body-file /tmp/body.md", "https://forge.example/42"),
        reply("Opened."),
    ]
    assert [(each.about, each.text) for each in ledger_of(messages).statements][-2:] == [
        ("", "`forge open` → https://forge.example/42"),
        ("forge open", body),
    ]


def test_output_under_a_header_is_what_was_printed() -> None:
    output = (
        "Command finished\nWall time 0.2 seconds\nProcess exited with code 1\nOutput:\nno such table: rows"
    )
    (problem,) = ledger_of([user("Try it"), *run("app migrate", output)]).problems
    assert problem.error == "no such table: rows"


def test_an_error_with_its_place_says_more_than_that_there_was_one() -> None:
    line = "src/store.go:455:20: appendAssign: append result not assigned to the same slice"
    output = f"[lint] run\n{line}\n[lint] ERROR task failed"
    (problem,) = ledger_of([user("Lint it"), *run("make lint", output, is_error=True)]).problems
    assert problem.error == line
    line = "store_test.go:43: the first row should be moved to the archive and is not there"
    output = f"=== RUN TestArchive\n    {line}\n--- FAIL: TestArchive\nFAIL"
    (problem,) = ledger_of([user("Test it"), *run("make test", output, is_error=True)]).problems
    assert problem.error == line


def test_a_wider_check_takes_the_place_of_its_parts() -> None:
    messages = [user("Test it"), *run("make test reader", "3 passed"), *run("make test", "9 passed")]
    assert [(check.command, check.result) for check in ledger_of(messages).checks] == [
        ("make test", "9 passed")
    ]


def test_a_task_whose_parts_have_begun_is_not_called_not_begun() -> None:
    tracker = [
        *run("tracker show shop-7", "○ shop-7: Import\n  ○ shop-7.1: Reader"),
        *run("tracker close shop-7.1", "Closed shop-7.1"),
    ]
    parsed = written([user("Do shop-7"), *tracker])
    assert not any("shop-7 " in step for step in parsed.next_steps)
    assert "Task shop-7 (Import): open, its parts begun" in parsed.in_progress


def test_how_a_step_was_ended_is_known_from_a_closed_task_as_from_a_commit() -> None:
    ledger = ledger_of(
        [
            *edit("a.py"),
            *run("make test", "9 passed"),
            *run("make lint", "ok"),
            *run("tracker close shop-7.1", "Closed shop-7.1"),
        ]
    )
    assert ledger.routine == ["make test", "make lint", "tracker close shop-7.1"]


def test_with_kept_messages_only_what_they_ask_waits_for_an_answer() -> None:
    history = [user("Build it"), *announce("Now add the cursor:", "src/reader.py")]
    kept = [*edit("src/reader.py"), reply("The cursor works. Shall I push?")]
    parsed = parse_summary(summarize_offline(replace(request(history), kept=kept)))
    assert [step.rpartition(": ")[2] for step in parsed.next_steps] == ["Shall I push?"]
    done = parse_summary(summarize_offline(replace(request(history), kept=[reply("The cursor works.")])))
    assert done.next_steps == ()


def test_the_last_events_of_the_summary_before_are_not_carried_on() -> None:
    before = summarize_offline(request([user("Build it"), *edit("src/old.py")]))
    assert "(1) changed src/old.py" in before
    parsed = parse_summary(summarize_offline(request([*edit("src/new.py")], previous=before)))
    (events,) = [line for line in parsed.in_progress if "last events" in line]
    assert "(1) changed src/new.py" in events


@pytest.mark.parametrize("subject", ["Shift masks by 1 << bits", "Parse <<EOF in scripts"])
def test_a_commit_whose_message_looks_like_a_here_document_is_read(subject: str) -> None:
    commands = f'git add a.py && git commit -q -m "{subject}" -m "Why."'
    (commit,) = ledger_of([*edit("a.py"), *run(commands, "")]).commits
    assert (commit.subject, commit.body, commit.files) == (subject, "Why.", ["a.py"])
