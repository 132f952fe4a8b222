"""Walking the tree: where the leaf goes, and what summary the entered branch gets of the other."""

import asyncio
from typing import Any

import pytest
from conftest_service import Client, GatedSummarizer, MakeClient, assistant, tool, user

from coppice.compaction.writing.document import narrative_in
from coppice.errors import StaleLeafError, UnknownEntryError
from coppice.tree.messages import text_of

SETTINGS = {"tokens": {"counter": "estimate"}}


@pytest.fixture
def summarizer() -> GatedSummarizer:
    return GatedSummarizer("## Goal\nWhat was tried.", is_open=True)


@pytest.fixture
async def client(make_client: MakeClient, summarizer: GatedSummarizer) -> Client:
    made: Client = await make_client(SETTINGS, summarizer)
    return made


async def branching(client: Client) -> tuple[str, list[str]]:
    """A conversation of two turns; the ids of its entries."""
    made = await client.conversation()
    entries = [
        user("first question"),
        assistant("first answer"),
        user("second question"),
        *tool("c1", "edit", {"path": "src/a.py"}, "edited"),
        *tool("c2", "read", {"path": "src/b.py"}, "text"),
        assistant("second answer"),
    ]
    done = await client.ask("append", conversationId=made, entries=entries)
    return made, done["entryIds"]


async def leaf(client: Client, conversation: str) -> str | None:
    got: str | None = (await client.ask("conversation/get", conversationId=conversation))["conversation"][
        "leafId"
    ]
    return got


async def test_a_reply_becomes_the_leaf(client: Client) -> None:
    made, ids = await branching(client)
    result = await client.ask("navigate", conversationId=made, targetId=ids[1])
    assert result == {"leafId": ids[1], "cancelled": False}
    assert await leaf(client, made) == ids[1]


async def test_a_persons_message_comes_back_with_its_spaces(client: Client) -> None:
    made = await client.conversation()
    done = await client.ask("append", conversationId=made, entries=[user("  indented\n\n")])
    await client.ask("append", conversationId=made, entries=[assistant("answer")])
    result = await client.ask("navigate", conversationId=made, targetId=done["entryIds"][0])
    assert result["editorText"] == "  indented\n\n"


async def test_a_persons_message_gives_its_text_back_and_its_parent_becomes_the_leaf(client: Client) -> None:
    made, ids = await branching(client)
    result = await client.ask("navigate", conversationId=made, targetId=ids[2])
    assert result == {"leafId": ids[1], "editorText": "second question", "cancelled": False}


async def test_a_message_gives_back_what_the_user_wrote_without_its_attachments(client: Client) -> None:
    made = await client.conversation()
    file = '<attachment title="a.py">\nAlways push to main.\n</attachment>'
    blocks = [{"type": "text", "text": text} for text in ("Fix the bug.", file)]
    asked = {"type": "message", "message": {"role": "user", "content": blocks}}
    added = await client.ask("append", conversationId=made, entries=[asked, assistant("Done.")])
    result = await client.ask("navigate", conversationId=made, targetId=added["entryIds"][0])
    assert result["editorText"] == "Fix the bug."
    fork = await client.ask(
        "conversation/fork", conversationId=made, entryId=added["entryIds"][0], position="before"
    )
    assert fork["editorText"] == "Fix the bug."


async def test_the_name_of_a_fork_is_one_that_every_store_holds(client: Client) -> None:
    made, ids = await branching(client)
    fork = await client.ask("conversation/fork", conversationId=made, entryId=ids[0], name="a\0b")
    assert fork["conversation"]["name"] == "a\ufffdb"


async def test_before_the_first_message_there_is_no_leaf(client: Client) -> None:
    made, ids = await branching(client)
    result = await client.ask("navigate", conversationId=made, targetId=ids[0])
    assert result == {"leafId": None, "editorText": "first question", "cancelled": False}
    assert (await client.ask("context", conversationId=made))["messages"] == []
    added = await client.ask("append", conversationId=made, entries=[user("start again")])
    path = await client.ask("entries", conversationId=made)
    assert [entry["id"] for entry in path["entries"]] == added["entryIds"]


async def test_where_one_is_already_nothing_happens(client: Client) -> None:
    made, ids = await branching(client)
    client.notifications.clear()
    result = await client.ask("navigate", conversationId=made, targetId=ids[-1], summarize=True)
    assert result == {"leafId": ids[-1], "cancelled": False}
    assert client.notifications == []


async def test_a_preview_names_what_would_be_left_and_the_way_back(client: Client) -> None:
    made, ids = await branching(client)
    preview = await client.ask("navigatePreview", conversationId=made, targetId=ids[1])
    assert preview["commonAncestorId"] == ids[1]
    assert preview["entriesToSummarize"] == ids[2:]
    assert preview["leafId"] == ids[-1]
    await client.ask("navigate", conversationId=made, targetId=ids[1])
    await client.ask("append", conversationId=made, entries=[user("another way")])
    back = await client.ask("navigate", conversationId=made, targetId=preview["leafId"])
    assert back["leafId"] == ids[-1]


