"""The sub-agents of Gemini CLI and Copilot CLI are conversations of their own, linked to their parents."""

import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client
from session_samples import TIME, Json

from coppice.errors import StorageFailedError
from coppice.formats import lines as json_lines
from coppice.service.conversations.looking import Look
from coppice.service.conversations.transcript_storing import TranscriptStorer
from coppice.settings import SourceSettings
from coppice.sources.agent import Transcript
from coppice.sources.registry import AGENTS
from coppice.store.search.indexing import EVERYTHING
from coppice.store.transcript_catalog import Reading, TranscriptCatalog

NUMBERS = count()
ONE, TWO = "11111111-aaaa-4000-8000-000000000001", "22222222-bbbb-4000-8000-000000000002"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's; the agents' folders are in a home next to it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "home" / ".copilot"))
    made = tmp_path / "project"
    made.mkdir()
    return made


def write(path: Path, *records: Json) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")


async def stored(client: Client, folder: Path) -> dict[str, Json]:
    """The conversations by the ids that their agent gave them."""
    page = await client.ask("conversation/list", workspaceUri=folder.as_uri())
    return {each["source"]["sessionId"]: each for each in page["conversations"]}


def gemini_chat(session: str, kind: str, text: str) -> list[Json]:
    header = {"sessionId": session, "projectHash": "0", "startTime": TIME, "kind": kind}
    return [header, {"id": "u", "timestamp": TIME, "type": "user", "content": [{"text": text}]}]


async def test_a_sub_agent_of_gemini_is_linked_to_its_session(client: Client, folder: Path) -> None:
    place = folder.parent / "home" / ".gemini" / "tmp" / "project"
    write(place / "chats" / f"session-2026-03-01T10-00-{ONE[:8]}.jsonl", *gemini_chat(ONE, "main", "go"))
    write(place / "chats" / f"session-2026-03-02T10-00-{ONE[:8]}.jsonl", gemini_chat(ONE, "main", "")[0])
    write(place / "chats" / ONE / f"{TWO}.jsonl", *gemini_chat(TWO, "subagent", "Find the port."))
    (place / ".project_root").write_text(str(folder))
    await client.service.following.update(folder.as_uri())
    conversations = await stored(client, folder)
    session = conversations[f"session-2026-03-01T10-00-{ONE[:8]}"]
    assert conversations[TWO]["parentConversationId"] == session["id"]
    assert len(conversations) == 2


def codex_rollout(folder: Path, thread: str, text: str, **meta: Any) -> None:
    path = folder.parent / "home" / ".codex" / "sessions" / f"rollout-2026-03-01T10-00-00-{thread}.jsonl"
    about = {"id": thread, "timestamp": TIME, "cwd": str(folder), "originator": "codex", **meta}
    content = [{"type": "input_text", "text": text}]
    words = {"type": "message", "role": "user", "content": content}
    write(
        path,
        {"timestamp": TIME, "type": "session_meta", "payload": about},
        {"timestamp": TIME, "type": "response_item", "payload": words},
    )


async def test_a_sub_agent_of_codex_is_linked_to_its_session(
    client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(folder.parent / "home" / ".codex"))
    codex_rollout(folder, ONE, "go", source="exec")
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": ONE, "depth": 1}}}
    codex_rollout(folder, TWO, "Find the port.", source=spawned)
    await client.service.following.update(folder.as_uri())
    conversations = await stored(client, folder)
    assert conversations[TWO]["parentConversationId"] == conversations[ONE]["id"]
    assert "parentConversationId" not in conversations[ONE]


def event(kind: str, agent: str | None = None, **data: Any) -> Json:
    own = {} if agent is None else {"agentId": agent}
    return {"type": kind, "data": data, **own, "id": f"e{next(NUMBERS)}", "timestamp": TIME, "parentId": None}


def started(agent: str, **data: Any) -> list[Json]:
    return [event("subagent.started", agent, **data), event("user.message", agent, content="Find it.")]


