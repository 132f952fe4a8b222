"""A client's own turns that outgrow a window of 8,000 tokens, end to end."""

import asyncio
from typing import Any

import pytest
from conftest_service import (
    Client,
    GatedSummarizer,
    MakeClient,
    assistant,
    parallel_calls,
    tool,
    user,
    waits_for_a_job,
)

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.errors import ConversationBusyError, ModelFailedError
from coppice.recovery.truncation import LEAST_CHARS, LEAST_LIMIT

WINDOW = 8_000
SETTINGS = {"model": {"contextWindow": WINDOW}, "tokens": {"counter": "estimate"}}
TOO_LONG = {"message": "prompt is too long: 9000 tokens > 8000 maximum", "status": 400}
REPLY_FAILED = assistant("", content=[], stopReason="error", errorMessage="prompt is too long")


@pytest.fixture
async def client(make_client: MakeClient) -> Client:
    made: Client = await make_client(SETTINGS)
    return made


def early_work(steps: int = 12) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for step in range(steps):
        entries += [user(f"Step {step}: write part {step}. " + "Mind the details. " * 30)]
        entries += tool(f"w{step}", "write", {"path": f"src/part_{step}.py"}, "line\n" * 100)
        entries += [assistant(f"Part {step} is written. " + "It took some care. " * 30)]
    return entries


async def grown(client: Client, *entries: dict[str, Any]) -> str:
    made = await client.conversation()
    await client.ask("append", conversationId=made, entries=list(entries))
    return made


async def size(client: Client, conversation: str) -> int:
    return int((await client.ask("usage", conversationId=conversation))["tokens"])


def provider_takes(tokens: int) -> bool:
    return tokens < WINDOW


async def test_a_turn_that_outgrows_the_window_step_by_step_goes_on(client: Client) -> None:
    made = await grown(client, user("Read all the parts, one by one."))
    recovered = 0
    for step in range(30):
        await client.ask(
            "append", conversationId=made, entries=tool(f"r{step}", "read", {"path": f"p{step}"}, "x" * 4_000)
        )
        if not provider_takes(await size(client, made)):
            done = await client.ask("recover", conversationId=made, error=TOO_LONG)
            assert (done["action"], done["strategy"], done["attempt"]) == ("retry", "compacted", 1)
            assert provider_takes(await size(client, made))
            recovered += 1
    assert recovered >= 3
    ended = client.notified("compactionEnded")
    assert [(e["reason"], e["status"], e["willRetry"]) for e in ended] == [
        ("overflow", "completed", True)
    ] * recovered


async def test_one_giant_result_is_truncated_when_compacting_is_not_enough(client: Client) -> None:
    made = await grown(client, *early_work(3), user("Show it."), *tool("g", "bash", {}, "y" * 200_000))
    done = await client.ask("recover", conversationId=made, error=TOO_LONG)
    assert (done["action"], done["strategy"]) == ("retry", "truncated")
    assert provider_takes(await size(client, made))
    path = (await client.ask("conversation/get", conversationId=made))["conversation"]
    assert path["leafId"] == done["leafId"]
    messages = (await client.ask("context", conversationId=made))["messages"]
    assert messages[-1]["role"] == "toolResult"
    assert "characters of this tool result were left out" in messages[-1]["content"][0]["text"]


async def test_three_middling_results_of_one_reply_lose_the_oldest(client: Client) -> None:
    three = parallel_calls("a" * 9_500, "b" * 9_500, "c" * 9_500)
    made = await grown(client, user("Run them. " + "Mind the order. " * 300), *three)
    assert not provider_takes(await size(client, made))
    done = await client.ask("recover", conversationId=made, error=TOO_LONG)
    assert (done["action"], done["strategy"]) == ("retry", "truncated")
    assert provider_takes(await size(client, made))
    messages = (await client.ask("context", conversationId=made))["messages"]
    lengths = [len(m["content"][0]["text"]) for m in messages if m["role"] == "toolResult"]
    assert LEAST_CHARS <= lengths[0] <= LEAST_LIMIT
    assert lengths[-1] == 9_500


async def test_an_overflow_that_persists_ends_in_an_error_with_numbers(client: Client) -> None:
    made = await grown(client, *early_work(), user("Go on."))
    answers = []
    for _ in range(8):
        answers.append(await client.ask("recover", conversationId=made, error=TOO_LONG))
        await client.ask("append", conversationId=made, entries=[REPLY_FAILED])
    actions = [answer["action"] for answer in answers]
    assert actions[0] == "retry"
    assert actions[-1] == "fail"
    assert actions == sorted(actions, reverse=True)
    assert actions.count("retry") <= 4
    assert len(client.notified("compactionStarted")) <= 3
    last = answers[-1]
    assert last["attempt"] == 8
    for expected in ("stated as 8,000", "Tried:", "compaction", "system prompt and tools", "larger window"):
        assert expected in last["message"]
    view = (await client.ask("context", conversationId=made))["messages"]
    assert view[-1]["role"] == "user"