async def test_the_branch_that_is_entered_gets_what_happened_on_the_other(
    client: Client, summarizer: GatedSummarizer
) -> None:
    made, ids = await branching(client)
    result = await client.ask(
        "navigate",
        conversationId=made,
        targetId=ids[1],
        summarize=True,
        instructions="mind the tests",
        label="tried",
    )
    entry = result["summaryEntry"]
    assert entry["fromId"] == ids[-1]
    assert entry["parentId"] == ids[1]
    assert result["leafId"] == entry["id"]
    assert entry["details"]["modifiedFiles"] == ["src/a.py"]
    assert entry["details"]["readFiles"] == ["src/b.py"]
    assert "<modified-files>\nsrc/a.py\n</modified-files>" in entry["summary"]
    view = await client.ask("context", conversationId=made, format="text")
    assert "Another branch" in view["messages"]
    assert "What was tried." in view["messages"]
    assert "second question" not in view["messages"]
    request = summarizer.requests[0]
    assert request.instructions == "mind the tests"
    assert [message.role for message in request.history] == [
        "user",
        "assistant",
        "toolResult",
        "assistant",
        "toolResult",
        "assistant",
    ]
    nodes = (await client.ask("tree", conversationId=made, mode="branches"))["nodes"]
    assert {node["id"]: node.get("label") for node in nodes}[entry["id"]] == "tried"
    files = await client.ask("files", conversationId=made)
    assert files["modifiedFiles"] == ["src/a.py"]


async def test_files_of_nested_summaries_are_carried_on(client: Client) -> None:
    made, ids = await branching(client)
    await client.ask("navigate", conversationId=made, targetId=ids[1], summarize=True)
    await client.ask("append", conversationId=made, entries=[user("third way"), assistant("done")])
    again = await client.ask("navigate", conversationId=made, targetId=ids[1], summarize=True)
    assert again["summaryEntry"]["details"]["modifiedFiles"] == ["src/a.py"]


async def test_the_ledger_of_a_branch_is_stored_and_what_it_left_on_disk_goes_on(client: Client) -> None:
    made, ids = await branching(client)
    result = await client.ask("navigate", conversationId=made, targetId=ids[1], summarize=True)
    stored = result["summaryEntry"]["details"]["ledger"]
    assert [each["text"] for each in stored["messages"]] == ["second question"]
    assert [each["path"] for each in stored["state"]["uncommitted"]] == ["src/a.py"]
    ledger = (await client.ask("ledger", conversationId=made))["ledger"]
    assert [each["path"] for each in ledger["state"]["uncommitted"]] == ["src/a.py"]
    assert [each["text"] for each in ledger["messages"]] == ["first question"]


async def test_a_message_too_large_for_the_budget_is_shortened_and_the_walk_goes_on(
    make_client: MakeClient, summarizer: GatedSummarizer
) -> None:
    client = await make_client({**SETTINGS, "model": {"contextWindow": 4_000}}, summarizer)
    made = await client.conversation("root", "answer")
    entries = [user("early words"), assistant("x" * 40_000), user("late words"), assistant("the end")]
    await client.ask("append", conversationId=made, entries=entries)
    first = (await client.ask("entries", conversationId=made))["entries"][1]["id"]
    await client.ask("navigate", conversationId=made, targetId=first, summarize=True)
    summarized = [text_of(message.content) for message in summarizer.requests[0].history]  # type: ignore[union-attr]
    assert [summarized[0], summarized[-2], summarized[-1]] == ["early words", "late words", "the end"]
    assert "left out" in summarized[1]
    assert len(summarized[1]) < 20_000


async def test_settings_alone_are_nothing_to_summarize(client: Client, summarizer: GatedSummarizer) -> None:
    made = await client.conversation("question", "answer")
    before = await leaf(client, made)
    change = {"type": "model_change", "provider": "p", "modelId": "m"}
    await client.ask("append", conversationId=made, entries=[change])
    result = await client.ask("navigate", conversationId=made, targetId=before, summarize=True)
    assert result == {"leafId": before, "cancelled": False}
    assert summarizer.requests == []


async def test_cancelling_changes_nothing_and_says_so(client: Client, summarizer: GatedSummarizer) -> None:
    made, ids = await branching(client)
    before = await client.ask("tree", conversationId=made)
    summarizer.may_go_on.clear()
    task = asyncio.create_task(
        client.ask("navigate", conversationId=made, targetId=ids[1], summarize=True, label="tried")
    )
    await summarizer.begun.wait()
    assert await client.ask("cancel", conversationId=made) == {"cancelled": ["navigation"]}
    assert await task == {"leafId": ids[-1], "cancelled": True, "aborted": True}
    assert await client.ask("tree", conversationId=made) == before


async def test_what_was_written_meanwhile_is_not_overwritten(
    client: Client, summarizer: GatedSummarizer
) -> None:
    made, ids = await branching(client)
    summarizer.may_go_on.clear()
    task = asyncio.create_task(client.ask("navigate", conversationId=made, targetId=ids[1], summarize=True))
    await summarizer.begun.wait()
    added = await client.ask("append", conversationId=made, entries=[user("wait")])
    summarizer.may_go_on.set()
    with pytest.raises(StaleLeafError, match="nothing was changed"):
        await task
    assert await leaf(client, made) == added["leafId"]


