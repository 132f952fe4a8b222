"""What is decided after an overflow, step by step."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.recovery.decision import (
    MOST_COMPACTIONS,
    Compact,
    Decision,
    Fail,
    Retry,
    State,
    Truncate,
    compacted,
    gave_up_compacting,
    looked_for_results,
    overflowed,
)
from coppice.recovery.request_size import RequestSize

WINDOW = 8_000
THRESHOLD = 5_000


def least(*, overhead_tokens: int = 0, pinned: int = 0, tail: int = 500, summary: int = 200) -> RequestSize:
    return RequestSize(
        0,
        WINDOW,
        THRESHOLD,
        overhead_tokens=overhead_tokens,
        pinned=pinned,
        tail=tail,
        summary=summary,
        stated_window=WINDOW,
    )


def view(tokens: int, of: RequestSize | None = None) -> RequestSize:
    return replace(of or least(), view_tokens=tokens)


def test_a_first_overflow_is_compacted() -> None:
    state, then = overflowed(State(), view(9_000))
    assert then == Compact(halvings=0)
    assert state.attempt == 1


def test_a_compaction_below_the_threshold_is_worth_a_retry() -> None:
    state, _ = overflowed(State(), view(9_000))
    assert compacted(state, view(5_000))[1] == Retry("compacted")


def test_a_compaction_that_leaves_too_much_is_followed_by_one_that_keeps_less() -> None:
    state, _ = overflowed(State(), view(20_000))
    state, then = compacted(state, view(9_000))
    assert then == Compact(halvings=1)
    _, then = compacted(state, view(8_500))
    assert then == Compact(halvings=2)


def test_each_overflow_of_a_row_keeps_half_as_much_until_three_compactions_are_made() -> None:
    state, asked = State(), []
    tokens = 9_000
    for _ in range(MOST_COMPACTIONS + 1):
        state, then = overflowed(state, view(tokens))
        asked.append(then)
        tokens = min(tokens, 5_000) - 500
        if isinstance(then, Compact):
            state, again = compacted(state, view(tokens))
            assert again == Retry("compacted")
    assert asked == [Compact(0), Compact(1), Compact(2), Truncate()]


def test_a_compaction_without_gain_leads_to_truncation_and_never_to_another() -> None:
    state, _ = overflowed(State(), view(9_000))
    state, then = compacted(state, view(9_000))
    assert then == Truncate()
    state, then = looked_for_results(state, view(6_000), 2)
    assert then == Retry("truncated")
    _, then = overflowed(state, view(6_000))
    assert isinstance(then, Fail)


def test_nothing_to_compact_and_nothing_to_truncate_is_reported_with_numbers() -> None:
    state, _ = overflowed(State(), view(9_000))
    state, then = gave_up_compacting(state, view(9_000), "")
    assert then == Truncate()
    _, then = looked_for_results(state, view(9_000), 0)
    assert isinstance(then, Fail)
    for expected in ("9,000", "8,000", "Nothing was changed", "larger window"):
        assert expected in then.message


def test_what_was_tried_is_reported() -> None:
    state = State(attempt=2, compactions=3, truncated=1)
    _, then = overflowed(state, view(7_000))
    assert isinstance(then, Fail)
    assert "3 compactions and 1 tool result cut" in then.message


@pytest.mark.parametrize(
    ("floor", "named", "advice"),
    [
        (least(pinned=7_000, tail=900), "pinned messages 7,000", "Unpin"),
        (least(tail=9_000, summary=0), "the newest message with what follows it 9,000", "smaller pieces"),
    ],
)
def test_what_alone_exceeds_the_window_is_named_before_anything_is_tried(
    floor: RequestSize, named: str, advice: str
) -> None:
    _, then = overflowed(State(), view(12_000, floor))
    assert isinstance(then, Fail)
    assert named in then.message
    assert advice in then.message


def test_what_a_provider_only_seems_to_count_in_addition_is_tried_once_then_named() -> None:
    floor = least(overhead_tokens=7_900)
    state, then = overflowed(State(), view(6_000, floor))
    assert then == Compact(halvings=0)
    state, then = compacted(state, view(2_000, floor))
    assert isinstance(then, Retry)
    assert "7,900" in (then.message or "")
    _, then = overflowed(state, view(2_000, floor))
    assert isinstance(then, Fail)
    assert "7,900" in then.message


sizes = st.integers(0, 20_000)
floors = st.builds(least, overhead_tokens=sizes, pinned=sizes, tail=sizes, summary=st.integers(0, 3_000))
events = st.lists(st.tuples(st.sampled_from(["made", "refused"]), sizes, st.integers(0, 3)), min_size=8)


def _step(
    state: State, then: Decision, event: tuple[str, int, int], floor: RequestSize
) -> tuple[State, Decision]:
    what, tokens, count = event
    if isinstance(then, Truncate):
        return looked_for_results(state, view(tokens, floor), count)
    if what == "made":
        return compacted(state, view(tokens, floor))
    return gave_up_compacting(state, view(tokens, floor), "")


@given(st.lists(events, min_size=1, max_size=12), floors)
def test_every_round_ends_and_so_does_every_row_of_rounds(
    rounds: list[list[tuple[str, int, int]]], floor: RequestSize
) -> None:
    state, compactions, truncations, retries = State(), 0, 0, 0
    for happens in rounds:
        state, then = overflowed(state, view(9_000, floor))
        steps = 0
        while not isinstance(then, Retry | Fail):
            compactions += isinstance(then, Compact)
            truncations += isinstance(then, Truncate)
            state, then = _step(state, then, happens[steps], floor)
            steps += 1
            assert steps <= MOST_COMPACTIONS + 1
        retries += isinstance(then, Retry)
    assert compactions <= MOST_COMPACTIONS
    assert retries <= MOST_COMPACTIONS + 1


@given(floors, sizes, st.integers(0, 3))
def test_no_retry_of_what_is_known_not_to_fit(floor: RequestSize, tokens: int, count: int) -> None:
    state, _ = overflowed(State(), view(20_000, floor))
    for _, then in (
        compacted(state, view(tokens, floor)),
        looked_for_results(state, view(tokens, floor), count),
    ):
        if isinstance(then, Retry):
            assert tokens < WINDOW


def test_a_refusal_below_the_stated_window_blames_what_is_not_counted() -> None:
    refused = replace(view(8_000, least(tail=8_000)), stated_window=32_000)
    (_, then) = gave_up_compacting(State(attempt=1, truncated=1), refused, "")
    assert isinstance(then, Fail)
    assert "has 8,000 tokens by our count, and its window is stated as 32,000" in then.message
    assert "system prompt and tools" in then.message
    assert "newest message" not in then.message
    assert "against a window of" not in then.message
