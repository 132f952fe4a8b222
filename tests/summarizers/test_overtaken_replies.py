"""An offline summary marks the assistant's replies that later changes may have overtaken."""

from itertools import chain

import pytest
from talk import edit, reply, request, run, saying, tool, user

from coppice.compaction.facts.ledger import LedgerBuilder, ledger_details
from coppice.compaction.summary import Summary
from coppice.compaction.summary_parser import parse_summary
from coppice.summarizers.offline import summarize_offline
from coppice.tree.messages import Message


def test_a_reply_loses_what_later_changes_removed_and_the_rest_is_marked() -> None:
    messages = [
        user("Where is the cache?"),
        reply("The cache is in load_rows(). Two workers read it."),
        user("And the rates?"),
        reply("They are in rates.csv, sent at night."),
        user("Is it fast?"),
        reply("Everything is as fast as it can be."),
        user("Remove the cache again"),
        *tool("Edit", {"file_path": "a.py", "old_string": "load_rows()", "new_string": "rows"}, "ok"),
        reply("The cache is gone, and the rows are read anew."),
    ]
    text = summarize_offline(request(messages))
    assert parse_summary(text).done == ("The cache is gone, and the rows are read anew.",)
    assert parse_summary(text).context == (
        "To “And the rates?” the assistant before later changes: They are in rates.csv, sent at night.",
        "To “Where is the cache?” the assistant before later changes: Two workers read it. […]",
    )
    assert "load_rows" in summarize_offline(request(messages[:-2]))


def test_what_was_announced_says_which_files_changed_then() -> None:
    announced = [user("Fix the import"), *saying("I read the header first.", run("head rows.csv", "rate"))]
    assert parse_summary(summarize_offline(request(announced))).in_progress == (
        "Announced last: I read the header first.",
    )
    changed = [user("Fix the import"), *saying("I strip the header.", edit("src/importer.py"))]
    assert parse_summary(summarize_offline(request(changed))).in_progress == (
        "Announced last, and changed importer.py since: I strip the header.",
    )


def test_what_an_announcement_says_about_steps_is_over_when_its_files_changed() -> None:
    text = "The reader takes a `Row`. I am reading each caller now."
    for call, announced in (
        (run("head rows.csv", "rate"), text),
        (edit("a.py"), "The reader takes a `Row`."),
    ):
        summary = parse_summary(summarize_offline(request([user("Fix the reader"), *saying(text, call)])))
        assert summary.in_progress[0].partition(": ")[2] == announced


def test_an_announcement_of_steps_alone_stays_whole() -> None:
    step = "Now I change the reader:"
    text = summarize_offline(request([user("Fix the reader"), *saying(step, edit("a.py"))]))
    assert parse_summary(text).in_progress == (f"Announced last, and changed a.py since: {step}",)


def test_an_answer_about_files_that_were_changed_and_committed_is_settled() -> None:
    asked = [user("Where is the fault?"), reply("In cache.py, which two workers read, as import.py shows.")]
    fixed = [*asked, user("Fix it"), *edit("src/cache.py")]
    assert "which two workers read" in summarize_offline(request(fixed))
    other = [*asked, user("Write it down"), *edit("docs/faults.md"), *COMMIT, reply("It is in faults.md.")]
    assert "which two workers read" in summarize_offline(request(other))
    committed = [*fixed, *COMMIT, reply("Only one worker reads cache.py now.")]
    assert "which two workers read" not in summarize_offline(request(committed))


def test_what_a_commit_or_a_comment_tells_of_an_answer_takes_its_place() -> None:
    asked = [user("Where is the fault?"), reply("Two workers call load_rows at night.")]
    for told in (
        run("git commit -m 'Lock it' -m 'Two workers called load_rows.'", "[main 1a2b3c4] Lock it"),
        run("gh pr comment 7 --body 'Two workers called load_rows. It is locked now.'", "ok"),
    ):
        text = summarize_offline(request([*asked, user("Lock them"), *edit("src/lock.py"), *told]))
        assert "Two workers call " not in text


@pytest.mark.parametrize("before", ["", "git add -A && "])
def test_a_commit_that_a_hook_refused_tells_nothing(before: str) -> None:
    asked = [user("Where is the fault?"), reply("Two workers call load_rows at night.")]
    commit = f"{before}git commit -m 'Lock it' -m 'Two workers called load_rows.'"
    refused = run(commit, "pre-commit: 1 problem", is_error=True)
    text = summarize_offline(request([*asked, user("Lock them"), *edit("src/lock.py"), *refused]))
    assert "Two workers call " in text


