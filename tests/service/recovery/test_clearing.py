"""Clearing old tool results by a context edit, end to end."""

from typing import Any

import pytest
from conftest_service import Client, GatedSummarizer, MakeClient, assistant, tool, user

from coppice.errors import UnknownEntryError
from coppice.tree.messages import ToolResultMessage, text_of

WINDOW: dict[str, Any] = {
    "model": {"contextWindow": 30_000},
    "tokens": {"counter": "estimate"},
    "compaction": {"reserveTokens": 4_096, "keepRecentTokens": 2_000},
}
OUTPUT = "an output of a command\n" * 400  # 2,300 tokens


@pytest.fixture
async def client(make_client: MakeClient) -> Client:
    made: Client = await make_client(WINDOW)
    return made


def reads(count: int, output: str = OUTPUT) -> list[dict[str, Any]]:
    """A question with `count` files read for it."""
    calls = [tool(f"c{n}", "read", {"path": f"src/f{n}.py"}, f"{n} {output}") for n in range(count)]
    return [user("Read the files."), *(entry for call in calls for entry in call)]


async def grown(client: Client, *entries: dict[str, Any]) -> tuple[str, list[str]]:
    made = await client.conversation()
    done = await client.ask("append", conversationId=made, entries=list(entries))
    return made, done["entryIds"]


async def view(client: Client, conversation: str) -> list[dict[str, Any]]:
    return list((await client.ask("context", conversationId=conversation))["messages"])


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [m["content"][0]["text"] for m in messages if m["role"] == "toolResult"]


async def tokens(client: Client, conversation: str) -> int:
    return int((await client.ask("usage", conversationId=conversation))["tokens"])


async def test_old_results_become_lines_that_say_what_they_were(client: Client) -> None:
    made, ids = await grown(client, *reads(5), assistant("Read."))
    done = await client.ask("clearToolResults", conversationId=made, keepTokens=5_000)
    assert [each["entryId"] for each in done["cleared"]] == [ids[2], ids[4], ids[6]]
    shown = texts(await view(client, made))
    line = (
        f"[The result of read, {len(OUTPUT) + 2:,} characters, was cleared to save room."
        f" history_read (id {ids[2]}) gives the whole.]"
    )
    assert shown[0] == line
    assert shown[3:] == [f"3 {OUTPUT}", f"4 {OUTPUT}"]
    assert done["entry"]["cleared"] == [ids[2], ids[4], ids[6]]
    path = (await client.ask("entries", conversationId=made))["entries"]
    assert path[-1] == done["entry"]
    assert path[2]["message"]["content"][0]["text"] == f"0 {OUTPUT}"


async def test_the_count_of_the_view_is_what_the_view_has(client: Client) -> None:
    made, _ = await grown(client, *reads(5), assistant("Read."))
    before = await tokens(client, made)
    done = await client.ask("clearToolResults", conversationId=made, keepTokens=3_000)
    after = await tokens(client, made)
    assert (done["tokensBefore"], done["tokensAfter"]) == (before, after)
    detail = (await client.ask("usage", conversationId=made, detail=True))["breakdown"]
    # Each block is rounded up by itself there.
    assert after <= sum(detail.values()) <= after + 30


async def test_a_providers_count_from_before_is_corrected(client: Client) -> None:
    counted = assistant("Read.", usage={"input": 20_000, "output": 10})
    made, _ = await grown(client, *reads(5), counted)
    done = await client.ask("clearToolResults", conversationId=made, keepTokens=3_000)
    saved = sum(each["savedTokens"] for each in done["cleared"])
    usage = await client.ask("usage", conversationId=made)
    assert (usage["tokens"], usage["source"]) == (20_010 - saved, "usage")


async def test_a_preview_stores_nothing(client: Client) -> None:
    made, ids = await grown(client, *reads(4), assistant("Read."))
    looked = await client.ask("clearToolResults", conversationId=made, keepTokens=0, preview=True)
    assert "entry" not in looked
    assert looked["leafId"] == ids[-1]
    done = await client.ask("clearToolResults", conversationId=made, keepTokens=0)
    assert done["cleared"] == looked["cleared"]
    assert len(done["cleared"]) == 4