def session_of(folder: Path, key: str = "s-1") -> tuple[Path, list[Json]]:
    """The file of a session that starts a sub-agent, which starts another."""
    path = folder.parent / "home" / ".copilot" / "session-state" / key / "events.jsonl"
    begun = event("session.start", sessionId=key, startTime=TIME, context={"cwd": str(folder)})
    user = event("user.message", content="go")
    return path, [begun, user, *started("sub-1", toolCallId="t"), *started("sub-2", parentId="sub-1")]


async def test_each_sub_agent_of_copilot_is_linked_to_what_started_it(client: Client, folder: Path) -> None:
    path, events = session_of(folder)
    write(path, *events)
    await client.service.following.update(folder.as_uri())
    conversations = await stored(client, folder)
    assert set(conversations) == {"s-1", "s-1/sub-1", "s-1/sub-2"}
    assert conversations["s-1/sub-1"]["parentConversationId"] == conversations["s-1"]["id"]
    assert conversations["s-1/sub-2"]["parentConversationId"] == conversations["s-1/sub-1"]["id"]
    assert [each["entryCount"] for each in conversations.values()] == [1, 1, 1]
    assert conversations["s-1"]["firstMessage"] == "go"


async def test_a_sub_agent_of_copilot_is_read_when_it_has_gone_on(client: Client, folder: Path) -> None:
    path, events = session_of(folder)
    write(path, *events)
    following = client.service.following
    assert (await following.update(folder.as_uri())).read == 3
    write(path, *events, event("assistant.message", "sub-1", content="48117"))
    updated = await following.update(folder.as_uri())
    conversations = await stored(client, folder)
    assert updated.read == 2  # with the session, whose file has grown
    assert updated.extended == [conversations["s-1/sub-1"]["id"]]
    assert conversations["s-1/sub-1"]["entryCount"] == 2