def test_a_reply_all_of_whose_subjects_came_up_again_is_overtaken() -> None:
    summary = "load_rows is ready, and save_rows has no test."
    first = [user("Look at the rows"), *edit("src/rows.py"), reply(f"{summary} Shall I look at drop_rows?")]
    fixed = [user("Fix it"), *edit("src/rows.py")]
    assert summary in summarize_offline(request([*first, *fixed, reply("save_rows is tested.")]))
    named = [user("Why is load_rows ready, and not save_rows?"), *fixed, reply("save_rows is tested.")]
    assert summary in summarize_offline(request([*first, *named]))
    both = reply("load_rows and save_rows are tested.")
    assert summary not in summarize_offline(request([*first, *fixed, both]))


def test_a_report_of_one_thing_stays_when_a_later_one_names_that() -> None:
    report = "The importer in importer.py rejects rows of more than 40 columns."
    first = [user("Write it"), *edit("importer.py"), reply(report)]
    later = [user("Test it"), *edit("test_importer.py"), reply("importer.py has two tests, and both pass.")]
    assert report in summarize_offline(request([*first, *later]))


def test_a_question_that_the_kept_messages_answer_is_not_open() -> None:
    asked = [user("Build it"), reply("Shall I use SQLite?")]
    assert parse_summary(summarize_offline(request(asked))).next_steps == (
        "The user was asked: Shall I use SQLite?",
    )
    following = [user("yes"), reply("It is there.")]
    assert parse_summary(summarize_offline(request(asked, kept_messages=following))).next_steps == ()


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


def test_a_reply_names_the_commit_that_followed_it() -> None:
    messages = [
        user("Where is the cache?"),
        reply("Two workers read it from rows.csv."),
        user("Fix it"),
        *edit("src/cache.py"),
        *run("git add -A && git commit -m 'One worker reads'", "[main 1a2b3c4] One worker reads"),
        reply("Only one worker reads the rows now."),
    ]
    (answer,) = parse_summary(summarize_offline(request(messages))).context
    assert "before commit 1a2b3c4: Two workers read it" in answer


def test_the_numbered_list_of_an_unfinished_turn_is_in_progress() -> None:
    plan = "Now I have it. I do it in order:\n\n1. The `Reader` class\n2. Its tests"
    messages = [user("Read the rows"), *saying(plan, edit("src/reader.py"))]
    summary = parse_summary(summarize_offline(request(messages)))
    assert summary.in_progress[1:] == (
        "Planned in this turn, before changes of reader.py: I do it in order: The `Reader` class; Its tests.",
    )
    summary = parse_summary(summarize_offline(request([*messages, reply("Both are written to reader.py.")])))
    assert (summary.next_steps, summary.decisions) == ((), ())
    assert "I do it in order" not in summary.render()


def test_a_command_to_the_application_is_no_message_of_the_user() -> None:
    messages = [user("/model"), user("Read the rows"), reply("Read.")]
    ledger = LedgerBuilder().add_messages(messages).ledger
    assert [message.text for message in ledger.messages] == ["Read the rows"]


def test_a_command_of_the_user_that_is_answered_in_words_is_a_message_also_amid_a_turn() -> None:
    messages = [user("Read the rows"), *run("cat rows", "1"), user("/review"), reply("Two rows are wrong.")]
    ledger = LedgerBuilder().add_messages([*messages, user("Mend them")]).ledger
    assert [message.text for message in ledger.messages] == ["Read the rows", "/review", "Mend them"]


def test_of_an_overtaken_reply_the_first_statements_have_a_mark_for_the_others() -> None:
    long = [f"Part {n} is read by worker_{n}()." for n in range(6)]
    messages = [
        user("Who reads?"),
        reply("\n\n".join(long)),
        user("Add one"),
        *edit("a.py"),
        reply("Added it."),
    ]
    (told,) = parse_summary(summarize_offline(request(messages))).context
    assert told.endswith(f" before later changes: {' '.join(long[:3])} […]")


EARLIER = Summary(goal=("Untangle the modes",), in_progress=("Moving",), next_steps=("Write main-new.ts",))
COMMIT = run("git commit -m 'Move the files'", "[main 1a2b3c4] Move the files\n 1 file changed")