async def test_later_attempts_keep_less(client: Client) -> None:
    made = await grown(client, *early_work(), user("Go on."))
    sizes = []
    for _ in range(2):
        await client.ask("recover", conversationId=made, error=TOO_LONG)
        sizes.append(await size(client, made))
    assert sizes[1] < sizes[0]


async def test_a_successful_reply_makes_the_next_overflow_a_first_one(client: Client) -> None:
    made = await grown(client, *early_work(), user("Go on."))
    assert (await client.ask("recover", conversationId=made, error=TOO_LONG))["attempt"] == 1
    assert (await client.ask("recover", conversationId=made, error=TOO_LONG))["attempt"] == 2
    await client.ask("append", conversationId=made, entries=[assistant("Done."), *early_work()])
    assert (await client.ask("recover", conversationId=made, error=TOO_LONG))["attempt"] == 1


async def test_a_navigation_and_the_turn_s_end_forget_what_was_tried(client: Client) -> None:
    made = await grown(client, *early_work(), user("Go on."))
    first = (await client.ask("entries", conversationId=made))["entries"]
    assert (await client.ask("recover", conversationId=made, error=TOO_LONG))["attempt"] == 1
    await client.ask("navigate", conversationId=made, targetId=first[-1]["parentId"])
    assert (await client.ask("recover", conversationId=made, error=TOO_LONG))["attempt"] == 1
    await client.ask("turn/begin", conversationId=made, turnId="t")
    await client.ask("turn/end", conversationId=made, turnId="t")
    assert (await client.ask("recover", conversationId=made, error=TOO_LONG))["attempt"] == 1


OTHERS = [
    ({"message": "Rate limit reached: 30000 tokens per min", "status": 429}, "rate"),
    ({"message": "You exceeded your current quota", "status": 429, "code": "insufficient_quota"}, "quota"),
    ({"message": "invalid x-api-key", "status": 401}, "key"),
    ({"message": "Connection reset by peer"}, "another reason"),
    ({"message": "maximum context length is a thing; too many requests, wait", "status": 429}, "Wait"),
    ({"message": "Internal error", "status": 500}, "provider failed"),
]


@pytest.mark.parametrize(("error", "expected"), OTHERS)
async def test_an_error_that_only_looks_like_one_changes_nothing(
    client: Client, error: dict[str, Any], expected: str
) -> None:
    made = await grown(client, *early_work())
    before = await client.ask("conversation/get", conversationId=made)
    done = await client.ask("recover", conversationId=made, error=error)
    assert (done["action"], done["attempt"]) == ("not-overflow", 0)
    assert expected in done["message"]
    assert await client.ask("conversation/get", conversationId=made) == before
    assert client.notified("compactionStarted") == []


async def test_the_error_of_a_model_that_was_left_is_none_of_the_current_one(client: Client) -> None:
    change = {"type": "model_change", "provider": "openai", "modelId": "gpt-5"}
    made = await grown(client, *early_work(), change)
    of_other = {**TOO_LONG, "provider": "anthropic", "model": "claude-haiku-4-5"}
    done = await client.ask("recover", conversationId=made, error=of_other)
    assert done["action"] == "not-overflow"
    assert "anthropic/claude-haiku-4-5" in done["message"]
    assert "openai/gpt-5" in done["message"]
    of_current = {**TOO_LONG, "provider": "openai", "model": "gpt-5"}
    assert (await client.ask("recover", conversationId=made, error=of_current))["action"] == "retry"


async def test_a_model_that_answers_is_the_current_one_whatever_was_noted(client: Client) -> None:
    change = {"type": "model_change", "provider": "openai", "modelId": "gpt-5"}
    made = await grown(
        client,
        *early_work(),
        change,
        user("Go on."),
        {**REPLY_FAILED, "message": {**REPLY_FAILED["message"], "model": "small"}},
    )
    done = await client.ask("recover", conversationId=made, error={**TOO_LONG, "model": "small"})
    assert done["action"] == "retry"


async def test_a_failed_reply_is_no_place_to_cut(client: Client) -> None:
    made = await grown(client, *early_work(), user("Now the last thing."), REPLY_FAILED)
    assert (await client.ask("recover", conversationId=made, error=TOO_LONG))["action"] == "retry"
    view = (await client.ask("context", conversationId=made))["messages"]
    assert view[-1]["content"] == "Now the last thing."


