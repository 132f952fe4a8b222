"""Which statements a later one, or a change, replaces."""

import pytest
from talk import edit, reply, run, user

from coppice.compaction.ledger.builder import LedgerBuilder, ledger_of
from coppice.compaction.ledger.superseding import replaces
from coppice.protocol.ledger import Note, WorkLedger


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Budget cap is $410 total. Never exceed it.", "Budget cap is $830 total. Never exceed it."),
        ("The deadline of the project is 2027-03-01.", "The deadline of the project is 2027-05-14."),
        ("Keep functions under 40 lines.", "Keep functions under 60 lines."),
        ("Report all times in UTC.", "From now on, report all times in Pacific time."),
        ("函数不超过 40 行。", "函数不超过 60 行。"),
    ],
)
def test_the_same_with_another_value_or_an_announced_change_replaces(older: str, newer: str) -> None:
    assert replaces(newer, older)
    rules = [rule.text for rule in ledger_of([user("Build it"), user(older), user(newer)]).rules]
    assert not any(older.split(".", maxsplit=1)[0] in rule for rule in rules)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Never use ==.", "Never use !=."),
        ("Never touch legacy_1.", "Never touch legacy_2."),
        ("The production database is Postgres 15.", "The staging database is Postgres 16 in eu-north-3."),
        ("Use tabs in Makefiles.", "Use four spaces in Python now."),
        ("Make part 1 of the parser.", "The parser is slow now."),
    ],
)
def test_what_only_looks_alike_stays(older: str, newer: str) -> None:
    assert not replaces(newer, older)


def test_a_finding_about_a_line_is_gone_when_its_file_was_changed() -> None:
    found = "`src/reader.py:40` ignores errors of the cursor, because nothing checks them."
    stale = "Stale docs in `guide.md` (lines 87, 123) still describe the old reader, which is wrong."
    kept = "`src/writer.py:12` never closes the file, because the error comes first."
    done = "Fixed in src/reader.py:40: errors of the cursor are raised now."
    texts = [reply(f"{found}\n\n{stale}\n\n{kept}\n\n{done}")]
    before = [each.text for each in ledger_of([user("Review it"), *texts]).statements]
    assert [found, stale, kept] == [text for text in before if text != done]
    messages = [user("Review it"), *texts, *edit("src/reader.py"), *edit("docs/guide.md")]
    after = [each.text for each in ledger_of(messages).statements]
    assert [text for text in before if text not in after] == [found, stale]


@pytest.mark.parametrize(
    "requests",
    [
        ["Add validation to the login form.", "Now add validation to the signup form."],
        ["Fix issue #12.", "Fix issue #13.", "Fix issue #14."],
        ["Implement step 1 of the plan.", "Implement step 2 of the plan."],
        ["Please change function alpha in src/a.py", "Please change function beta in src/b.py"],
        ["Change the timeout in client.py to 10 seconds", "Change the timeout in server.py to 20 seconds"],
        ["实现计划的第 1 步", "实现计划的第 2 步"],
    ],
)
def test_requests_that_are_alike_are_all_kept(requests: list[str]) -> None:
    ledger = ledger_of([user(text) for text in ["Set up the project.", *requests, "Commit it."]])
    assert [each.text for each in ledger.requests] == ["Set up the project.", *requests, "Commit it."]


def test_a_request_with_another_value_replaces() -> None:
    requests = ["Start.", "Set the timeout to 10 seconds", "Set the timeout to 20 seconds"]
    ledger = ledger_of([user(text) for text in requests])
    assert [each.text for each in ledger.requests] == ["Start.", "Set the timeout to 20 seconds"]


@pytest.mark.parametrize(
    ("note", "section", "stays"),
    [
        ("Working on **shop-7.1**: the reader is written, its tests are not", "in_progress", False),
        ("shop-7.1: commit and push", "next_steps", False),
        ("shop-7.1 is nearly done; then comes shop-7.2", "next_steps", True),
        ("Working on shop-7.11", "in_progress", True),
        ("#12: write the manual", "next_steps", False),
        ("Task 12, its second half", "next_steps", False),
        ("任务 12：手册", "next_steps", False),
        ("12 files are to be moved", "next_steps", True),
        ("Tasks 12 and 13: the manual and its index", "next_steps", True),
        ("After shop-7.1 deploy with `make deploy`; the token expires on Friday", "next_steps", True),
        ("Close shop-7.1, then write the exporter", "next_steps", True),
        ("shop-7.1 was harder than it looked", "context", True),
        ("`make test` fails in the importer", "blocked", False),
        ("`make docs` fails", "blocked", True),
    ],
)
def test_what_an_earlier_summary_calls_open_goes_when_it_is_closed(
    note: str, section: str, *, stays: bool
) -> None:
    builder = LedgerBuilder(WorkLedger(notes=[Note(section=section, text=note)]))
    builder.add_messages(run("tracker show shop-7.2", "○ shop-7.2: Writer"))
    builder.add_messages(run("tracker show 13", "○ 13: Index of the manual"))
    assert builder.ledger.notes
    builder.add_messages(run("tracker close shop-7.1", "✓ Closed shop-7.1"))
    builder.add_messages(run("tracker close 12", "✓ Closed 12"))
    builder.add_messages(run("make test", "3 passed"))
    assert bool(builder.ledger.notes) is stays


def test_a_note_about_what_was_closed_before_it_was_written_stays() -> None:
    builder = LedgerBuilder().add_messages(run("tracker close shop-7.1", "✓ Closed shop-7.1"))
    builder.ledger.notes = [Note(section="next_steps", text="shop-7.1: announce it to the users")]
    builder.add_messages(run("tracker close shop-7.2", "✓ Closed shop-7.2"))
    assert builder.ledger.notes
