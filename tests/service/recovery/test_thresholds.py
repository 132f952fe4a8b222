"""The check before a prompt, end to end."""

from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, tool, user

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.recovery.truncation import LEAST_LIMIT
from coppice.service.window import measuring
from coppice.tokens.size import Size
from coppice.tree.messages import ToolResultMessage, text_of

WINDOW = {"model": {"contextWindow": 8_000}, "tokens": {"counter": "estimate"}}
THRESHOLD = 8_000 - 2_383


@pytest.fixture
async def client(make_client: MakeClient) -> Client:
    made: Client = await make_client(WINDOW)
    return made


def work(tokens: int) -> list[dict[str, Any]]:
    """Turns of 500 tokens each, which hold so many together."""
    each = (user("u" * 1_000), assistant("a" * 1_000))
    return [entry for _ in range(tokens // 500) for entry in each]


async def grown(client: Client, tokens: int) -> str:
    made = await client.conversation()
    await client.ask("append", conversationId=made, entries=work(tokens))
    return made


async def test_below_the_threshold_nothing_happens(client: Client) -> None:
    made = await grown(client, 5_000)
    done = await client.ask("preparePrompt", conversationId=made, prompt="hello")
    usage = await client.ask("usage", conversationId=made)
    assert done == {"compacted": False, "usage": usage}
    assert usage["thresholdTokens"] == THRESHOLD


async def test_what_is_stored_is_not_counted_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await client.conversation()
    entries = [user("Read it."), *tool("c1", "read", {"path": "a"}, "x" * 2 * LEAST_LIMIT)]
    await client.ask("append", conversationId=made, entries=entries)
    counted: list[int] = []

    def size(message: ToolResultMessage) -> Size:
        counted.append(len(text_of(message.content)))
        return Size()

    monkeypatch.setattr(measuring, "size_of_message", size)
    await client.ask("preparePrompt", conversationId=made)
    assert len(counted) == 1, "the result at its shortest"
    assert counted[0] <= LEAST_LIMIT


async def test_above_the_threshold_the_conversation_is_compacted_and_nothing_is_resubmitted(
    client: Client,
) -> None:
    made = await grown(client, 6_000)
    done = await client.ask("preparePrompt", conversationId=made, prompt="hello")
    assert done["compacted"] is True
    assert done["entry"]["reason"] == "threshold"
    assert done["usage"]["tokens"] < THRESHOLD
    path = (await client.ask("entries", conversationId=made, limit=1000))["entries"]
    assert path[-1] == done["entry"]
    (ended,) = client.notified("compactionEnded")
    assert (ended["reason"], ended["willRetry"]) == ("threshold", False)


async def test_the_prompt_s_own_size_counts(client: Client) -> None:
    made = await grown(client, 5_500)
    assert (await client.ask("preparePrompt", conversationId=made))["compacted"] is False
    images = [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]
    assert (await client.ask("preparePrompt", conversationId=made, prompt=images))["compacted"] is True


async def test_a_request_s_window_outweighs_the_configured_one(client: Client) -> None:
    made = await grown(client, 5_000)
    done = await client.ask("preparePrompt", conversationId=made, contextWindow=4_000)
    assert done["compacted"] is True
    assert done["usage"]["contextWindow"] == 4_000
    assert done["usage"]["shouldCompact"] is False


async def test_a_setting_turns_the_check_off_and_leaves_recovery(make_client: MakeClient) -> None:
    client = await make_client({**WINDOW, "compaction": {"enabled": False}})
    made = await grown(client, 7_900)
    assert (await client.ask("preparePrompt", conversationId=made, prompt="hi"))["compacted"] is False
    error = {"message": "too long", "code": "context_length_exceeded"}
    assert (await client.ask("recover", conversationId=made, error=error))["strategy"] == "compacted"


async def test_nothing_to_compact_is_reported_with_what_to_do(client: Client) -> None:
    made = await client.conversation()
    await client.ask("append", conversationId=made, entries=[user("z" * 24_000)])
    done = await client.ask("preparePrompt", conversationId=made)
    assert done["compacted"] is False
    assert "nothing to compact" in done["message"]
    assert client.notified("compactionStarted") == []


async def test_what_alone_exceeds_the_window_is_reported_before_a_summary_is_paid_for(client: Client) -> None:
    made = await grown(client, 6_000)
    done = await client.ask("preparePrompt", conversationId=made, prompt="p" * 40_000)
    assert done["compacted"] is False
    assert "10,000" in done["message"]
    assert "shorter prompt" in done["message"]
    assert client.notified("compactionStarted") == []


class Long:
    """Writes as much as it is allowed to."""

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        return WrittenSummary("s" * (4 * request.max_tokens - 4), "long")


@pytest.mark.parametrize("replies", [[], [assistant("Done.")]])
async def test_two_compactions_in_a_row_without_headroom_are_the_last(
    make_client: MakeClient, replies: list[dict[str, Any]]
) -> None:
    client = await make_client(WINDOW, Long())
    made = await grown(client, 5_000)
    compacted, messages = [], []
    for _ in range(5):
        entries = [user("q" * 400), *replies, user("z" * 22_000)]
        await client.ask("append", conversationId=made, entries=entries)
        done = await client.ask("preparePrompt", conversationId=made, prompt="p" * 400)
        compacted.append(done["compacted"])
        messages.append(done.get("message"))
    assert compacted[:2] == [True, True]
    assert not any(compacted[2:])
    assert "Two compactions in a row" in messages[2]
    assert len(client.notified("compactionStarted")) == 2


async def test_work_in_regained_room_makes_room_for_the_next(client: Client) -> None:
    made = await grown(client, 6_000)
    for _ in range(4):
        assert (await client.ask("preparePrompt", conversationId=made))["compacted"] is True
        await client.ask("append", conversationId=made, entries=work(5_500))


async def test_regained_room_in_which_no_model_works_makes_none_for_a_third(client: Client) -> None:
    made = await grown(client, 6_000)
    compacted = []
    for _ in range(3):
        done = await client.ask("preparePrompt", conversationId=made)
        compacted.append(done["compacted"])
        await client.ask("append", conversationId=made, entries=[user("u" * 2_000)] * 11)
    assert compacted == [True, True, False]
    assert "Two compactions in a row" in done["message"]


async def test_a_conversation_that_was_just_compacted_is_compacted_again_for_a_large_prompt(
    client: Client,
) -> None:
    made = await grown(client, 6_000)
    await client.ask("preparePrompt", conversationId=made)
    done = await client.ask("preparePrompt", conversationId=made, prompt="p" * 16_000)
    assert done["compacted"] is True
    assert done["usage"]["tokens"] + 4_000 < 8_000


async def test_a_switch_to_a_model_with_an_eighth_of_the_window_works_in_one_step(
    make_client: MakeClient,
) -> None:
    client = await make_client({"model": {"contextWindow": 64_000}, "tokens": {"counter": "estimate"}})
    made = await grown(client, 60_000)
    change = {"type": "model_change", "provider": "openai", "modelId": "small"}
    await client.ask("append", conversationId=made, entries=[change])
    done = await client.ask("preparePrompt", conversationId=made, prompt="Go on.", contextWindow=8_000)
    assert done["compacted"] is True
    assert done["usage"]["shouldCompact"] is False
    assert done["usage"]["tokens"] + 2 < THRESHOLD
    assert len(client.notified("compactionStarted")) == 1
    again = await client.ask("preparePrompt", conversationId=made, prompt="Go on.", contextWindow=8_000)
    assert again == {"compacted": False, "usage": done["usage"]}