async def test_a_model_with_an_eighth_of_the_window_is_reached_in_one_step(make_client: MakeClient) -> None:
    client = await make_client({"tokens": {"counter": "estimate"}, "model": {"contextWindow": 64_000}})
    made = await grown(client, *early_work(90), user("Go on."))
    assert await size(client, made) > 30_000
    done = await client.ask("recover", conversationId=made, error=TOO_LONG)
    assert (done["action"], done["attempt"]) == ("retry", 1)
    assert provider_takes(await size(client, made))
    assert len(client.notified("compactionStarted")) == 1


async def test_a_window_that_nobody_stated_is_concluded_from_what_was_refused(
    make_client: MakeClient,
) -> None:
    client = await make_client({"tokens": {"counter": "estimate"}})
    made = await grown(client, *early_work(), user("Go on."))
    before = await size(client, made)
    error = {"message": "Your input exceeds the context window of this model."}
    done = await client.ask("recover", conversationId=made, error=error)
    assert done["action"] == "retry"
    assert await size(client, made) < 0.75 * before


async def test_what_alone_exceeds_the_window_is_reported_before_a_summary_is_paid_for(client: Client) -> None:
    made = await grown(client, *early_work(), user("z" * 40_000))
    done = await client.ask("recover", conversationId=made, error=TOO_LONG)
    assert done["action"] == "fail"
    assert "the newest message with what follows it 10,000" in done["message"]
    assert client.notified("compactionStarted") == []


class Failing:
    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        del request
        raise ModelFailedError("The model is gone.")


class Empty:
    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        del request
        return WrittenSummary(" ", "empty")


@pytest.mark.parametrize(("summarizer", "status"), [(Failing(), "failed"), (Empty(), "skipped")])
async def test_a_compaction_that_brought_nothing_leads_to_truncation(
    make_client: MakeClient, summarizer: Any, status: str
) -> None:
    client = await make_client(SETTINGS, summarizer)
    made = await grown(client, *early_work(), user("Go on."))
    done = await client.ask("recover", conversationId=made, error=TOO_LONG)
    assert (done["action"], done["strategy"]) == ("retry", "truncated")
    ended = client.notified("compactionEnded")
    assert [(e["status"], e["willRetry"]) for e in ended] == [(status, False)]
    assert len(client.notified("compactionStarted")) == 1


async def test_who_asks_while_a_recovery_runs_gets_its_result(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer()
    client = await make_client(SETTINGS, summarizer)
    made = await grown(client, *early_work(), user("Go on."))
    both = [asyncio.create_task(client.ask("recover", conversationId=made, error=TOO_LONG)) for _ in "ab"]
    await summarizer.begun.wait()
    for each in both:
        await waits_for_a_job(each)
    summarizer.may_go_on.set()
    first, second = await asyncio.gather(*both)
    assert first == second
    assert first["attempt"] == 1
    assert len(client.notified("compactionStarted")) == 1


async def test_a_compaction_that_runs_already_is_waited_for_and_counts(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer()
    client = await make_client(SETTINGS, summarizer)
    made = await grown(client, *early_work(), user("Go on."))
    manual = asyncio.create_task(client.ask("compact", conversationId=made))
    await summarizer.begun.wait()
    recovery = asyncio.create_task(client.ask("recover", conversationId=made, error=TOO_LONG))
    await waits_for_a_job(recovery)
    summarizer.may_go_on.set()
    await manual
    assert (await recovery)["strategy"] == "compacted"
    assert len(client.notified("compactionStarted")) == 1


async def test_a_cancelled_recovery_changes_nothing_and_is_not_counted(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer()
    client = await make_client(SETTINGS, summarizer)
    made = await grown(client, *early_work(), user("Go on."))
    before = await client.ask("entries", conversationId=made, limit=1000)
    task = asyncio.create_task(client.ask("recover", conversationId=made, error=TOO_LONG))
    await summarizer.begun.wait()
    assert await client.ask("cancel", conversationId=made) == {"cancelled": ["recovery"]}
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await client.ask("entries", conversationId=made, limit=1000) == before
    assert [e["status"] for e in client.notified("compactionEnded")] == ["cancelled"]


async def test_another_turn_s_recovery_is_refused(client: Client) -> None:
    made = await grown(client, *early_work())
    await client.ask("turn/begin", conversationId=made, turnId="t1")
    with pytest.raises(ConversationBusyError):
        await client.ask("recover", conversationId=made, error=TOO_LONG, turnId="t2")


async def test_an_empty_conversation_s_overflow_is_reported(client: Client) -> None:
    made = await client.conversation()
    done = await client.ask("recover", conversationId=made, error=TOO_LONG)
    assert (done["action"], done["leafId"]) == ("fail", None)
    assert "system prompt" in done["message"]
