"""A summary that is written before the threshold, and taken when it comes."""

import asyncio
import threading
from typing import Any
from unittest.mock import Mock

import pytest
from conftest_service import Client, GatedSummarizer, MakeClient, assistant, user
from waiting import until

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.errors import ModelFailedError, StaleLeafError
from coppice.service.compaction import compacting
from coppice.service.compaction.ahead import Ahead
from coppice.service.core.summarizers import answers_side_by_side
from coppice.settings import Settings

WINDOW: dict[str, Any] = {
    "model": {"contextWindow": 20_000},
    "tokens": {"counter": "estimate"},
    "compaction": {"keepRecentTokens": 2_000, "clear": {"enabled": False}},
}
TOKENS = 1_000


def work(count: int) -> list[dict[str, Any]]:
    """Turns of `TOKENS` tokens each."""
    each = (user("u" * 2_000), assistant("a" * 2_000))
    return [entry for _ in range(count) for entry in each]


async def threshold(client: Client) -> int:
    usage = await client.ask("usage", conversationId=await client.conversation())
    return int(usage["thresholdTokens"])


async def before_the_threshold(client: Client) -> str:
    """A conversation whose next turn or two reach the threshold, after a check that saw so."""
    made = await client.conversation()
    turns = int(await threshold(client) * 0.9) // TOKENS
    await client.ask("append", conversationId=made, entries=work(turns))
    assert (await client.ask("preparePrompt", conversationId=made))["compacted"] is False
    return made


async def after_the_threshold(client: Client, made: str) -> dict[str, Any]:
    await client.ask("append", conversationId=made, entries=work(3))
    done: dict[str, Any] = await client.ask("preparePrompt", conversationId=made)
    return done


def ahead(client: Client) -> Ahead:
    return client.service.compacting.ahead


def statuses(client: Client) -> list[str | None]:
    return [each["status"] for each in client.notified("backgroundCompactionChanged")]