@pytest.mark.parametrize(
    "after", [[], [assistant("", stopReason="error")]], ids=["nothing", "a failed reply"]
)
async def test_a_result_that_no_reply_has_followed_stays(client: Client, after: list[dict[str, Any]]) -> None:
    made, ids = await grown(client, *reads(3), *after)
    done = await client.ask("clearToolResults", conversationId=made, keepTokens=0)
    assert [each["entryId"] for each in done["cleared"]] == [ids[2], ids[4]]


async def test_a_second_step_has_nothing_left_to_clear(client: Client) -> None:
    made, _ = await grown(client, *reads(4))
    first = await client.ask("clearToolResults", conversationId=made, keepTokens=0)
    again = await client.ask("clearToolResults", conversationId=made, keepTokens=0)
    assert (again["cleared"], again["leafId"]) == ([], first["leafId"])
    assert "entry" not in again
    assert "no tool result to clear" in again["reason"]


async def test_undone_it_leaves_the_results_and_the_work_since(client: Client) -> None:
    made, _ = await grown(client, *reads(4))
    whole = await view(client, made)
    done = await client.ask("clearToolResults", conversationId=made, keepTokens=0)
    await client.ask("append", conversationId=made, entries=[user("And now?")])
    await client.ask("undoCompaction", conversationId=made, compactionId=done["entry"]["id"])
    after = await view(client, made)
    assert after[:-1] == whole
    assert after[-1]["content"] == "And now?"
    assert await tokens(client, made) > 9_000


async def test_what_the_work_rests_on_stays(client: Client) -> None:
    failed = tool("t1", "bash", {"command": "pytest tests"}, OUTPUT, error=True)
    repaired = tool("t2", "bash", {"command": "ruff check"}, OUTPUT, error=True)
    passed = tool("t3", "bash", {"command": "ruff check"}, "All checks passed!")
    older = tool("r1", "read", {"path": "src/a.py"}, f"old {OUTPUT}")
    newest = tool("r2", "read", {"path": "src/a.py"}, f"new {OUTPUT}")
    edit = tool("e1", "edit", {"path": "src/a.py", "old": "x", "new": "y"}, "Edited.")
    pinned = tool("p1", "read", {"path": "notes.md"}, OUTPUT)
    made, ids = await grown(
        client, user("Go."), *failed, *repaired, *passed, *older, *newest, *edit, *pinned, assistant("Done.")
    )
    await client.ask("pin", conversationId=made, entryId=ids[14], pinned=True)
    done = await client.ask("clearToolResults", conversationId=made, keepTokens=0)
    assert [each["entryId"] for each in done["cleared"]] == [ids[4], ids[8]]


async def test_a_request_over_the_start_share_clears_in_one_large_step(client: Client) -> None:
    made, _ = await grown(client, *reads(8))
    assert await tokens(client, made) > 18_000
    done = await client.ask("preparePrompt", conversationId=made, prompt="Go on.")
    assert not done["compacted"]
    assert done["usage"]["tokens"] < 10_000
    path = (await client.ask("entries", conversationId=made))["entries"]
    assert [entry["reason"] for entry in path if entry["type"] == "context_edit"] == ["threshold"]
    prefix = await view(client, made)
    await client.ask("append", conversationId=made, entries=[user("Go on."), *tool("d", "ls", {}, OUTPUT)])
    again = await client.ask("preparePrompt", conversationId=made, prompt="Go on.")
    assert again["usage"]["tokens"] > done["usage"]["tokens"]
    assert (await view(client, made))[: len(prefix)] == prefix


@pytest.mark.parametrize("setting", [{"enabled": False}, {"leastGainTokens": 100_000}])
async def test_it_clears_nothing_where_the_user_wants_it_not_or_a_step_gains_little(
    make_client: MakeClient, setting: dict[str, Any]
) -> None:
    clear = {"startShare": 1.0, **setting}
    client = await make_client({**WINDOW, "compaction": {**WINDOW["compaction"], "clear": clear}})
    made, ids = await grown(client, *reads(5, "short " * 300))
    await client.ask("preparePrompt", conversationId=made, prompt="Go on.")
    assert (await client.ask("entries", conversationId=made))["entries"][-1]["id"] == ids[-1]


