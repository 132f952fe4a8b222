"""System prompt, tools and skills count in the window and are listed in the usage's detail."""

from pathlib import Path
from typing import Any

from lsp.panel import READ, chatting
from models.provider_window import ScriptedReply

SYSTEM = "You are a coding agent. " * 100
SKILL = {"name": "release", "text": "Cut a release like this: " + "bump, tag, push. " * 100}
CARRIED: dict[str, Any] = {"system": SYSTEM, "tools": [READ], "skills": [SKILL]}


async def test_system_prompt_tools_and_skills_count_in_the_window(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedReply("Yes.")) as panel:
        await panel.append_turns(2_000)
        view = await panel.ask("usage", detail=True)
        request = await panel.ask("usage", detail=True, **CARRIED)
        carried = {part["kind"]: part["tokens"] for part in request["overhead"]}
        assert request["tokens"] == view["tokens"] + sum(carried.values())
        assert "overhead" not in view
        names = [(part["kind"], part.get("name")) for part in request["overhead"]]
        assert sorted(names) == [("skill", "release"), ("system", None), ("tool", "read")]
        breakdown = request["breakdown"]
        assert [breakdown[kind] for kind in ("system", "tools", "skills")] == [
            carried[kind] for kind in ("system", "tool", "skill")
        ]


async def test_a_skill_that_fills_the_window_makes_a_compaction_due(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedReply("Yes.")) as panel:
        await panel.append_turns(4_500)
        assert (await panel.ask("preparePrompt", prompt="Go on."))["compacted"] is False
        large = {"name": "manual", "text": "Read this first. " * 700}
        assert (await panel.ask("preparePrompt", prompt="Go on.", skills=[large]))["compacted"] is True


async def test_the_server_s_own_turn_sends_the_texts_of_its_skills(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedReply("Done.")) as panel:
        await panel.prompt("Release it.", system=SYSTEM, skills=[SKILL])
        sent = str(panel.provider.requests[-1].body)
        assert SKILL["text"].strip() in sent
        assert sent.index("You are a coding agent.") < sent.index("Cut a release")


async def test_pinned_messages_have_a_row_of_their_own_in_the_detail(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedReply("Yes.")) as panel:
        await panel.append_turns(5_000)
        first = (await panel.editor.entries(panel.about["conversationId"]))[0]
        await panel.ask("pin", entryId=first["id"], pinned=True)
        assert (await panel.ask("usage", detail=True))["breakdown"]["pins"] == 0
        await panel.ask("compact")
        detail = (await panel.ask("usage", detail=True))["breakdown"]
        assert 50 < detail["pins"] < 200
        assert detail["summary"] > 0
