"""`reserveTokens` has a floor, so that an answer fits, and a smaller one is reported."""

from conftest_service import MakeClient


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