async def test_a_summarizer_reads_the_whole_results_and_what_is_kept_is_whole_again(
    make_client: MakeClient,
) -> None:
    summarizer = GatedSummarizer(is_open=True)
    client = await make_client(WINDOW, summarizer=summarizer)
    made, ids = await grown(client, *reads(4), assistant("Read."))
    await client.ask("clearToolResults", conversationId=made, keepTokens=0)
    done = await client.ask("compact", conversationId=made)
    [request] = summarizer.requests
    messages = [*request.history, *request.turn_prefix]
    results = [text_of(each.content) for each in messages if isinstance(each, ToolResultMessage)]
    assert results[0] == f"0 {OUTPUT}"
    first_kept = ids.index(done["firstKeptEntryId"])
    shown = await view(client, made)
    assert [message.get("entryId") for message in shown[1:]] == ids[first_kept:]
    assert texts(shown) == [f"{n} {OUTPUT}" for n in range(4) if 2 * n + 2 >= first_kept]
    usage = await client.ask("usage", conversationId=made, detail=True)
    assert usage["tokens"] <= sum(usage["breakdown"].values()) <= usage["tokens"] + 30


async def test_it_goes_through_an_export_to_pi_and_back(client: Client, tmp_path: Any) -> None:
    made, _ = await grown(client, *reads(4))
    await client.ask("clearToolResults", conversationId=made, keepTokens=0)
    for name in ("pi", "coppice"):
        file = tmp_path / f"{name}.jsonl"
        await client.ask("conversation/export", conversationId=made, format=name, uri=file.as_uri())
        back = (await client.ask("conversation/import", uri=file.as_uri()))["conversation"]["id"]
        assert texts(await view(client, back)) == texts(await view(client, made))
        assert await tokens(client, back) == await tokens(client, made)
    assert '"customType":"coppice.context_edit"' in (tmp_path / "pi.jsonl").read_text()


async def edits(client: Client, conversation: str) -> list[int]:
    """How many results each context edit of the path clears."""
    path = (await client.ask("entries", conversationId=conversation))["entries"]
    return [len(entry["cleared"]) for entry in path if entry["type"] == "context_edit"]


async def test_what_a_user_had_shown_again_is_not_cleared_by_itself(client: Client) -> None:
    made, ids = await grown(client, *reads(8))
    whole = await view(client, made)
    await client.ask("preparePrompt", conversationId=made, prompt="Go on.")
    await client.ask("append", conversationId=made, entries=[assistant("Read.")])
    await client.ask("undoCompaction", conversationId=made)
    done = await client.ask("preparePrompt", conversationId=made, prompt="Go on.")
    assert "contextEdit" not in done
    assert (await view(client, made))[: len(whole)] == whole
    by_hand = await client.ask("clearToolResults", conversationId=made, preview=True, keepTokens=0)
    assert [each["entryId"] for each in by_hand["cleared"]] == ids[2::2]


async def test_what_came_after_an_undone_clearing_is_cleared_when_it_makes_a_step(client: Client) -> None:
    made, _ = await grown(client, *reads(6), assistant("Read."))
    await client.ask("clearToolResults", conversationId=made, keepTokens=0)
    await client.ask("undoCompaction", conversationId=made)
    later = await client.ask("append", conversationId=made, entries=reads(5))
    done = await client.ask("preparePrompt", conversationId=made, prompt="Go on.", contextWindow=40_000)
    assert set(done["contextEdit"]["cleared"]) <= set(later["entryIds"])
    assert await edits(client, made) == [0, len(done["contextEdit"]["cleared"])]


async def test_an_undo_without_an_id_takes_back_what_was_last(make_client: MakeClient) -> None:
    client = await make_client(WINDOW, summarizer=GatedSummarizer(is_open=True))
    made, _ = await grown(client, *reads(4), assistant("Read."))
    await client.ask("clearToolResults", conversationId=made, keepTokens=0)
    await client.ask("compact", conversationId=made)
    await client.ask("append", conversationId=made, entries=reads(2))
    await client.ask("clearToolResults", conversationId=made, keepTokens=0)
    await client.ask("undoCompaction", conversationId=made)
    assert await edits(client, made) == [4, 0]
    marker = (await client.ask("entries", conversationId=made))["entries"][-1]["id"]
    with pytest.raises(UnknownEntryError, match="clears nothing"):
        await client.ask("undoCompaction", conversationId=made, compactionId=marker)
    path = (await client.ask("entries", conversationId=made))["entries"]
    assert "compaction" in [entry["type"] for entry in path]
    await client.ask("undoCompaction", conversationId=made)
    path = (await client.ask("entries", conversationId=made))["entries"]
    assert "compaction" not in [entry["type"] for entry in path]
