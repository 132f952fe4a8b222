"""A request that nothing answers is the next step of an offline summary, and no other is."""

import pytest
from talk import reply, request, run, user

from coppice.compaction.summary_parser import parse_summary
from coppice.summarizers.offline import summarize_offline


def test_a_request_is_a_next_step_until_it_was_replied_to() -> None:
    """Also where nothing was announced, and where the reply is among the messages that are kept."""
    history = [user("Read the rows"), reply("They are read."), user("Now count them"), *run("git push", "ok")]
    for kept, replied, steps in (
        ([], "", ("Not finished: Now count them",)),
        (run("ls", "a.py"), "", ("Not finished: Now count them",)),
        ([reply("There are two.")], ", replied to", ()),
        ([reply("There are two."), user("Sort them")], ", replied to", ()),
        ([user("Stop that. What time is it?"), reply("It is noon.")], "", ()),
    ):
        summary = parse_summary(summarize_offline(request(history, kept_messages=kept)))
        assert summary.goal[-1] == f"Newest request{replied}: Now count them"
        assert summary.next_steps == steps


@pytest.mark.parametrize("last", ["thanks", "/usage", "/compact"])
def test_a_word_of_thanks_and_a_command_to_the_application_leave_nothing_unfinished(last: str) -> None:
    history = [user("Read the rows"), reply("They are read, 3 rows are wrong."), user(last)]
    assert parse_summary(summarize_offline(request(history))).next_steps == ()


def test_a_long_request_is_a_next_step_with_a_mark_for_what_is_left_out() -> None:
    asked = "Rename the columns of all tables to names in lower case and write a migration for each of them. "
    history = [user(f"{asked}Do not touch the rows."), *run("ls", "a.py")]
    [step] = parse_summary(summarize_offline(request(history))).next_steps
    assert step.startswith("Not finished: Rename the columns")
    assert step.endswith("…")


def test_a_short_agreement_to_a_question_is_a_next_step_with_the_question() -> None:
    history = [user("Count"), reply("Two are counted. Shall I sort the rows?"), user("yes"), *run("ls", "a")]
    [step] = parse_summary(summarize_offline(request(history))).next_steps
    assert step == "Not finished: yes. It answers: “Shall I sort the rows?”"
