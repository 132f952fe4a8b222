"""`reserveTokens` has a floor, so that an answer fits, and a smaller one is reported."""

import pytest
from conftest_service import MakeClient

from coppice.compaction.span.sizes import SUMMARY_SHARE, TURN_PREFIX_SHARE, fitted_sizes, smallest_reserve
from coppice.settings import CompactionSettings


async def test_a_reserve_of_one_token_leaves_room_for_an_answer_all_the_same(
    make_client: MakeClient,
) -> None:
    client = await make_client({"compaction": {"reserveTokens": 1}, "model": {"contextWindow": 200_000}})
    made = await client.conversation("hello", "hi")
    usage = await client.ask("usage", conversationId=made)
    assert usage["thresholdTokens"] <= 200_000 - 4_096
    problems = await client.service.set_client_settings(
        {"compaction": {"reserveTokens": 1}, "model": {"contextWindow": 200_000}}
    )
    assert any("reserveTokens" in problem and "4,096" in problem for problem in problems)


@pytest.mark.parametrize("window", [1_000, 8_000, 20_000, 64_000, 200_000])
def test_the_floor_holds_after_all_sizes_were_scaled_to_the_window(window: int) -> None:
    sizes = fitted_sizes(CompactionSettings(reserve_tokens=1), window)
    assert sizes.reserve >= smallest_reserve(window)
    assert sizes.reserve + sizes.keep_recent + sizes.max_summary <= 0.9 * window
    assert sizes.keep_recent + sizes.max_summary < sizes.threshold
    assert sizes.max_turn_prefix <= sizes.max_summary


def test_summaries_have_their_shares_of_the_reserve_where_all_fits() -> None:
    sizes = fitted_sizes(CompactionSettings(reserve_tokens=10_000), 200_000)
    assert sizes.max_summary == SUMMARY_SHARE * 10_000
    assert sizes.max_turn_prefix == TURN_PREFIX_SHARE * 10_000


def test_a_window_is_divided_in_the_same_proportions() -> None:
    sizes = fitted_sizes(CompactionSettings(reserve_tokens=10_000, keep_recent_tokens=10_000), 10_000)
    assert sizes.reserve == sizes.keep_recent == 9_000 * 10 // 28
