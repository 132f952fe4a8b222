"""Compaction: what it leaves, what it refuses, and what never happens."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from conftest_service import Client, GatedSummarizer, MakeClient, assistant, tool, user

from coppice.errors import (
    ConversationBusyError,
    NothingToCompactError,
    StaleLeafError,
    SummaryRejectedError,
    UnknownConversationError,
    UnknownEntryError,
)
from coppice.protocol.base import WireModel
from coppice.service.core.progress import NoProgress

SMALL = {"compaction": {"keepRecentTokens": 200}, "tokens": {"counter": "estimate"}}
FORMAT = "## Goal\nFinish the parser.\n\n## Next Steps\n1. Run the tests."


@pytest.fixture
async def client(make_client: MakeClient) -> Client:
    made: Client = await make_client(SMALL)
    return made


def long_session(turns: int = 12) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for number in range(turns):
        entries.append(
            user(f"Step {number}: make part {number} of the parser work. " + "Details follow. " * 8)
        )
        entries += tool(f"c{number}", "edit", {"path": f"src/part_{number}.py"}, "edited " + "line\n" * 30)
        entries.append(assistant(f"Part {number} works now. " + "It was a matter of care. " * 8))
    return entries


async def long_conversation(client: Client, turns: int = 12) -> str:
    made = await client.conversation()
    await client.ask("append", conversationId=made, entries=long_session(turns))
    return made


async def running_compaction(
    make_client: MakeClient,
) -> tuple[Client, str, "asyncio.Task[Any]", GatedSummarizer]:
    """A client, its conversation, and the compaction of it, which waits in the summarizer."""
    summarizer = GatedSummarizer()
    client = await make_client(SMALL, summarizer)
    made = await long_conversation(client)
    task = asyncio.create_task(client.ask("compact", conversationId=made))
    await summarizer.begun.wait()
    return client, made, task, summarizer


async def test_the_model_sees_summary_and_kept_entries_and_nothing_before(client: Client) -> None:
    made = await long_conversation(client)
    before = await client.ask("context", conversationId=made)
    done = await client.ask("compact", conversationId=made)
    after = await client.ask("context", conversationId=made)
    assert after["compactionId"] == done["entry"]["id"]
    assert after["firstKeptEntryId"] == done["firstKeptEntryId"] == after["messages"][1]["entryId"]
    assert "<summary>" in str(after["messages"][0]["content"])
    assert after["messages"][1:] == before["messages"][-len(after["messages"]) + 1 :]
    assert done["tokensAfter"] < done["tokensBefore"] == before["tokens"]
    assert done["entry"]["details"]["modifiedFiles"][0] == "src/part_0.py"


async def test_tokens_after_are_what_the_next_context_holds(client: Client) -> None:
    made = await long_conversation(client)
    done = await client.ask("compact", conversationId=made)
    usage = await client.ask("usage", conversationId=made)
    with_estimate = await client.ask("context", conversationId=made)
    assert usage["tokens"] == with_estimate["tokens"]
    stored = (await client.ask("entries", conversationId=made, limit=1000))["entries"][-1]
    assert stored == done["entry"]


async def test_a_preview_shows_what_the_compaction_then_does(client: Client) -> None:
    made = await long_conversation(client)
    preview = await client.ask("compactPreview", conversationId=made)
    done = await client.ask("compact", conversationId=made)
    assert preview["firstKeptEntryId"] == done["firstKeptEntryId"]
    assert preview["tokensBefore"] == done["tokensBefore"]
    assert preview["modifiedFiles"] == done["entry"]["details"]["modifiedFiles"]
    assert preview["previousSummary"] is False
    again = preview["messagesToSummarize"] + preview["turnPrefixMessages"]
    assert done["report"]["dropped"]["entries"] == again


async def test_a_reply_that_failed_is_not_among_what_the_model_no_longer_sees(client: Client) -> None:
    made = await client.conversation()
    failed = assistant("Half a sentence. " * 400, stopReason="error", errorMessage="reset")
    await client.ask("append", conversationId=made, entries=[failed, *long_session()])
    dropped = (await client.ask("compact", conversationId=made))["report"]["dropped"]
    blocks = 3 * dropped["entries"]
    assert dropped["tokens"] <= sum(dropped["byKind"].values()) <= dropped["tokens"] + blocks


async def test_a_second_compaction_begins_at_the_first_ones_kept_entries(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer(FORMAT, is_open=True)
    client = await make_client(SMALL, summarizer)
    made = await long_conversation(client)
    first = await client.ask("compact", conversationId=made)
    await client.ask("append", conversationId=made, entries=long_session(6))
    preview = await client.ask("compactPreview", conversationId=made)
    assert preview["previousSummary"] is True
    await client.ask("compact", conversationId=made)
    second = summarizer.requests[1]
    assert second.previous_summary == first["entry"]["summary"]
    path = (await client.ask("entries", conversationId=made, limit=1000))["entries"]
    first_kept = next(entry for entry in path if entry["id"] == first["firstKeptEntryId"])
    begins = [*second.history, *second.turn_prefix][0].model_dump(mode="json", by_alias=True)
    assert begins == first_kept["message"]


async def test_a_limit_that_no_summary_can_meet_is_reported_with_its_numbers(make_client: MakeClient) -> None:
    client = await make_client({"compaction": {"keepRecentTokens": 100, "maxSummaryTokens": 20}})
    made = await long_conversation(client)
    before = await client.ask("context", conversationId=made)
    with pytest.raises(SummaryRejectedError, match="maxSummaryTokens") as refused:
        await client.ask("compact", conversationId=made)
    assert refused.value.data["maxTokens"] < refused.value.data["summaryTokens"]
    assert await client.ask("context", conversationId=made) == before


async def test_a_compaction_that_keeps_from_an_entry_that_is_none_is_not_appended(client: Client) -> None:
    made = await client.conversation("hello", "hi")
    before = await client.ask("context", conversationId=made)
    made_up = {"type": "compaction", "summary": "We said hello.", "firstKeptEntryId": "nowhere"}
    with pytest.raises(UnknownEntryError) as refused:
        await client.ask("append", conversationId=made, entries=[made_up])
    assert refused.value.data["entryId"] == "nowhere"
    assert await client.ask("context", conversationId=made) == before


async def test_what_a_view_sends_of_the_file_lists_are_blocks(client: Client) -> None:
    made = await long_conversation(client)
    entry = (await client.ask("compact", conversationId=made))["entry"]
    assert entry["summary"].endswith("</modified-files>")
    shown = json.dumps((await client.ask("context", conversationId=made))["messages"][0])
    assert "<modified-files>" in shown
    assert "&lt;" not in shown


async def test_an_empty_conversation_has_nothing_to_compact(client: Client) -> None:
    made = await client.conversation()
    with pytest.raises(NothingToCompactError, match="empty"):
        await client.ask("compact", conversationId=made)
    assert client.notified("compactionStarted") == []


async def test_a_short_conversation_has_nothing_to_compact_and_says_the_numbers(
    make_client: MakeClient,
) -> None:
    client = await make_client()
    made = await client.conversation("hello", "hi")
    with pytest.raises(NothingToCompactError, match="20,000") as refusal:
        await client.ask("compact", conversationId=made)
    assert refusal.value.data["keepRecentTokens"] == 20_000


async def test_a_conversation_that_was_just_compacted_has_nothing_to_compact(client: Client) -> None:
    made = await long_conversation(client)
    await client.ask("compact", conversationId=made)
    with pytest.raises(NothingToCompactError, match="just compacted"):
        await client.ask("compact", conversationId=made)


@pytest.mark.parametrize("text", ["", "  \n ", "word " * 20_000])
async def test_a_summary_that_is_no_improvement_is_rejected_and_nothing_changes(
    make_client: MakeClient, text: str
) -> None:
    client = await make_client(SMALL, GatedSummarizer(text, is_open=True))
    made = await long_conversation(client)
    before = await client.ask("entries", conversationId=made, limit=1000)
    with pytest.raises(SummaryRejectedError):
        await client.ask("compact", conversationId=made)
    assert await client.ask("entries", conversationId=made, limit=1000) == before
    assert [ended["status"] for ended in client.notified("compactionEnded")] == ["failed"]


async def test_a_draft_writes_nothing_and_can_be_stored_as_a_person_edited_it(client: Client) -> None:
    made = await long_conversation(client)
    before = await client.ask("conversation/get", conversationId=made)
    draft = await client.ask("compact", conversationId=made, draft=True)
    assert await client.ask("conversation/get", conversationId=made) == before
    assert draft["tokensAfter"] < draft["tokensBefore"]
    text = draft["entry"]["summary"].replace("## Goal\n", "## Goal\nAs a person says it.\n")
    edited = await client.ask("compact", conversationId=made, summary=text)
    assert edited["summarizer"] == "edited"
    assert "As a person says it." in edited["entry"]["summary"]
    assert edited["entry"]["summary"].count("<modified-files>") == 1


@pytest.mark.parametrize(
    ("text", "why"), [("Just some words.", "headings"), ("## Goal\n" + "word " * 9_000, "tokens")]
)
async def test_an_edited_summary_is_held_to_the_same_checks(client: Client, text: str, why: str) -> None:
    made = await long_conversation(client)
    before = await client.ask("conversation/get", conversationId=made)
    with pytest.raises(SummaryRejectedError, match=why):
        await client.ask("compact", conversationId=made, summary=text)
    assert await client.ask("conversation/get", conversationId=made) == before


Stop = Callable[[Client, str, "asyncio.Task[Any]"], Awaitable[None]]


async def by_request(client: Client, conversation: str, task: "asyncio.Task[Any]") -> None:
    del client, conversation
    task.cancel()


async def by_method(client: Client, conversation: str, task: "asyncio.Task[Any]") -> None:
    del task
    assert await client.ask("cancel", conversationId=conversation) == {"cancelled": ["compaction"]}


@pytest.mark.parametrize("stop", [by_request, by_method])
async def test_a_cancelled_compaction_leaves_everything_as_it_was(
    make_client: MakeClient, stop: Stop
) -> None:
    summarizer = GatedSummarizer()
    client = await make_client(SMALL, summarizer)
    made = await long_conversation(client)
    before = await client.ask("entries", conversationId=made, limit=1000)
    task = asyncio.create_task(client.ask("compact", conversationId=made))
    await summarizer.begun.wait()
    await stop(client, made, task)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await client.ask("entries", conversationId=made, limit=1000) == before
    started, ended = client.notified("compactionStarted"), client.notified("compactionEnded")
    assert [one["status"] for one in ended] == ["cancelled"]
    assert [one["compactionId"] for one in started] == [one["compactionId"] for one in ended]
    assert await client.ask("cancel", conversationId=made) == {"cancelled": []}


async def test_a_second_compact_joins_the_first(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer()
    client = await make_client(SMALL, summarizer)
    made = await long_conversation(client)
    both = [asyncio.create_task(client.ask("compact", conversationId=made)) for _ in range(2)]
    await summarizer.begun.wait()
    await asyncio.sleep(0)
    summarizer.may_go_on.set()
    first, second = await asyncio.gather(*both)
    assert first == second
    assert len(summarizer.requests) == 1
    assert len(client.notified("compactionStarted")) == len(client.notified("compactionEnded")) == 1


async def test_who_joined_and_leaves_does_not_stop_the_compaction(make_client: MakeClient) -> None:
    summarizer = GatedSummarizer()
    client = await make_client(SMALL, summarizer)
    made = await long_conversation(client)
    first, second = [asyncio.create_task(client.ask("compact", conversationId=made)) for _ in range(2)]
    await summarizer.begun.wait()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    summarizer.may_go_on.set()
    assert (await first)["summarizer"] == "gated"


async def test_a_draft_waits_for_nobody_and_is_refused_while_a_compaction_runs(
    make_client: MakeClient,
) -> None:
    client, made, task, summarizer = await running_compaction(make_client)
    with pytest.raises(ConversationBusyError, match="compaction"):
        await client.ask("compact", conversationId=made, draft=True)
    summarizer.may_go_on.set()
    await task


async def test_what_is_appended_meanwhile_is_kept_after_the_cut(make_client: MakeClient) -> None:
    client, made, task, summarizer = await running_compaction(make_client)
    added = await client.ask("append", conversationId=made, entries=[user("one more thing")])
    summarizer.may_go_on.set()
    done = await task
    assert done["entry"]["parentId"] == added["leafId"]
    view = await client.ask("context", conversationId=made)
    assert view["messages"][-1]["content"] == "one more thing"


async def test_a_compaction_of_a_branch_that_was_left_meanwhile_is_given_up(make_client: MakeClient) -> None:
    client, made, task, summarizer = await running_compaction(make_client)
    first = (await client.ask("entries", conversationId=made, limit=1))["entries"][0]
    await client.ask("append", conversationId=made, entries=[user("elsewhere")], parentId=first["id"])
    summarizer.may_go_on.set()
    with pytest.raises(StaleLeafError, match="nothing was changed"):
        await task
    assert [one["status"] for one in client.notified("compactionEnded")] == ["failed"]


async def test_deleting_a_conversation_stops_its_compaction(make_client: MakeClient) -> None:
    client, made, task, _ = await running_compaction(make_client)
    await client.ask("conversation/delete", conversationId=made)
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(UnknownConversationError):
        await client.ask("conversation/get", conversationId=made)


async def test_closing_the_service_ends_what_runs(make_client: MakeClient) -> None:
    client, _, task, _ = await running_compaction(make_client)
    await client.service.close()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [one["status"] for one in client.notified("compactionEnded")] == ["cancelled"]


class Watching(NoProgress):
    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []
        self.ended: list[str] = []

    def begin(self, title: str) -> None:
        self.seen.append((title, 0))

    def report(self, stage: str, percentage: int) -> None:
        self.seen.append((stage, percentage))

    def end(self, message: str) -> None:
        self.ended.append(message)


async def test_progress_names_its_stages_never_goes_back_and_ends_with_the_numbers(client: Client) -> None:
    made = await long_conversation(client)
    watching = Watching()
    params = {"conversationId": made}
    result: WireModel = await client.call("compact", watching, **params)
    assert watching.seen[0] == ("Compacting", 0)
    percentages = [percentage for _, percentage in watching.seen]
    assert percentages == sorted(percentages)
    assert len(watching.ended) == 1
    assert "→" in watching.ended[0]
    assert result is not None
