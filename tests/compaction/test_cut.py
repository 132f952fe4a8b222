"""Where a compaction cuts."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.compaction.span.cut import Cut, find_cut, is_in_context


@dataclass(frozen=True)
class Row:
    type: str
    role: str | None = None


USER = Row("message", "user")
REPLY = Row("message", "assistant")
RESULT = Row("message", "toolResult")
BASH = Row("message", "bashExecution")
DEVELOPER = Row("message", "developer")
EXTENSION = Row("custom_message")
BRANCH = Row("branch_summary")
MODEL = Row("model_change")
COMPACTION = Row("compaction")


def cut(rows: list[Row], tokens: int, keep: int) -> Cut | None:
    return find_cut(rows, [tokens if is_in_context(row) else 0 for row in rows], keep)


@pytest.mark.parametrize(
    ("rows", "keep", "expected"),
    [
        pytest.param([USER, REPLY, USER, REPLY], 20, (2, 2), id="between turns"),
        pytest.param([USER, REPLY, REPLY, REPLY], 20, (0, 2), id="inside a turn"),
        pytest.param([USER, REPLY, REPLY, RESULT, REPLY], 20, (0, 4), id="never at a tool result"),
        pytest.param(
            [USER, REPLY, MODEL, USER, REPLY], 20, (2, 2), id="settings go with what follows: no split"
        ),
        pytest.param([USER, REPLY, BASH, REPLY], 20, (2, 2), id="a command of the user starts a turn"),
        pytest.param([USER, REPLY, EXTENSION, REPLY], 20, (2, 2), id="an extension's message starts a turn"),
        pytest.param([USER, REPLY, BRANCH, REPLY], 20, (2, 2), id="a branch summary starts a turn"),
        pytest.param(
            [USER, USER, DEVELOPER, USER], 20, (3, 3), id="the kept part begins with no developer message"
        ),
        pytest.param(
            [REPLY, RESULT, REPLY, REPLY], 20, (2, 2), id="a turn without its beginning is all history"
        ),
        pytest.param(
            [REPLY, RESULT, REPLY, USER], 20, (2, 2), id="nor does it begin with the question after it"
        ),
        pytest.param([USER, COMPACTION, REPLY, REPLY], 20, (0, 2), id="an earlier compaction stays behind"),
    ],
)
def test_the_cut_falls(rows: list[Row], keep: int, expected: tuple[int, int]) -> None:
    place_of_cut = cut(rows, 10, keep)
    assert place_of_cut is not None
    assert (place_of_cut.history_end, place_of_cut.first_kept) == expected
    assert place_of_cut.is_split_turn == (expected[0] != expected[1])


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([], id="an empty path"),
        pytest.param([USER], id="less than is kept anyway"),
        pytest.param([MODEL, MODEL, USER, REPLY], id="only settings before the kept part"),
        pytest.param([RESULT, RESULT], id="nowhere to cut"),
    ],
)
def test_nothing_is_cut_from(rows: list[Row]) -> None:
    assert cut(rows, 10, 20) is None


def test_a_result_that_fills_the_budget_alone_stays_with_its_call() -> None:
    rows = [USER, REPLY, USER, REPLY, RESULT]
    place_of_cut = find_cut(rows, [10, 10, 1, 1, 100], 50)
    assert place_of_cut is not None
    assert (place_of_cut.history_end, place_of_cut.first_kept) == (2, 3)


@pytest.mark.parametrize(("before", "expected"), [(9, None), (10, Cut(0, 1, kept_tokens=105))])
def test_a_cut_before_the_budget_frees_a_tenth_of_it(before: int, expected: Cut | None) -> None:
    assert find_cut([USER, REPLY, RESULT], [before, 5, 100], 100) == expected


def test_a_budget_that_is_one_token_short_takes_another_entry() -> None:
    assert find_cut([USER, REPLY, USER, REPLY], [10, 10, 9, 10], 20) == Cut(0, 1, kept_tokens=29)


def test_a_large_extension_message_is_not_taken_back_into_the_kept_part() -> None:
    rows = [USER, REPLY, EXTENSION, USER, REPLY]
    place_of_cut = find_cut(rows, [10, 10, 500, 10, 10], 20)
    assert place_of_cut is not None
    assert place_of_cut.first_kept == 3


ROWS = st.sampled_from([USER, REPLY, RESULT, BASH, DEVELOPER, EXTENSION, BRANCH, MODEL, COMPACTION])


@given(st.lists(st.tuples(ROWS, st.integers(0, 50)), max_size=60), st.integers(1, 400))
def test_every_entry_is_summarized_or_kept_and_something_is_summarized(
    sized: list[tuple[Row, int]], keep: int
) -> None:
    rows = [row for row, _ in sized]
    tokens = [size if is_in_context(row) else 0 for row, size in sized]
    place_of_cut = find_cut(rows, tokens, keep)
    if place_of_cut is None:
        return
    assert 0 <= place_of_cut.history_end <= place_of_cut.first_kept < len(rows)
    assert any(is_in_context(row) for row in rows[: place_of_cut.first_kept])
    head = next(row for row in rows[place_of_cut.first_kept :] if is_in_context(row))
    assert head.role not in ("toolResult", "developer", "system")
    assert place_of_cut.kept_tokens == sum(tokens[place_of_cut.first_kept :])