async def test_another_process_knows_the_sub_agents_of_a_session_without_reading_it(
    client: Client, folder: Path, data_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, events = session_of(folder)
    write(path, *events)
    await client.service.following.update(folder.as_uri())
    (copilot,) = (agent for agent in AGENTS if agent.name == "copilot")
    monkeypatch.setattr(type(copilot), "parts", lambda *_: pytest.fail("the file was read"))
    catalog = TranscriptCatalog(data_directory)
    assert catalog.readings()
    look = Look(folder.as_uri(), SourceSettings(), catalog)
    followed = look.changed(lambda: None)
    assert sorted(each.reading.key for each in followed) == ["s-1", "s-1/sub-1", "s-1/sub-2"]
    assert all(each.is_current for each in followed)


async def test_a_sub_agent_that_could_not_be_read_is_read_by_another_process(
    client: Client, folder: Path, data_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, events = session_of(folder)
    write(path, *events)
    await client.service.following.update(folder.as_uri())
    write(path, *events, event("assistant.message", "sub-1", content="48117"))
    take = TranscriptStorer.stored

    def fail(self: TranscriptStorer, transcript: Transcript, format_: str, last: Reading) -> Reading:
        if transcript.part is not None:
            raise StorageFailedError("It is locked.")
        return take(self, transcript, format_, last)

    monkeypatch.setattr(TranscriptStorer, "stored", fail)
    updated = await client.service.following.update(folder.as_uri())
    assert updated.problems == ["events.jsonl: It is locked."]
    look = Look(folder.as_uri(), SourceSettings(), TranscriptCatalog(data_directory))
    assert [each.reading.key for each in look.changed(lambda: None) if not each.is_current] == ["s-1/sub-1"]


async def test_a_sub_agent_of_copilot_that_was_deleted_is_not_brought_back(
    client: Client, folder: Path
) -> None:
    path, events = session_of(folder)
    write(path, *events)
    following = client.service.following
    await following.update(folder.as_uri())
    deleted = (await stored(client, folder))["s-1/sub-2"]
    await following.forget(conversation_id=deleted["id"])
    for _ in range(2):
        events += [
            event("assistant.message", "sub-2", content="48117"),
            event("user.message", content="go on"),
        ]
        write(path, *events)
        await following.update(folder.as_uri())
    conversations = await stored(client, folder)
    assert set(conversations) == {"s-1", "s-1/sub-1"}
    assert conversations["s-1"]["entryCount"] == 3


async def test_the_sub_agents_of_a_session_that_was_deleted_stay_as_they_are(
    client: Client, folder: Path
) -> None:
    path, events = session_of(folder)
    write(path, *events)
    following = client.service.following
    await following.update(folder.as_uri())
    await following.forget(conversation_id=(await stored(client, folder))["s-1"]["id"])
    write(path, *events, event("assistant.message", "sub-1", content="48117"), *started("sub-3"))
    assert (await following.update(folder.as_uri())).read == 0
    assert (await following.update(None)).read == 0
    assert set(await stored(client, folder)) == {"s-1/sub-1", "s-1/sub-2"}
    there = await following.transcripts()
    assert {each.reading.key for each in there if each.transcript} == {"s-1", "s-1/sub-1", "s-1/sub-2"}


async def test_what_looks_like_a_sub_agent_starts_no_conversation(client: Client, folder: Path) -> None:
    path, events = session_of(folder)
    named = event("assistant.message", content="", toolRequests=[{"agentId": "x", "say": "subagent.started"}])
    odd = [
        event("subagent.started", name) for name in ("", "../x", "a/b", "x" * 200, 'x","agentId":"y', None)
    ]
    own = event("subagent.started", "sub-1", parentId="nobody")
    write(path, *events[:2], named, *odd, own, event("user.message", "sub-1", content="Find it."))
    await client.service.following.update(folder.as_uri())
    conversations = await stored(client, folder)
    assert set(conversations) == {"s-1", "s-1/sub-1"}
    assert conversations["s-1/sub-1"]["parentConversationId"] == conversations["s-1"]["id"]


async def test_no_line_is_read_for_more_than_one_sub_agent(
    client: Client, folder: Path, data_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, events = session_of(folder)
    agents = [f"agent-{number}" for number in range(5)]
    census = event("assistant.message", content="census", agents=[{"agentId": each} for each in agents])
    begun = [each for agent in agents for each in started(agent)]
    replies = [event("assistant.message", agent, content=f"I am {agent}.") for agent in agents]
    write(path, *events[:2], *begun, census, *replies)
    parsed: list[bytes] = []
    parse = json_lines.parse_object

    def watched(data: bytes) -> tuple[Json, list[str]]:
        parsed.append(data)
        return parse(data)

    monkeypatch.setattr(json_lines, "parse_object", watched)

    async def check(workspace: str | None) -> None:
        parsed.clear()
        updated = await client.service.following.update(workspace)
        assert (updated.read, updated.problems) == (6, [])
        assert sum(b"census" in line for line in parsed) == 2  # for the session itself, which is read twice
        counts = {key: each["entryCount"] for key, each in (await stored(client, folder)).items()}
        assert counts == {"s-1": 2, **{f"s-1/{agent}": 2 for agent in agents}}

    await check(folder.as_uri())
    catalog = TranscriptCatalog(data_directory)
    catalog.put([replace(each, store="another") for each in catalog.readings().values()])
    await check(None)  # of which no look has been taken


async def test_a_sub_agent_is_as_long_as_its_own_lines(folder: Path) -> None:
    path, events = session_of(folder)
    write(path, *events, event("assistant.message", content="x" * 100_000), *events[4:])
    (copilot,) = (agent for agent in AGENTS if agent.name == "copilot")
    session = Transcript("copilot", "s-1", str(path), "stamp", path.stat().st_size, 0)
    _, second = copilot.parts(session, lambda *_: None)
    assert second.size == 2 * len("".join(f"{json.dumps(each)}\n" for each in events[4:]))


async def test_the_beginning_of_an_id_names_the_session_before_its_sub_agents(
    client: Client, folder: Path
) -> None:
    path, events = session_of(folder, ONE)
    write(path, *events)
    await client.service.following.update(folder.as_uri())
    ids = {key: each["id"] for key, each in (await stored(client, folder)).items()}
    store = client.service.stores.of_workspace(folder.as_uri())
    begun = store.named_conversations(EVERYTHING, ONE[:8])
    assert (begun[0], {*begun}) == (ids[ONE], {*ids.values()})
    assert store.named_conversations(EVERYTHING, f"{ONE}/sub-1") == [ids[f"{ONE}/sub-1"]]
