"""An offline summary marks the assistant's replies that later changes may have overtaken."""

from talk import edit, reply, request, run, saying, tool, user

from coppice.compaction.facts.ledger import LedgerBuilder, ledger_details
from coppice.compaction.summary_parser import parse_summary
from coppice.summarizers.offline import summarize_offline


def test_a_reply_loses_what_later_changes_removed_and_the_rest_is_marked() -> None:
    messages = [
        user("Where is the cache?"),
        reply("The cache is in load_rows(). Two workers read it."),
        user("And the rates?"),
        reply("They are in rates.csv, and the bank sends them at night."),
        user("Is it fast?"),
        reply("Everything is as fast as it can be."),
        user("Remove the cache again"),
        *tool("Edit", {"file_path": "a.py", "old_string": "load_rows()", "new_string": "rows"}, "ok"),
        reply("The cache is gone, and the rows are read anew."),
    ]
    text = summarize_offline(request(messages))
    assert parse_summary(text).done == ("The cache is gone, and the rows are read anew.",)
    assert parse_summary(text).context == (
        "To “And the rates?” the assistant: They are in rates.csv, and the bank sends them at night.",
        "To “Where is the cache?” the assistant before later changes: Two workers read it.",
    )
    assert "load_rows" in summarize_offline(request(messages[:-2]))


def test_a_reply_about_what_was_written_of_later_is_marked_when_files_change() -> None:
    messages = [
        user("What is open?"),
        reply("PR #12 is ready to merge."),
        user("Look again at #12."),
        reply("It has a conflict."),
    ]
    assert "the assistant: PR #12 is ready to merge." in summarize_offline(request(messages))
    later = [*messages, user("Fix it"), *edit("src/importer.py")]
    assert "the assistant before later changes: PR #12 is ready to merge." in summarize_offline(
        request(later)
    )


def test_the_cause_of_a_failure_is_quoted_when_the_check_passes_again() -> None:
    messages = [
        user("Fix the import"),
        *run("python -m pytest -q", "E  KeyError: 'rate'\n1 failed in 0.10s", is_error=True),
        *saying("The header has spaces around rate.", edit("src/importer.py")),
        *run("python -m pytest -q", "1 passed in 0.10s"),
        reply("Fixed it."),
    ]
    assert (
        "`python -m pytest -q` failed and passes again. Before: The header has spaces around rate."
        in summarize_offline(request(messages))
    )


def test_a_question_that_the_kept_messages_answer_is_not_open() -> None:
    asked = [user("Build it"), reply("Shall I use SQLite?")]
    assert parse_summary(summarize_offline(request(asked))).next_steps == (
        "The user was asked: Shall I use SQLite?",
    )
    kept = [user("yes"), reply("It is there.")]
    assert parse_summary(summarize_offline(request(asked, kept=kept))).next_steps == ()


def test_what_was_answered_is_dropped_with_the_next_change() -> None:
    asked = [
        user("How would you store it?"),
        reply("I suggest one file, rows.csv. Shall I write it?"),
        user("yes"),
    ]
    assert "I suggest one file, rows.csv." in summarize_offline(request(asked))
    assert "I suggest one file, rows.csv." not in summarize_offline(request([*asked, *edit("src/store.py")]))


def test_a_ledger_of_an_older_version_keeps_all_but_the_kinds_that_are_gone() -> None:
    messages = [user("Build it"), reply("The rows are in rows.csv.")]
    details = ledger_details(LedgerBuilder().add_messages(messages).ledger)
    (answer,) = details["quotations"]
    older = [{**answer, "kind": "proposal"}, {**answer, "overtaken": True}]
    restored = LedgerBuilder.from_details({"ledger": {**details, "quotations": [*older, answer]}}).ledger
    assert [message.text for message in restored.messages] == ["Build it"]
    assert [(each.kind, each.overtaken) for each in restored.quotations] == [
        ("answer", True),
        ("answer", False),
    ]
