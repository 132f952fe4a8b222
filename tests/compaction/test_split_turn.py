"""Joining the summaries of a history and of a long turn after it."""

from dataclasses import replace

import pytest
from talk import edit, reply, request, user

from coppice.compaction.asking.prompts import Prompts
from coppice.compaction.span.split_turn import merged, turn_share
from coppice.compaction.summary import Summary, SummaryDecision


def test_what_both_parts_say_about_the_same_names_is_said_once_by_the_later_one() -> None:
    history = Summary(
        goal=("Build the importer",),
        done=("Added `read_rows` to src/importer.py.", "Chose SQLite."),
        in_progress=("Write `read_rows` in src/importer.py.",),
        next_steps=("Test `read_rows`.",),
        decisions=(SummaryDecision("Keep `read_rows` public", "callers need it"),),
        context=("The port is 5433.",),
    )
    turn = Summary(
        done=("Added `read_rows` to src/importer.py and tested it.",),
        decisions=(SummaryDecision("Keep `read_rows` public", "callers need it"),),
        context=("The port is 5433", "The lock is in src/lock.py."),
        next_steps=("Commit.",),
    )
    joined = merged(history, turn)
    assert joined.goal == ("Build the importer",)
    assert joined.done == ("Chose SQLite.", "Added `read_rows` to src/importer.py and tested it.")
    assert joined.decisions == turn.decisions
    assert joined.context == ("The port is 5433", "The lock is in src/lock.py.")
    assert joined.next_steps == ("Commit.",)
    assert joined.in_progress == history.in_progress


def test_statements_about_the_same_file_that_say_different_things_both_stay() -> None:
    history = Summary(context=("src/lock.py holds the lock of the writer until the commit returns.",))
    turn = Summary(context=("src/lock.py was renamed because Windows keeps a name open.",))
    assert merged(history, turn).context == (*history.context, *turn.context)


def test_a_part_gets_its_share_of_the_length_and_never_all() -> None:
    short = request([user("Build it"), *edit("a.py")], turn=[reply("x" * 100_000)])
    assert turn_share(short) == 0.8
    even = request([user("x" * 10_000)], turn=[user("x" * 10_000)])
    assert 0.64 < turn_share(even) < 0.69
    long_ago = request([user("x" * 100_000)], turn=[reply("x" * 30_000)])
    assert turn_share(replace(long_ago, max_turn_prefix_tokens=2_000)) == 0.5
    assert turn_share(request([user("x" * 100_000)], turn=[reply("x" * 5_000)])) == pytest.approx(0.2)


def test_the_facts_are_asked_for_once_and_the_earlier_part_leaves_the_end_out() -> None:
    earlier = Prompts().request("earlier", "[User]: Build it", words=500)
    assert "Leave In Progress, Blocked and Next Steps empty" in earlier
    assert Prompts().end not in earlier
    assert Prompts().end in Prompts().request("history", "[User]: Build it", words=500)
    assert "Write at most 500 words" in earlier
