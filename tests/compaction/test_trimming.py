"""What is left of a summary that is over its hard limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.compaction.summary import Summary, SummaryDecision
from coppice.compaction.summary_parser import parse_summary
from coppice.compaction.trimming import fit_whole
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


def fitted(summary: Summary, limit: int) -> Summary:
    text = fit_whole(summary, limit, count_tokens)
    assert count_tokens(text) <= limit
    return parse_summary(text)


def test_what_fits_is_left_alone() -> None:
    small = Summary(goal=("g",), decisions=(SummaryDecision("d", "w"),), next_steps=("n",))
    assert fitted(small, 500) == small


@pytest.mark.parametrize("limit", [300, 800, 2_000])
def test_every_section_keeps_lines(limit: int) -> None:
    summary = fitted(FULL, limit)
    for lines in (
        summary.goal,
        summary.done,
        summary.in_progress,
        summary.blocked,
        summary.decisions,
        summary.turn,
    ):
        assert 0 < len(lines) < len(MANY)


def test_the_newest_work_and_decisions_stay_and_the_first_of_all_else() -> None:
    summary = fitted(FULL, 800)
    assert summary.goal[0] == "first"
    assert summary.goal[-1] == "newest"
    assert summary.done[-1] == MANY[-1]
    assert summary.decisions[-1] == SummaryDecision(MANY[-1], "because")
    assert summary.next_steps[0] == MANY[0]
    assert summary.constraints == ("Never use eval.",)


def test_room_that_a_section_does_not_need_goes_to_the_others() -> None:
    alone = fitted(Summary(next_steps=MANY), 800)
    assert len(alone.next_steps) > 2 * len(fitted(FULL, 800).next_steps)


def test_a_single_endless_line_is_clipped_and_not_lost() -> None:
    summary = fitted(Summary(goal=("word " * 5_000,)), 200)
    assert summary.goal[0].startswith("word word")
    assert summary.goal[0].endswith("…")


def test_headings_of_others_become_lines_of_the_context() -> None:
    summary = fitted(Summary(other=(("Branch", "refactor"), ("", "loose"))), 300)
    assert summary.context == ("Branch: refactor", "loose")
    assert summary.other == ()


def test_ten_times_the_lines_take_about_ten_times_the_comparisons() -> None:
    compared = 0

    class Tokens(int):
        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return int(self) == other

        def __lt__(self, other: int) -> bool:
            nonlocal compared
            compared += 1
            return int(self) < int(other)

        def __gt__(self, other: int) -> bool:
            nonlocal compared
            compared += 1
            return int(self) > int(other)

        __hash__ = int.__hash__

    def comparisons(size: int) -> int:
        nonlocal compared
        compared = 0
        lines = tuple("never " * (1 + number * 7 % 11) for number in range(size))
        assert fit_whole(Summary(constraints=lines), 100, lambda text: Tokens(len(text) // 4))
        return compared

    assert comparisons(10_000) < 20 * comparisons(1_000)


@given(st.integers(1, 1_500))
def test_a_whole_summary_fits_any_limit_or_is_empty(limit: int) -> None:
    text = fit_whole(FULL, limit, count_tokens)
    assert count_tokens(text) <= limit
    assert text == "" or parse_summary(text).render() == text
    assert limit < 100 or parse_summary(text).constraints == ("Never use eval.",)
