"""Whoever is asked before a navigation or a fork."""

from typing import Any

import pytest
from conftest_service import Client, MakeClient
from service.hook_kit import SETTINGS, SUMMARY, Listening, entries, extended, grown, with_editor

from coppice.errors import CancelledByHookError, UnknownEntryError


@pytest.mark.parametrize("summarize", [False, True])
async def test_a_navigation_is_announced_whether_or_not_a_summary_is_wanted(
    make_client: MakeClient, *, summarize: bool
) -> None:
    client, editor = await with_editor(make_client, None)
    made = await grown(client)
    path = [entry["id"] for entry in await entries(client, made)]
    done = await client.ask("navigate", conversationId=made, targetId=path[6], summarize=summarize)
    assert done["cancelled"] is False
    params = editor.asked[0][1]
    assert [entry["id"] for entry in params.pop("entries")] == path[7:]
    assert params.pop("text").startswith("[User]: ")
    assert editor.asked == [
        (
            "coppice/willNavigate",
            {
                "conversationId": made,
                "targetId": path[6],
                "oldLeafId": path[-1],
                "commonAncestorId": path[6],
                "entriesToSummarize": path[7:],
                "userWantsSummary": summarize,
            },
        )
    ]
    await client.ask("navigate", conversationId=made, targetId=done["leafId"])
    assert len(editor.asked) == 1


async def test_a_hook_can_stop_a_navigation(make_client: MakeClient) -> None:
    client, _ = await with_editor(make_client, {"cancel": True})
    made = await grown(client)
    path = [entry["id"] for entry in await entries(client, made)]
    for summarize in (False, True):
        done = await client.ask("navigate", conversationId=made, targetId=path[6], summarize=summarize)
        assert done == {"leafId": path[-1], "cancelled": True}
    assert [entry["id"] for entry in await entries(client, made)] == path


@pytest.mark.parametrize("summarize", [False, True])
async def test_a_hook_s_branch_summary_and_label_are_stored(
    make_client: MakeClient, *, summarize: bool
) -> None:
    answer = {"summary": {"summary": SUMMARY, "details": {"ticket": "T-1"}}, "label": "the parts"}
    client, _ = await with_editor(make_client, answer)
    made = await grown(client)
    path = [entry["id"] for entry in await entries(client, made)]
    left = [{"path": "src/a.py", "kind": "created", "onDisk": "all"}]
    done = await client.ask(
        "navigate", conversationId=made, targetId=path[0], summarize=summarize, branchFiles=left
    )
    entry = done["summaryEntry"]
    assert "- src/a.py: created; still so on disk" in entry["summary"]
    assert (entry["fromHook"], entry["fromId"], entry["details"]["ticket"]) == (True, path[-1], "T-1")
    assert entry["details"]["readFiles"] == ["src/a.py"]
    assert entry["summary"].startswith(SUMMARY)
    assert done["warnings"] == []
    nodes = (await client.ask("tree", conversationId=made))["nodes"]
    assert [node["label"] for node in nodes if node["id"] == entry["id"]] == ["the parts"]


async def test_whoever_navigates_names_the_branch(make_client: MakeClient) -> None:
    client, _ = await with_editor(make_client, {"label": "a hook's"})
    made = await grown(client)
    path = [entry["id"] for entry in await entries(client, made)]
    await client.ask("navigate", conversationId=made, targetId=path[6], label="a person's")
    nodes = (await client.ask("tree", conversationId=made))["nodes"]
    assert [node["label"] for node in nodes if "label" in node] == ["a person's"]


@pytest.mark.parametrize("answer", [{"summary": {"summary": "long " * 20_000}}, {"summary": {"summary": ""}}])
async def test_a_branch_summary_that_is_none_leaves_it_to_us(make_client: MakeClient, answer: Any) -> None:
    client, _ = await with_editor(make_client, answer)
    made = await grown(client)
    path = [entry["id"] for entry in await entries(client, made)]
    done = await client.ask("navigate", conversationId=made, targetId=path[6], summarize=True)
    assert "fromHook" not in done["summaryEntry"]
    assert "not used" in done["warnings"][0]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"instructions": "more"}, ("mine\n\nmore", False)),
        ({"instructions": "more", "replaceInstructions": True}, ("more", True)),
        ({"replaceInstructions": True}, ("mine", False)),
    ],
)
async def test_a_hook_adds_to_the_instructions_or_replaces_them(
    make_client: MakeClient, answer: Any, expected: tuple[str, bool]
) -> None:
    class Asked(Listening):
        replaced = False

        async def summarize(self, request: Any) -> Any:
            self.replaced = request.replace_instructions
            return await super().summarize(request)

    asked = Asked()
    plugins, _ = extended(answer)
    client: Client = await make_client(SETTINGS, asked, plugins)
    made = await grown(client)
    path = [entry["id"] for entry in await entries(client, made)]
    await client.ask("navigate", conversationId=made, targetId=path[6], summarize=True, instructions="mine")
    assert (asked.instructions[0], asked.replaced) == expected


async def test_a_hook_can_stop_a_fork(make_client: MakeClient) -> None:
    client, editor = await with_editor(make_client, {"cancel": True})
    made = await grown(client)
    path = [entry["id"] for entry in await entries(client, made)]
    with pytest.raises(CancelledByHookError):
        await client.ask("conversation/fork", conversationId=made, entryId=path[3], position="before")
    asked = {"conversationId": made, "entryId": path[3], "position": "before"}
    assert editor.asked == [("coppice/willFork", asked)]
    assert len((await client.ask("conversation/list"))["conversations"]) == 1
    with pytest.raises(UnknownEntryError):
        await client.ask("conversation/fork", conversationId=made, entryId="nobody")
    assert len(editor.asked) == 1
