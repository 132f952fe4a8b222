"""Trimming: each section its share, what one leaves over to the others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.compaction.summary import Summary, SummaryDecision
from coppice.compaction.summary_parser import parse_summary
from coppice.compaction.trimming import fit_whole, trimmed
from coppice.tokens.counting import count_tokens

MANY = tuple(f"line {number} tells what was done in part {number}" for number in range(60))
FULL = Summary(
    goal=("first", *MANY, "newest"),
    constraints=("Never use eval.",),
    done=MANY,
    in_progress=MANY,
    blocked=MANY,
    decisions=tuple(SummaryDecision(line, "because") for line in MANY),
    next_steps=MANY,
    context=MANY,
    turn=MANY,
)


def test_what_fits_is_left_alone() -> None:
    small = Summary(goal=("g",), decisions=(SummaryDecision("d", "w"),), next_steps=("n",))
    assert trimmed(small, 500, count_tokens) == (small, 0)


@pytest.mark.parametrize("budget", [300, 800, 2_000])
def test_every_section_keeps_its_share(budget: int) -> None:
    summary, dropped = trimmed(FULL, budget, count_tokens)
    assert count_tokens(summary.render()) <= budget + 20
    for lines in (
        summary.goal,
        summary.done,
        summary.in_progress,
        summary.blocked,
        summary.decisions,
        summary.turn,
    ):
        assert 0 < len(lines) < len(MANY)
    assert dropped > 300


def test_the_newest_work_and_decisions_stay_and_the_first_of_all_else() -> None:
    summary, _ = trimmed(FULL, 800, count_tokens)
    assert summary.goal[0] == "first"
    assert summary.goal[-1] == "newest"
    assert summary.done[-1] == MANY[-1]
    assert summary.decisions[-1] == SummaryDecision(MANY[-1], "because")
    assert summary.next_steps[0] == MANY[0]
    assert summary.constraints == ("Never use eval.",)


def test_a_share_that_is_not_needed_goes_to_the_others() -> None:
    alone, _ = trimmed(Summary(next_steps=MANY), 800, count_tokens)
    unshared, _ = trimmed(FULL, 800, count_tokens)
    assert len(alone.next_steps) > 2 * len(unshared.next_steps)


def test_a_single_endless_line_is_clipped_and_not_lost() -> None:
    summary, dropped = trimmed(Summary(goal=("word " * 5_000,)), 200, count_tokens)
    assert dropped == 0
    assert summary.goal[0].startswith("word word")
    assert summary.goal[0].endswith("…")
    assert count_tokens(summary.render()) <= 220


def test_headings_of_others_become_lines_of_the_context() -> None:
    summary, _ = trimmed(Summary(other=(("Branch", "refactor"), ("", "loose"))), 300, count_tokens)
    assert summary.context == ("Branch: refactor", "loose")
    assert summary.other == ()


@given(st.integers(1, 1_500))
def test_a_whole_summary_fits_any_limit_or_is_empty(limit: int) -> None:
    text = fit_whole(FULL, limit, count_tokens)
    assert count_tokens(text) <= limit
    assert text == "" or parse_summary(text).render() == text
    assert limit < 100 or parse_summary(text).constraints == ("Never use eval.",)
