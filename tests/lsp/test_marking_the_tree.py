"""Forks, labels, pins, compactions taken back, and what a sidebar and another window see of it all."""

from pathlib import Path
from typing import Any

import pytest
from lsp.editor import SETTINGS, editing, turn, user
from lsp.walk import CHANGED, Walk, begin, ids_to
from pygls.exceptions import JsonRpcException
from waiting import until


async def test_a_fork_holds_the_path_with_its_labels_and_pins(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk, ids = await begin(editor)
        await walk.ask("label", entryId=ids[1], label="good start")
        await walk.ask("label", entryId=ids[-1], label="not taken")
        await walk.ask("pin", entryId=ids[0], pinned=True)
        before = await walk.state()
        made = await walk.ask("conversation/fork", entryId=ids[2], position="before", name="Other")
        assert made["editorText"] == "second question"
        conversation = made["conversation"]
        assert conversation["parentConversationId"] == walk.about["conversationId"]
        assert (conversation["name"], conversation["leafId"]) == ("Other", ids[1])
        fork = Walk(editor, conversation["id"])
        nodes = {node["id"]: node for node in (await fork.ask("tree"))["nodes"]}
        assert nodes[ids[1]]["label"] == "good start"
        assert nodes[ids[0]]["pinned"] is True
        assert await fork.shown() == ids[:2]
        await editor.append(conversation["id"], [user("only in the fork")])
        assert await walk.state() == before
        at = await walk.ask("conversation/fork", entryId=ids[2])
        assert "editorText" not in at
        assert at["conversation"]["leafId"] == ids[2]
        created = [params for params in editor.notified(CHANGED) if "created" in params["changes"]]
        assert created[-1]["conversationId"] == at["conversation"]["id"]


async def test_a_label_names_a_branch_point_until_it_is_taken_away(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk, ids = await begin(editor)
        named = (await walk.ask("label", entryId=ids[1], label="start"))["entry"]
        assert (named["type"], named["targetId"], named["label"]) == ("label", ids[1], "start")
        assert await walk.leaf() == ids[-1]
        assert editor.notified(CHANGED)[-1]["changes"] == ["labels"]
        nodes = (await walk.ask("tree", mode="branches"))["nodes"]
        assert [node.get("label") for node in nodes] == ["start", None]
        await walk.ask("label", entryId=ids[1])
        nodes = (await walk.ask("tree", mode="branches"))["nodes"]
        assert [(node["id"], node["runLength"]) for node in nodes] == [(ids[-1], len(ids))]


async def test_a_pinned_message_stays_word_for_word_through_compactions(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk = Walk(editor, await editor.conversation())
        editor.open_gate()
        first = (await editor.entries(walk.about["conversationId"]))[0]
        await walk.ask("pin", entryId=first["id"], pinned=True)
        assert editor.notified(CHANGED)[-1]["changes"] == ["pins"]
        for number in range(2):
            done = await walk.ask("compact")
            context = await walk.ask("context")
            assert context["tokens"] == done["tokensAfter"]
            assert context["messages"][1] == {"entryId": first["id"], **first["message"]}
            more = [entry for one in range(10) for entry in turn(100 + 10 * number + one)]
            await editor.append(walk.about["conversationId"], more)
        await walk.ask("pin", entryId=first["id"], pinned=False)
        assert first["id"] not in await walk.shown()


async def test_pins_that_leave_no_room_are_refused_with_numbers(tmp_path: Path) -> None:
    async with editing(tmp_path, settings={**SETTINGS, "model": {"contextWindow": 4_000}}) as editor:
        walk, _ = await begin(editor)
        long = (await editor.append(walk.about["conversationId"], [user("z" * 40_000)]))["leafId"]
        before = await walk.state()
        with pytest.raises(JsonRpcException) as refused:
            await walk.ask("pin", entryId=long, pinned=True)
        assert refused.value.code == -32803
        data: Any = refused.value.data
        assert (data["code"], data["tokens"], data["pinnedTokens"]) == ("context-overflow", 10_000, 0)
        assert 0 < data["roomTokens"] < 4_000
        assert "10,000 tokens" in refused.value.message
        assert await walk.state() == before


async def test_a_compaction_is_undone_at_once_after_new_work_and_when_it_is_older(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk = Walk(editor, await editor.conversation())
        editor.open_gate()
        whole = await walk.shown()
        await walk.ask("compact")
        assert await walk.ask("undoCompaction") == {"leafId": whole[-1]}
        assert await walk.shown() == whole
        older = (await walk.ask("compact"))["entry"]["id"]
        more = [entry for number in range(10) for entry in turn(100 + number)]
        await editor.append(walk.about["conversationId"], more)
        newer = (await walk.ask("compact"))["entry"]
        compacted = (await walk.ask("context", format="text"))["messages"]
        await walk.ask("undoCompaction", compactionId=older)
        context = await walk.ask("context", format="text")
        assert context["messages"] == compacted
        assert context["compactionId"] not in (older, newer["id"])
        undone = await walk.ask("undoCompaction")
        assert len(await walk.shown()) == len(whole) + len(more)
        assert (await walk.shown())[-1] == undone["leafId"]
        assert (await walk.ask("compact"))["entry"]["parentId"] == undone["leafId"]
        ids = {node["id"] for node in (await walk.ask("tree", limit=1000))["nodes"]}
        assert {older, newer["id"]} < ids


async def test_what_was_summarized_away_can_be_gone_back_to_and_forked(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk = Walk(editor, await editor.conversation())
        editor.open_gate()
        ids = await walk.shown()
        await walk.ask("compact")
        assert ids[3] not in await walk.shown()
        made = await walk.ask("conversation/fork", entryId=ids[3])
        assert await Walk(editor, made["conversation"]["id"]).shown() == ids[:4]
        await walk.ask("navigate", targetId=ids[3])
        assert await walk.shown() == ids[:4]


async def test_a_sidebar_gets_branch_points_leaves_labels_and_compactions_in_pages(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        walk = Walk(editor, await editor.conversation())
        editor.open_gate()
        ids = await ids_to(walk, str(await walk.leaf()))
        compaction = (await walk.ask("compact"))["entry"]["id"]
        after = (await editor.append(walk.about["conversationId"], turn(200)))["entryIds"]
        await walk.ask("label", entryId=ids[9], label="turn five")
        await walk.ask("pin", entryId=after[0], pinned=True)
        side = (await walk.ask("append", entries=turn(300), parentId=ids[19]))["entryIds"]
        listing = await walk.ask("tree", mode="branches")
        nodes = {node["id"]: node for node in listing["nodes"]}
        assert list(nodes) == [ids[9], ids[19], compaction, after[1], side[1]]
        assert [node["parentId"] for node in nodes.values()] == [None, ids[9], ids[19], compaction, ids[19]]
        assert [node["runLength"] for node in nodes.values()] == [10, 10, 41, 2, 2]
        assert [node["childCount"] for node in nodes.values()] == [1, 2, 1, 0, 0]
        assert [node["onCurrentPath"] for node in nodes.values()] == [True, True, False, False, True]
        assert nodes[ids[9]]["label"] == "turn five"
        assert nodes[compaction]["type"] == "compaction"
        assert (nodes[side[1]]["type"], nodes[side[1]]["role"]) == ("message", "assistant")
        assert nodes[side[1]]["preview"].startswith("Part 300 now holds")
        assert all(node["tokens"] > 0 and node["timestamp"] for node in nodes.values())
        assert listing["leafId"] == side[1]
        paged: list[Any] = []
        following: dict[str, str] = {}
        while True:
            page = await walk.ask("tree", mode="branches", limit=2, **following)
            paged += page["nodes"]
            if "nextAfter" not in page:
                break
            following = {"after": page["nextAfter"]}
        assert paged == listing["nodes"]


async def test_what_one_window_does_the_other_is_notified_of(tmp_path: Path) -> None:
    async with editing(tmp_path) as one, editing(tmp_path) as other:
        walk, ids = await begin(one)
        seen = Walk(other, walk.about["conversationId"])
        assert await seen.leaf() == ids[-1]

        async def notified_of(*changes: str) -> Any:
            """The other window's last notification of a change, which may come in parts."""

            def received() -> bool:
                return set(changes) <= {
                    kind for params in other.notified(CHANGED) for kind in params["changes"]
                }

            await until(received)
            last = other.notified(CHANGED)[-1]
            other.received.clear()
            return last

        await walk.ask("conversation/rename", name="Named")
        await notified_of("name")
        await walk.ask("navigate", targetId=ids[1])
        assert (await notified_of("leaf"))["leafId"] == ids[1] == await seen.leaf()
        with pytest.raises(JsonRpcException) as refused:
            await seen.ask("append", entries=[user("late")], expectedLeafId=ids[-1])
        data: Any = refused.value.data
        assert (refused.value.code, data["code"], data["leafId"]) == (-32803, "stale-leaf", ids[1])
        await walk.ask("label", entryId=ids[1], label="here")
        await notified_of("labels")
        await walk.ask("pin", entryId=ids[1], pinned=True)
        await notified_of("pins")
        back = await walk.ask("navigate", targetId=ids[-1], label="back")
        assert (await notified_of("leaf", "labels"))["leafId"] == back["leafId"]
        summary = await walk.ask("navigate", targetId=ids[1], summarize=True)
        assert (await notified_of("leaf", "entries"))["leafId"] == summary["leafId"]
        fork = await walk.ask("conversation/fork", entryId=ids[1])
        assert (await notified_of("created"))["conversationId"] == fork["conversation"]["id"]
        assert (await seen.ask("tree"))["nodes"] == (await walk.ask("tree"))["nodes"]