async def path_of(client: Client, made: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = (await client.ask("entries", conversationId=made, limit=1000))["entries"]
    return entries


async def test_the_summary_is_there_when_the_threshold_comes(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer(is_open=True)
    client = await make_client(WINDOW, summarizer)
    made = await before_the_threshold(client)
    await summarizer.begun.wait()
    before = await path_of(client, made)
    assert all(entry["type"] == "message" for entry in before)
    summarizer.may_go_on.clear()  # no other summary can be written
    done = await after_the_threshold(client, made)
    assert done["compacted"] is True
    assert done["entry"]["reason"] == "threshold"
    assert len(summarizer.requests) == 1
    first_kept = [entry["id"] for entry in before].index(done["entry"]["firstKeptEntryId"])
    messages = (await client.ask("context", conversationId=made, format="openai"))["messages"]
    assert len(messages) == 1 + len(before) - first_kept + 6
    (ended,) = client.notified("compactionEnded")
    assert (ended["status"], ended["entryId"]) == ("completed", done["entry"]["id"])
    assert statuses(client) == ["writing", "ready", None]


async def test_one_that_is_being_written_is_waited_for(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer()
    client = await make_client(WINDOW, summarizer)
    made = await before_the_threshold(client)
    await summarizer.begun.wait()
    due = asyncio.create_task(after_the_threshold(client, made))
    await until(lambda: bool(client.notified("compactionStarted")))
    summarizer.may_go_on.set()
    assert (await due)["compacted"] is True
    assert len(summarizer.requests) == 1


async def test_a_compaction_by_hand_takes_it_and_one_with_wishes_does_not(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer(is_open=True)
    client = await make_client(WINDOW, summarizer)
    made = await before_the_threshold(client)
    await summarizer.begun.wait()
    await client.ask("compact", conversationId=made, instructions="The names.", draft=True)
    assert len(summarizer.requests) == 2
    await client.ask("compact", conversationId=made)
    assert len(summarizer.requests) == 2
    assert (await path_of(client, made))[-1]["reason"] == "manual"


async def test_its_report_and_its_entry_are_made_with_it(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await make_client(WINDOW, GatedSummarizer(is_open=True))
    monkeypatch.setattr(compacting, "loss_report", None)  # would raise
    monkeypatch.setattr(compacting, "entry_of", None)
    made = await before_the_threshold(client)
    done = await client.ask("compact", conversationId=made)
    first_kept = [entry["id"] for entry in await path_of(client, made)].index(done["firstKeptEntryId"])
    assert done["report"]["dropped"]["entries"] == first_kept > 0
    assert done["entry"]["reason"] == "manual"


async def test_it_can_be_taken_again_where_an_error_came_after_it_was_stored(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    summarizer = GatedSummarizer(is_open=True)
    client = await make_client(WINDOW, summarizer)
    made = await before_the_threshold(client)
    before = await path_of(client, made)
    with monkeypatch.context() as patch:
        patch.setattr(compacting, "usage_state", Mock(side_effect=ModelFailedError("not now")))
        with pytest.raises(ModelFailedError, match="not now"):
            await client.ask("compact", conversationId=made)
    (stored,) = (await path_of(client, made))[len(before) :]
    assert stored["type"] == "compaction"
    await client.ask("navigate", conversationId=made, targetId=before[-1]["id"], summarize=False)
    await client.ask("append", conversationId=made, entries=[user("Go on.")])
    done = await client.ask("compact", conversationId=made)
    assert len(summarizer.requests) == 1
    assert done["entry"]["summary"] == stored["summary"]
    assert done["entry"]["id"] != stored["id"]
    assert (await path_of(client, made))[-1]["id"] == done["entry"]["id"]


async def test_a_cancelled_compaction_writes_nothing_and_ends_it(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer()
    client = await make_client(WINDOW, summarizer)
    made = await before_the_threshold(client)
    await summarizer.begun.wait()
    due = asyncio.create_task(after_the_threshold(client, made))
    await until(lambda: bool(client.notified("compactionStarted")))
    before = await path_of(client, made)
    due.cancel()
    with pytest.raises(asyncio.CancelledError):
        await due
    assert await path_of(client, made) == before
    await until(ahead(client)._drafts[made].task.done)


async def test_a_cancel_while_it_is_looked_whether_it_is_of_use_ends_it_too(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await make_client(WINDOW, GatedSummarizer())
    made = await before_the_threshold(client)
    draft = ahead(client)._drafts[made].task
    looking, may_go_on = threading.Event(), threading.Event()

    def look(*_: object) -> bool:
        looking.set()
        return may_go_on.wait(60)

    monkeypatch.setattr(ahead(client), "_may_be_used", look)
    due = asyncio.create_task(ahead(client).take(made, None))
    await until(looking.is_set)
    due.cancel()
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await due
    await until(draft.done)
    assert draft.cancelled()


async def test_it_ends_with_the_conversation_and_with_a_cancel(make_client: MakeClient) -> None:
    client = await make_client(WINDOW, GatedSummarizer())
    for stop in ("cancel", "conversation/delete"):
        made = await before_the_threshold(client)
        draft = ahead(client)._drafts[made].task
        done = await client.ask(stop, conversationId=made)
        await until(draft.done)
        assert draft.cancelled()
        assert stop != "cancel" or done == {"cancelled": ["background compaction"]}
    await until(lambda: statuses(client) == ["writing", None] * 2)


async def test_on_another_branch_it_is_of_no_use(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer(is_open=True)
    client = await make_client(WINDOW, summarizer)
    made = await before_the_threshold(client)
    await summarizer.begun.wait()
    early = (await path_of(client, made))[3]["id"]
    await client.ask("navigate", conversationId=made, targetId=early)
    await client.ask("append", conversationId=made, entries=work(16))
    done = await after_the_threshold(client, made)
    assert done["compacted"] is True
    assert len(summarizer.requests) == 2


async def test_it_is_announced_only_where_it_can_be_used(make_client: MakeClient) -> None:
    client = await make_client(WINDOW, GatedSummarizer(is_open=True))
    made = await before_the_threshold(client)
    await until(lambda: statuses(client) == ["writing", "ready"])
    path = await path_of(client, made)
    await client.ask("navigate", conversationId=made, targetId=path[3]["id"])
    await until(lambda: statuses(client)[2:] == [None])
    await client.ask("append", conversationId=made, entries=work(1))
    await client.ask("navigate", conversationId=made, targetId=path[-1]["id"])
    await until(lambda: statuses(client)[2:] == [None, "ready"])
    await client.ask("append", conversationId=made, entries=work(1))
    await until(lambda: not ahead(client)._looking)
    assert statuses(client)[2:] == [None, "ready"]


async def test_one_that_is_written_for_another_branch_is_not_waited_for(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer()
    client = await make_client(WINDOW, summarizer)
    made = await before_the_threshold(client)
    await summarizer.begun.wait()
    draft = ahead(client)._drafts[made].task
    await client.ask("navigate", conversationId=made, targetId=(await path_of(client, made))[3]["id"])
    await until(lambda: statuses(client) == ["writing", None])
    assert await ahead(client).take(made, None) is None
    assert not draft.done()
    summarizer.may_go_on.set()


async def test_a_navigation_while_it_is_waited_for_has_no_other_path_summarized(
    make_client: MakeClient,
) -> None:
    summarizer = GatedSummarizer()
    client, other = await make_client(WINDOW, summarizer), await make_client(WINDOW, GatedSummarizer())
    made = await before_the_threshold(client)
    await summarizer.begun.wait()
    due = asyncio.create_task(after_the_threshold(client, made))
    await until(lambda: bool(client.notified("compactionStarted")))
    early = (await path_of(other, made))[3]["id"]
    await other.ask("navigate", conversationId=made, targetId=early, summarize=False)
    summarizer.may_go_on.set()
    with pytest.raises(StaleLeafError):
        await due
    assert len(summarizer.requests) == 1
    assert (await path_of(client, made))[-1]["id"] == early


async def test_in_vain_it_costs_one_summary_a_threshold(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer(is_open=True)
    client = await make_client(WINDOW, summarizer)
    made = await before_the_threshold(client)
    await summarizer.begun.wait()
    leaf = (await path_of(client, made))[-1]["id"]
    for _ in range(3):
        early = (await path_of(client, made))[3]["id"]
        await client.ask("navigate", conversationId=made, targetId=early)
        await client.ask("navigate", conversationId=made, targetId=leaf)
        await client.ask("preparePrompt", conversationId=made)
    assert len(summarizer.requests) == 1
    assert (await after_the_threshold(client, made))["compacted"] is True
    await client.ask("append", conversationId=made, entries=work(10))
    await client.ask("preparePrompt", conversationId=made)
    await until(lambda: len(summarizer.requests) == 2)
    after = (await path_of(client, made))[-1]["id"]
    for target in (leaf, after) * 2:
        await client.ask("navigate", conversationId=made, targetId=target, summarize=False)
        await client.ask("preparePrompt", conversationId=made)
    assert len(summarizer.requests) == 2


async def test_a_fault_of_the_summarizer_is_left_to_the_compaction_too(make_client: MakeClient) -> None:
    class Faulty(GatedSummarizer):
        async def summarize(self, request: SummaryRequest) -> WrittenSummary:
            if not self.requests:
                self.requests.append(request)
                self.begun.set()
                raise TypeError
            return await super().summarize(request)

    summarizer = Faulty(is_open=True)
    client = await make_client(WINDOW, summarizer)
    made = await before_the_threshold(client)
    await summarizer.begun.wait()
    assert (await after_the_threshold(client, made))["compacted"] is True


async def test_nothing_of_a_deleted_conversation_is_held(make_client: MakeClient) -> None:
    client = await make_client(WINDOW, GatedSummarizer(is_open=True))
    made = await before_the_threshold(client)
    await until(ahead(client)._drafts[made].task.done)
    await client.ask("conversation/delete", conversationId=made)
    assert (ahead(client)._drafts, ahead(client)._begun) == ({}, {})


async def test_a_failure_is_left_to_the_compaction_that_is_due(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer("", is_open=True)
    client = await make_client(WINDOW, summarizer)
    made = await before_the_threshold(client)
    await summarizer.begun.wait()
    summarizer.text = "## Goal\nFinish the parser."
    await until(lambda: statuses(client) == ["writing", None])
    assert (await after_the_threshold(client, made))["compacted"] is True
    assert len(summarizer.requests) == 2


@pytest.mark.parametrize("settings", [{"background": False}, {"enabled": False}])
async def test_a_setting_turns_it_off(make_client: MakeClient, settings: dict[str, bool]) -> None:
    summarizer = GatedSummarizer(is_open=True)
    client = await make_client({**WINDOW, "compaction": {**WINDOW["compaction"], **settings}}, summarizer)
    made = await before_the_threshold(client)
    assert made not in ahead(client)._drafts


async def test_far_from_the_threshold_nothing_is_written(make_client: MakeClient) -> None:
    client = await make_client(WINDOW, GatedSummarizer(is_open=True))
    made = await client.conversation()
    await client.ask(
        "append", conversationId=made, entries=work(int(await threshold(client) * 0.7) // TOKENS)
    )
    await client.ask("preparePrompt", conversationId=made)
    assert made not in ahead(client)._drafts


@pytest.mark.parametrize(
    ("model", "summarizer", "may"),
    [
        ({}, {}, True),
        ({"provider": "openai", "name": "m"}, {}, True),
        ({"provider": "openai", "name": "m", "baseUrl": "http://127.0.0.1:8080/v1"}, {}, False),
        (
            {"provider": "openai", "name": "m", "baseUrl": "http://127.0.0.1:8080/v1"},
            {"provider": "offline"},
            True,
        ),
        (
            {"provider": "anthropic", "name": "m"},
            {"provider": "openai", "name": "s", "baseUrl": "http://127.0.0.1:1/v1"},
            False,
        ),
        (
            {"provider": "openai", "name": "m", "baseUrl": "http://127.0.0.1:8080/v1"},
            {"provider": "anthropic", "name": "s", "fallbacks": ["inherit"]},
            False,
        ),
    ],
)
def test_a_server_that_may_answer_one_request_at_a_time_is_not_asked_during_a_turn(
    model: dict[str, Any], summarizer: dict[str, Any], *, may: bool
) -> None:
    settings = Settings.model_validate({"model": model, "summarizer": summarizer})
    assert answers_side_by_side(settings) is may