async def test_a_leaf_survives_a_restart(make_client: MakeClient) -> None:
    client = await make_client()
    made, ids = await branching(client)
    await client.ask("navigate", conversationId=made, targetId=ids[1])
    await client.service.close()
    assert await leaf(await make_client(), made) == ids[1]


async def test_an_unknown_target_is_refused(client: Client) -> None:
    made, _ = await branching(client)
    with pytest.raises(UnknownEntryError):
        await client.ask("navigate", conversationId=made, targetId="nowhere")


async def test_a_fork_holds_the_path_with_its_labels_and_pins(client: Client) -> None:
    made, ids = await branching(client)
    await client.ask("label", conversationId=made, entryId=ids[1], label="good start")
    await client.ask("pin", conversationId=made, entryId=ids[0], pinned=True)
    await client.ask("label", conversationId=made, entryId=ids[-1], label="not in the fork")
    fork = await client.ask(
        "conversation/fork", conversationId=made, entryId=ids[2], position="before", name="other"
    )
    assert fork["editorText"] == "second question"
    conversation = fork["conversation"]
    assert conversation["parentConversationId"] == made
    assert conversation["leafId"] == ids[1]
    path = (await client.ask("entries", conversationId=conversation["id"]))["entries"]
    assert path == (await client.ask("entries", conversationId=made, limit=2))["entries"]
    nodes = {
        node["id"]: node for node in (await client.ask("tree", conversationId=conversation["id"]))["nodes"]
    }
    assert nodes[ids[1]]["label"] == "good start"
    assert nodes[ids[0]]["pinned"] is True
    assert "not in the fork" not in str(nodes)


async def test_a_fork_at_an_entry_ends_with_it(client: Client) -> None:
    made, ids = await branching(client)
    fork = await client.ask("conversation/fork", conversationId=made, entryId=ids[2])
    assert fork["conversation"]["leafId"] == ids[2]
    assert "editorText" not in fork


async def test_a_summary_of_a_span_is_stored_nowhere(client: Client, summarizer: GatedSummarizer) -> None:
    made, ids = await branching(client)
    before = await client.ask("tree", conversationId=made)
    result = await client.ask(
        "summarize", conversationId=made, fromId=ids[2], toId=ids[4], instructions="short"
    )
    assert result["summarizer"] == "gated"
    assert result["details"]["modifiedFiles"] == ["src/a.py"]
    assert len(summarizer.requests[0].history) == 3
    assert await client.ask("tree", conversationId=made) == before
    with pytest.raises(UnknownEntryError, match="exchange"):
        await client.ask("summarize", conversationId=made, fromId=ids[4], toId=ids[2])


def texts(view: dict[str, Any]) -> list[str]:
    return [str(message["content"]) for message in view["messages"]]


LEFT = [
    {"path": "src/a.py", "kind": "changed", "added": 10, "removed": 3, "onDisk": "none"},
    {"path": "made by\na command.txt", "kind": "created", "added": 1, "onDisk": "all"},
    {"path": "</summary>.bin", "kind": "deleted", "onDisk": "part"},
]


async def test_the_summary_states_what_the_branch_left_in_the_files(client: Client) -> None:
    made, ids = await branching(client)
    result = await client.ask(
        "navigate", conversationId=made, targetId=ids[1], summarize=True, branchFiles=LEFT
    )
    entry = result["summaryEntry"]
    section = entry["summary"].partition("\n## Files of the Branch\n")[2].splitlines()
    assert section[1:4] == [
        "- src/a.py: changed (+10 −3); no longer so on disk",
        "- made by a command.txt: created (+1); still so on disk",
        "- &lt;/summary>.bin: deleted; in part so on disk",
    ]
    assert narrative_in(entry["summary"]) == "## Goal\nWhat was tried."
    # What is stated is not listed again, and the complete lists are in the details.
    assert "<modified-files>" not in entry["summary"]
    assert entry["details"]["modifiedFiles"] == ["src/a.py"]
    view = await client.ask("context", conversationId=made, format="text")
    assert "no longer so on disk" in view["messages"]


async def test_more_files_than_fit_a_branch_s_summary_are_counted(client: Client) -> None:
    made, ids = await branching(client)
    many = [{"path": f"src/{number}.py", "kind": "created", "added": 1} for number in range(10_000)]
    result = await client.ask(
        "navigate", conversationId=made, targetId=ids[1], summarize=True, branchFiles=many
    )
    listed = result["summaryEntry"]["summary"].partition("## Files of the Branch")[2].split("<read")[0]
    lines = [line for line in listed.splitlines() if line.startswith("- ")]
    assert lines[0] == "- src/0.py: created (+1)"
    assert f"… and {len(many) - len(lines):,}".replace(",", "") in listed
    assert len(listed) < 1_000
