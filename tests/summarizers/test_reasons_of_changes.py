"""What an offline summary says of why files were changed, and of what the turn set out to do."""

import pytest
from talk import edit, reply, request, run, saying, tool, user

from coppice.compaction.summary_parser import parse_summary
from coppice.summarizers.offline import summarize_offline
from coppice.tree.messages import ANSWERED, Message


def decisions(*messages: Message) -> list[str]:
    return [each.what for each in parse_summary(summarize_offline(request(list(messages)))).decisions]


def context(*messages: Message) -> str:
    return "\n".join(parse_summary(summarize_offline(request(list(messages)))).context)


def replaced(path: str, old: str, new: str) -> list[Message]:
    return tool("Edit", {"file_path": path, "old_string": old, "new_string": new}, "ok")


def test_the_reason_of_a_change_is_a_decision_and_the_steps_are_none() -> None:
    assert decisions(
        user("Add the column"),
        *saying("The table doesn't exist yet. I need to add it.", replaced("model.py", "a", "b\n" * 100)),
        *saying("SQLite alters no rule. I rewrite `rows`. Let me do it.", edit("src/table.py")),
        *saying("Now I run it.", run("head rows.csv", "rate")),
    ) == [
        "The assistant before changing table.py (written: `x = 1`): SQLite alters no rule. I rewrite `rows`."
    ]


def test_a_short_change_shows_what_it_wrote_anew() -> None:
    why = "Two workers read the rows. I cannot share the cursor, so each has its own."
    asked = [user("Rows come twice"), *saying(why, replaced("a.py", "x = 1\ny = 2", "x = 1\ny = own()"))]
    assert decisions(*asked, reply("Each has its own.")) == [
        f"The assistant before changing a.py (written: `y = own()`): {why}"
    ]
    apart = ("x = 1\ny = 2\nz = 3", "w = 0\nx = 1\n\ny = 2\nz = own()\n")
    (shown,) = decisions(user("Rows come twice"), *saying(why, replaced("a.py", *apart)), reply("Done."))
    assert shown == f"The assistant before changing a.py (written: `w = 0 … z = own()`): {why}"
    long = [user("Rows come twice"), *saying(why, replaced("a.py", "x", "y = own()\n" + "z = 2\n" * 50))]
    assert decisions(*long, reply("Each has its own.")) == [f"The assistant before changing a.py: {why}"]


def test_all_that_was_written_between_a_failed_check_and_the_change_is_its_cause() -> None:
    failing = [user("Build it"), *edit("src/rows.py"), *run("pytest", "2 failed", is_error=True)]
    mended = [
        *saying("The app has no `secret_key`. Let me look.", run("cat config.py", "")),
        *saying("Need `lazy_html`, too.", replaced("config.py", "a", "lazy_html\n" * 100)),
        *run("pytest", "2 passed"),
        reply("It is built."),
    ]
    (cause,) = decisions(*failing, *mended)
    assert cause.startswith(
        "The assistant before changing config.py after `pytest` failed: The app has no `secret_key`."
    )
    assert cause.endswith(" Need `lazy_html`, too.")


def test_what_follows_a_check_that_passes_again_is_not_about_its_failure() -> None:
    later = "The docs have no example. I add `rows`."
    messages = [
        user("Build it"),
        *run("pytest", "2 failed", is_error=True),
        *edit("src/rows.py"),
        *run("pytest", "2 passed"),
        *saying(later, replaced("docs.md", "a", "rows")),
        reply("It is built."),
    ]
    assert decisions(*messages) == [f"The assistant before changing docs.md (written: `rows`): {later}"]


def test_what_was_announced_and_is_not_in_the_change_was_not_done() -> None:
    why = "The view runs in another process, which has no rows. I need to use `:auto` mode."
    shared = replaced("test_rows.exs", "setup do", "setup do\n  Sandbox.mode({:shared, self()})")
    (reason,) = decisions(user("Test it"), *saying(why, shared), reply("Tested."))
    assert reason.endswith(": The view runs in another process, which has no rows.")
    auto = replaced("test_rows.exs", "setup do", "setup do\n  Sandbox.mode(:auto)")
    (reason,) = decisions(user("Test it"), *saying(why, auto), reply("Tested."))
    assert reason.endswith(why)
    path = "Rows come twice, since two workers read them. So I lock `src/store.py`."
    (reason,) = decisions(user("Lock"), *saying(path, replaced("src/store.py", "a", "b")), reply("Done."))
    assert reason.endswith(path)


