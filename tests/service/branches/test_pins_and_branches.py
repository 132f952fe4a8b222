"""Pins that count and stay, and what a branch summary is asked for."""

from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, tool, user

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.errors import ContextOverflowError, ModelFailedError, NothingToCompactError, SummaryRejectedError
from coppice.store.schema.records import PathEnd
from coppice.store.store import Store
from coppice.tree.entries import Entry

SMALL = {"compaction": {"keepRecentTokens": 200}, "tokens": {"counter": "estimate"}}


class Brief:
    def __init__(self) -> None:
        self.requests: list[SummaryRequest] = []
        self.text = "## Goal\nThe parser."

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        self.requests.append(request)
        if not self.text:
            raise ModelFailedError("The model did not answer.")
        return WrittenSummary(self.text, "brief")


@pytest.fixture
def summarizer() -> Brief:
    return Brief()


@pytest.fixture
async def client(make_client: MakeClient, summarizer: Brief) -> Client:
    made: Client = await make_client(SMALL, summarizer)
    return made


def turns(count: int) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for number in range(count):
        entries += [
            user(f"Question {number} " + "about it " * 30),
            *tool(f"c{number}", "edit", {"path": f"f{number}"}, "y" * 300),
            assistant(f"Answer {number} " + "because " * 30),
        ]
    return entries


async def worked(client: Client, count: int) -> tuple[str, list[str]]:
    made = await client.conversation()
    done = await client.ask("append", conversationId=made, entries=turns(count))
    return made, done["entryIds"]


def shown(view: dict[str, Any]) -> list[str | None]:
    return [message.get("entryId") for message in view["messages"]]


async def test_a_pinned_summary_stays_when_the_next_compaction_keeps_what_is_before_it(
    client: Client,
) -> None:
    made, _ = await worked(client, 10)
    first = (await client.ask("compact", conversationId=made))["entry"]
    first_entries = (await client.ask("context", conversationId=made))["messages"][0]["content"][0]["text"]
    await client.ask("pin", conversationId=made, entryId=first["id"], pinned=True)
    for number in range(4):
        entries = [user(f"n{number} " + "w " * 40), assistant("v " * 40)]
        await client.ask("append", conversationId=made, entries=entries)
        try:
            done = await client.ask("compact", conversationId=made)
        except NothingToCompactError:
            continue
        view = await client.ask("context", conversationId=made)
        assert shown(view).count(first["id"]) == 1
        assert view["messages"][1]["content"] == first_entries
        assert view["tokens"] == done["tokensAfter"]
    path = [entry["type"] for entry in (await client.ask("entries", conversationId=made))["entries"]]
    assert path.count("compaction") > 1


async def test_a_pinned_newest_summary_is_in_the_view_once(client: Client) -> None:
    made, _ = await worked(client, 10)
    newest = (await client.ask("compact", conversationId=made))["entry"]
    before = await client.ask("context", conversationId=made)
    await client.ask("pin", conversationId=made, entryId=newest["id"], pinned=True)
    assert await client.ask("context", conversationId=made) == before


async def test_pins_that_the_view_still_holds_in_their_places_count_too(make_client: MakeClient) -> None:
    client = await make_client({**SMALL, "model": {"contextWindow": 24_000}})
    made = await client.conversation("z" * 8_000, "fine", "z" * 8_000)
    first, _, other = (await client.ask("entries", conversationId=made))["entries"]
    await client.ask("pin", conversationId=made, entryId=first["id"], pinned=True)
    await client.ask("pin", conversationId=made, entryId=first["id"], pinned=True)
    with pytest.raises(ContextOverflowError, match="Unpin something first") as refusal:
        await client.ask("pin", conversationId=made, entryId=other["id"], pinned=True)
    assert refusal.value.data["pinnedTokens"] == refusal.value.data["tokens"] == 2_000
    assert 2_000 < refusal.value.data["roomTokens"] < 4_000
    await client.ask("pin", conversationId=made, entryId=first["id"], pinned=False)
    await client.ask("pin", conversationId=made, entryId=other["id"], pinned=True)


async def test_a_call_before_the_branch_counts_with_its_result_in_it(
    client: Client, summarizer: Brief
) -> None:
    made, ids = await worked(client, 2)
    call = ids[5]
    result = await client.ask("navigate", conversationId=made, targetId=call, summarize=True)
    assert result["summaryEntry"]["details"]["modifiedFiles"] == ["f1"]
    assert summarizer.requests[0].modified_files == ["f1"]


async def test_a_branch_summary_is_asked_for_as_one(client: Client, summarizer: Brief) -> None:
    made, ids = await worked(client, 2)
    await client.ask(
        "navigate",
        conversationId=made,
        targetId=ids[3],
        summarize=True,
        instructions="Only the files.",
        replaceInstructions=True,
    )
    request = summarizer.requests[0]
    assert (request.kind, request.instructions, request.replace_instructions) == (
        "branch",
        "Only the files.",
        True,
    )


async def test_a_long_branch_is_read_in_pieces_and_only_as_far_as_the_budget_goes(
    make_client: MakeClient, summarizer: Brief, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await make_client({**SMALL, "model": {"contextWindow": 4_000}}, summarizer)
    made, ids = await worked(client, 600)
    pieces: list[int] = []
    read = Store.entries

    def counted(store: Store, end: PathEnd, first: int, last: int) -> list[Entry]:
        pieces.append(last - first + 1)
        return read(store, end, first, last)

    monkeypatch.setattr(Store, "entries", counted)
    answer = await client.ask("navigate", conversationId=made, targetId=ids[3], summarize=True)
    assert len(answer["summaryEntry"]["details"]["modifiedFiles"]) == 599
    assert 0 < len(summarizer.requests[0].history) < 100
    assert max(pieces) <= 500
    # All is read once for the files and once for the ledger, and the newest piece for the summary.
    assert sum(pieces) < 3 * len(ids)


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_a_summary_that_fails_or_is_empty_changes_nothing(
    client: Client, summarizer: Brief, text: str
) -> None:
    made, ids = await worked(client, 2)
    before = await client.ask("tree", conversationId=made)
    summarizer.text = text
    client.notifications.clear()
    with pytest.raises((ModelFailedError, SummaryRejectedError)):
        await client.ask("navigate", conversationId=made, targetId=ids[3], summarize=True, label="tried")
    with pytest.raises((ModelFailedError, SummaryRejectedError)):
        await client.ask("summarize", conversationId=made)
    assert await client.ask("tree", conversationId=made) == before
    assert client.notifications == []


async def test_the_message_just_ahead_is_given_back_and_nothing_moves(client: Client) -> None:
    made, ids = await worked(client, 2)
    await client.ask("navigate", conversationId=made, targetId=ids[3])
    client.notifications.clear()
    result = await client.ask("navigate", conversationId=made, targetId=ids[4])
    assert result["leafId"] == ids[3]
    assert result["editorText"].startswith("Question 1")
    assert client.notifications == []


async def test_a_label_of_blanks_is_none(client: Client) -> None:
    made, ids = await worked(client, 2)
    await client.ask("navigate", conversationId=made, targetId=ids[3], label="  ")
    assert client.notified("conversationChanged")[-1]["changes"] == ["leaf"]
    await client.ask("navigate", conversationId=made, targetId=ids[-1], label=" back ")
    nodes = (await client.ask("tree", conversationId=made))["nodes"]
    assert [node["label"] for node in nodes if "label" in node] == ["back"]