def test_the_next_steps_of_an_earlier_summary_end_with_a_turn_that_committed() -> None:
    turn = [user("Go on"), *edit("main-new.ts"), *COMMIT]
    for last, ended, request_left in (
        ([], False, ["Not finished: Go on"]),
        ([reply("Moved.")], True, []),
        ([user("Now rename them")], True, ["Not finished: Now rename them"]),
    ):
        parsed = parse_summary(summarize_offline(request([*turn, *last], previous=EARLIER.render())))
        assert parsed.next_steps == (*request_left, *(() if ended else EARLIER.next_steps))
        assert ("Moving" in parsed.in_progress) is not ended
        dated = "To do in the earlier summary, before commit 1a2b3c4: Moving; Write main-new.ts"
        assert (dated in parsed.context) is ended


def test_a_commit_before_an_earlier_summary_closes_nothing_of_it() -> None:
    builder = LedgerBuilder().add_messages([user("Go on"), *COMMIT, reply("Moved.")])
    builder.summarized(EARLIER.render())
    ledger = builder.add_messages([user("Where are we?"), reply("The files are moved.")]).ledger
    assert ledger.earlier_before_commit == ""
    again = LedgerBuilder.from_details({"ledger": ledger_details(ledger)})
    ledger = again.add_messages([user("Go on"), *COMMIT, reply("Moved again.")]).ledger
    assert ledger.earlier_before_commit == "1a2b3c4"
    assert LedgerBuilder(ledger).ledger.earlier_before_commit == ledger.earlier_before_commit


WHY = "Rows come twice, because two workers read them. I take a lock."


def changed(path: str, old: str, new: str) -> list[Message]:
    return tool("Edit", {"file_path": path, "old_string": old, "new_string": new}, "ok")


@pytest.mark.parametrize(
    "later",
    [
        [changed("store.py", "lock()\nread()", "if shared:\n    lock()\n    read()")],
        [changed("src/store.py", "lock()\nwait()", "wait()")],
        [changed("store.py", "lock()\nread()", "read()"), changed("store.py", "read()", "lock()\nread()")],
    ],
    ids=["indented", "in another file", "back again"],
)
def test_a_reason_whose_change_is_still_there_stays(later: list[list[Message]]) -> None:
    asked = [user("Rows come twice"), *saying(WHY, changed("store.py", "read()", "lock()\nread()"))]
    messages = [*asked, reply("It is locked."), user("Go on"), *chain.from_iterable(later), reply("Done.")]
    assert "two workers read them" in summarize_offline(request(messages))


@pytest.mark.parametrize(
    ("why", "change"),
    [
        ("Rows come twice, because two workers read them. I use `lock`.", {"new_source": "lock()"}),
        (
            'Rows come twice, because two workers read them. I call `read("src/rows.py")`.',
            {"old_string": "", "new_string": "read(name)"},
        ),
        (
            "Rows come twice, and nobody knew. It fails because `shared` is unset.",
            {"old_string": "a", "new_string": "b"},
        ),
    ],
    ids=["of texts that are not seen", "with other arguments", "no announcement"],
)
def test_the_last_sentence_before_a_change_stays(why: str, change: dict[str, str]) -> None:
    edited = tool("Edit", {"file_path": "store.py", **change}, "ok")
    text = summarize_offline(request([user("Rows come twice"), *saying(why, edited), reply("Done.")]))
    assert why.rpartition(". ")[2] in text


def test_a_reason_whose_change_was_undone_is_no_decision() -> None:
    why = "Rows come twice, since two workers read them. I lock the table."
    change = {"file_path": "store.py", "old_string": "read()", "new_string": "with table_lock: read_once()"}
    asked = [user("Rows come twice"), *saying(why, tool("Edit", change, "ok")), reply("The table is locked.")]
    assert "two workers read them" in summarize_offline(request(asked))
    back = {"file_path": "store.py", "old_string": change["new_string"], "new_string": "read()"}
    other = tool("Write", {"file_path": "doc.md", "content": "There is no table_lock, and read_once."}, "ok")
    undone = [
        *asked,
        user("No locks. Take that out."),
        *tool("Edit", back, "ok"),
        *other,
        reply("It is out."),
    ]
    assert "two workers read them" not in summarize_offline(request(undone))