def test_what_a_passing_check_refuted_is_no_reason() -> None:
    why = "There is a compiler error, since `rows` has another caller. I look at it."
    messages = [
        user("Rename it"),
        *edit("src/rows.py"),
        *saying(why, run("grep -rn rows src", "src/rows.py")),
        *saying("The diagnostic was stale.", run("cargo build", "Finished")),
        *saying("One more comment is stale.", edit("src/main.py")),
        reply("It is renamed."),
    ]
    assert "another caller" not in summarize_offline(request(messages))
    unchecked = [each for each in messages if each not in run("cargo build", "Finished")]
    assert len(unchecked) < len(messages)


def test_the_words_before_the_first_call_say_what_an_unfinished_turn_will_do() -> None:
    opening = "I build it as a separate command, then open a request. Existing strings stay as they are."
    begun = [user("Make a request for it"), *saying(opening, edit("src/rows.py")), *edit("src/main.py")]
    summary = parse_summary(summarize_offline(request(begun)))
    planned = f"Planned in this turn, before changes of rows.py, main.py: {opening}"
    assert planned in summary.in_progress
    assert summary.next_steps == ("Not finished: Make a request for it",)
    short = parse_summary(summarize_offline(request([user("Make one"), *begun[1:]])))
    assert short.next_steps == ("What is left of the plan in progress.",)
    ended = parse_summary(summarize_offline(request([*begun, reply("It is built.")])))
    assert (ended.in_progress, ended.next_steps) == ((), ())


def test_a_bare_yes_to_a_proposal_takes_its_reasons_over() -> None:
    failures = (
        "These failures persist - retrying won't help:\n\n- The blob is missing\n- The list is empty\n\n"
    )
    proposal = f"{failures}So I log them and never prompt. Here is a list. Want me to log the failures?"
    reason = (
        "These failures persist - retrying won't help: The blob is missing; The list is empty. "
        "So I log them and never prompt."
    )
    asked, later = [user("Can we retry?"), reply(proposal)], [*edit("src/rows.py"), user("Now count them")]
    assert decisions(*asked, user("yes please"), *later) == [
        f"Asked: “Want me to log the failures?” The user: yes please. The reasons given: {reason}"
    ]
    other = [reply("Done. Want me to remove the cache?"), user("yes")]
    assert "The reasons given" not in decisions(*asked, user("yes please"), *other, *later)[0]
    (own,) = decisions(*asked, user("yes, and count them"), *later)
    assert own == "Asked: “Want me to log the failures?” The user: yes, and count them"


def test_of_an_older_document_that_still_holds_the_title_follows_the_newest() -> None:
    shown = [
        run(
            f"bd show rows-{n}", f"rows-{n}: The report {n} has a header.\n\nIt has {n} pages. " + "So. " * 50
        )
        for n in (1, 2)
    ]
    text = context(user("Do rows-1 and rows-2"), *shown[0], *shown[1])
    assert text.index("The report 2 has") < text.index("The report 1 has")
    assert ("It has 2 pages" in text, "It has 1 pages" in text) == (True, False)
    assert "The report 1 has a header. […]" in text


def test_an_answer_that_is_a_message_of_its_own_is_only_quoted() -> None:
    asked = [user("Can we retry?"), reply("Which ones do you want to log?")]
    for answer, number in (("all of the writes", 1), ("yes. " + "Never get in the way of the user. " * 4, 0)):
        later = [reply("Logged."), user("Now count them"), reply("Counted.")]
        assert len(decisions(*asked, user(answer), *later)) == number


@pytest.mark.parametrize(
    ("questions", "answer", "quoted"),
    [
        (["Which style?", "Push to main?"], "Tabs\n  Yes\n(no answer)", "“Tabs Yes” “(no answer)”"),
        (["Which style?", "Push to main?"], "x" * 108 + "\nNo", f"“{'x' * 99}…” “No”"),
        (["Which store?"], "SQLite.\n\nBut ask first.", "“SQLite.” “But ask first.”"),
        (["Which store?"], "SQLite.\n\n" * 80, "SQLite. " * 11 + "SQLite.…"),
    ],
)
def test_the_answers_to_the_questions_of_a_call_are_apart(
    questions: list[str], answer: str, quoted: str
) -> None:
    asked = {"questions": [{"question": question} for question in questions]}
    answered = {**ANSWERED, "answer": answer}
    messages = [user("Build it."), *tool("ask", asked, "", details=answered), reply("It is built.")]
    [decision] = parse_summary(summarize_offline(request(messages))).decisions
    assert decision.what == f"Asked: “{' '.join(questions)}” The user: {quoted}"
