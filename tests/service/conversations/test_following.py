"""Transcripts of other agents as stored conversations."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client
from session_samples import HEADER, TIME, Json, call_block, message_record, prompt, reply, text_block

from coppice.errors import ImportPausedError, StorageFailedError
from coppice.formats import claude_code, pi
from coppice.formats.claude_records import Record
from coppice.formats.claude_tree import Tree
from coppice.formats.lines import dump_line
from coppice.service.conversations import transcript_storing
from coppice.service.conversations.transcript_storing import SETTLED_SECONDS
from coppice.store.store import Store
from coppice.store.tree.importing import ImportWriter

Turns = list[Json]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the agents keep their transcripts."""
    for variable, name in (
        ("CLAUDE_CONFIG_DIR", "claude"),
        ("CODEX_HOME", "codex"),
        ("PI_CODING_AGENT_DIR", "pi"),
    ):
        monkeypatch.setenv(variable, str(tmp_path / "agents" / name))
    return tmp_path / "agents"


def turns(folder: Path, count: int) -> Turns:
    records: Turns = []
    for n in range(count):
        records.append(prompt(f"p{n}", f"a{n - 1}" if n else None, f"question {n}"))
        answer = reply(f"a{n}", f"p{n}", f"m{n}", text_block(f"answer {n}"), stop_reason="end_turn")
        records.append(answer)
    return [{**each, "cwd": str(folder)} for each in records]


def write(agents: Path, folder: Path, records: Turns, name: str = "s1") -> Path:
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(folder))
    path = agents / "claude" / "projects" / slug / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")
    return path


async def stored(client: Client, folder: Path) -> list[Json]:
    page = await client.ask("conversation/list", workspaceUri=folder.as_uri())
    return list(page["conversations"])


def path_of(client: Client, conversation: Json) -> list[str]:
    store = client.service.stores.of_conversation(conversation["id"])
    end = store.end(conversation["id"])
    return [] if end is None else [row.id for row in store.rows(end, 0, end.depth)]


def forget_readings(folder: Path) -> None:
    (catalog,) = folder.rglob("transcripts.db")
    catalog.unlink()


async def test_a_transcript_becomes_a_conversation_of_its_folder(
    client: Client, agents: Path, folder: Path
) -> None:
    path = write(agents, folder, turns(folder, 2))
    before = path.read_bytes()
    updated = await client.service.following.update(folder.as_uri())
    (conversation,) = await stored(client, folder)
    assert updated.created == [conversation["id"]]
    assert (conversation["entryCount"], conversation["firstMessage"]) == (4, "question 0")
    assert (conversation["source"]["format"], conversation["source"]["sessionId"]) == ("claude-code", "s1")
    assert path.read_bytes() == before
    assert client.notified("conversationChanged")[-1]["changes"] == ["created"]


async def test_what_was_appended_is_added_and_the_leaf_follows(
    client: Client, agents: Path, folder: Path
) -> None:
    write(agents, folder, turns(folder, 2))
    await client.service.following.update(folder.as_uri())
    write(agents, folder, turns(folder, 3))
    updated = await client.service.following.update(folder.as_uri())
    (conversation,) = await stored(client, folder)
    assert updated.extended == [conversation["id"]]
    assert (conversation["entryCount"], conversation["leafId"]) == (6, "a2")


async def test_an_unchanged_transcript_is_not_read(client: Client, agents: Path, folder: Path) -> None:
    write(agents, folder, turns(folder, 2))
    await client.service.following.update(folder.as_uri())
    assert (await client.service.following.update(None)).read == 0


async def test_other_workspaces_are_left_for_later(client: Client, agents: Path, folder: Path) -> None:
    other = folder.parent / "other"
    write(agents, other, turns(other, 1))
    assert (await client.service.following.update(folder.as_uri())).read == 0
    assert (await client.service.following.update(None)).read == 1
    assert len(await stored(client, other)) == 1


async def test_a_reading_that_was_not_recorded_stores_nothing_twice(
    client: Client, agents: Path, folder: Path, data_directory: Path
) -> None:
    write(agents, folder, turns(folder, 2))
    await client.service.following.update(folder.as_uri())
    forget_readings(data_directory)
    write(agents, folder, turns(folder, 3))
    await client.service.following.update(folder.as_uri())
    (conversation,) = await stored(client, folder)
    assert (conversation["entryCount"], conversation["leafId"]) == (6, "a2")


async def test_a_branch_of_the_user_keeps_the_leaf(client: Client, agents: Path, folder: Path) -> None:
    write(agents, folder, turns(folder, 2))
    await client.service.following.update(folder.as_uri())
    (conversation,) = await stored(client, folder)
    mine = {"type": "message", "message": {"role": "user", "content": "mine"}}
    await client.ask("append", conversationId=conversation["id"], parentId="a0", entries=[mine])
    leaf = (await stored(client, folder))[0]["leafId"]
    write(agents, folder, turns(folder, 3))
    await client.service.following.update(folder.as_uri())
    (conversation,) = await stored(client, folder)
    assert (conversation["entryCount"], conversation["leafId"]) == (7, leaf)


async def test_an_entry_that_changed_is_stored_beside_the_old_one(
    client: Client, agents: Path, folder: Path
) -> None:
    write(agents, folder, turns(folder, 2))
    await client.service.following.update(folder.as_uri())
    changed = turns(folder, 3)
    changed[2]["message"]["content"] = "another question"
    write(agents, folder, changed)
    await client.service.following.update(folder.as_uri())
    (conversation,) = await stored(client, folder)
    assert path_of(client, conversation) == ["p0", "a0", "p1~2", "a1~2", "p2", "a2"]
    write(agents, folder, [*changed, *turns(folder, 4)[6:]])
    await client.service.following.update(folder.as_uri())
    assert (await stored(client, folder))[0]["leafId"] == "a3"


async def test_what_the_agent_deleted_stays(client: Client, agents: Path, folder: Path) -> None:
    write(agents, folder, turns(folder, 2))
    await client.service.following.update(folder.as_uri())
    shutil.rmtree(agents)
    await client.service.following.update(folder.as_uri())
    assert len(await stored(client, folder)) == 1
    (followed,) = await client.service.following.transcripts()
    assert followed.transcript is None


async def test_what_was_deleted_here_is_not_brought_back(client: Client, agents: Path, folder: Path) -> None:
    write(agents, folder, turns(folder, 2))
    await client.service.following.update(folder.as_uri())
    (conversation,) = await stored(client, folder)
    await client.ask("conversation/delete", conversationId=conversation["id"])
    write(agents, folder, turns(folder, 3))
    await client.service.following.update(folder.as_uri())
    assert await stored(client, folder) == []


async def test_the_transcript_of_a_sub_agent_is_linked(client: Client, agents: Path, folder: Path) -> None:
    write(agents, folder, turns(folder, 2))
    side = [{**each, "isSidechain": True} for each in turns(folder, 1)]
    write(agents, folder, side, "s1/subagents/agent-7")
    await client.service.following.update(folder.as_uri())
    conversations = {each["source"]["sessionId"]: each for each in await stored(client, folder)}
    assert conversations["agent-7"]["parentConversationId"] == conversations["s1"]["id"]


async def test_an_unfinished_reply_is_stored_when_nothing_has_come_for_long(
    client: Client, agents: Path, folder: Path
) -> None:
    called = {**reply("b", "a0", "n", call_block("c")), "cwd": str(folder)}
    path = write(agents, folder, [*turns(folder, 1), called])
    await client.service.following.update(folder.as_uri())
    assert (await stored(client, folder))[0]["leafId"] == "a0"
    long_ago = time.time() - SETTLED_SECONDS - 60
    os.utime(path, (long_ago, long_ago))
    await client.service.following.update(folder.as_uri())
    assert (await stored(client, folder))[0]["leafId"] == "b"


async def test_a_file_without_a_session_is_a_problem_of_its_own(
    client: Client, agents: Path, folder: Path
) -> None:
    path = write(agents, folder, [{"cwd": str(folder), "note": 1}])
    write(agents, folder, turns(folder, 1), "good")
    updated = await client.service.following.update(folder.as_uri())
    assert len(updated.created) == 1
    assert [problem.partition(":")[0] for problem in updated.problems] == [path.name]
    write(agents, folder, turns(folder, 2))
    assert len((await client.service.following.update(folder.as_uri())).created) == 1


async def test_a_session_without_messages_is_no_problem_and_is_stored_when_it_has_some(
    client: Client, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    place = tmp_path / "home" / ".gemini" / "tmp" / "project"
    path = place / "chats" / "session-1.jsonl"
    path.parent.mkdir(parents=True)
    (place / ".project_root").write_text(str(folder))
    header = {"sessionId": "s", "projectHash": "0", "startTime": TIME}
    records: Turns = [header, {"$set": {"messages": []}}]
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    updated = await client.service.following.update(folder.as_uri())
    assert (updated.read, updated.problems, updated.created) == (1, [], [])
    assert await stored(client, folder) == []
    message = {"id": "u", "timestamp": TIME, "type": "user", "content": [{"text": "go"}]}
    path.write_text("".join(f"{json.dumps(each)}\n" for each in [*records, message]))
    assert len((await client.service.following.update(folder.as_uri())).created) == 1
    (conversation,) = await stored(client, folder)
    assert conversation["firstMessage"] == "go"


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders")
async def test_a_pipe_in_the_place_of_the_file_that_names_the_folder_is_not_read(
    client: Client, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    place = tmp_path / "home" / ".gemini" / "tmp" / "project"
    (place / "chats").mkdir(parents=True)
    (place / "chats" / "session-1.jsonl").write_text(json.dumps({"sessionId": "s", "projectHash": "0"}))
    os.mkfifo(place / ".project_root")
    end = os.open(place / ".project_root", os.O_RDWR | os.O_NONBLOCK)  # or opening it would wait for a writer
    os.write(end, str(folder).encode().ljust(4096))  # as much as is read of a file
    try:
        assert (await client.service.following.update(folder.as_uri())).read == 0
        assert (await client.service.following.update(None)).read == 1
    finally:
        os.close(end)


async def test_short_transcripts_are_stored_in_few_transactions(
    client: Client, agents: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Store] = []
    together = Store.together

    def counted(store: Store) -> AbstractContextManager[None]:
        begun.append(store)
        return together(store)

    monkeypatch.setattr(Store, "together", counted)
    for n in range(45):
        write(agents, folder, turns(folder, 1), f"s{n}")
    updated = await client.service.following.update(folder.as_uri())
    assert (len(updated.created), len(begun), updated.problems) == (45, 3, [])
    result = await client.ask(
        "conversation/search", query="question", workspaceUri=folder.as_uri(), limit=100
    )
    assert len(result["hits"]) == 45


async def test_transcripts_that_cannot_be_stored_together_are_stored_one_by_one(
    client: Client, agents: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(3):
        write(agents, folder, turns(folder, 1), f"s{n}")

    @contextmanager
    def full(store: Store) -> Iterator[None]:
        with together(store):
            yield
            raise StorageFailedError("The disk is full.")

    together = Store.together
    monkeypatch.setattr(Store, "together", full)
    updated = await client.service.following.update(folder.as_uri())
    assert (len(updated.created), len(await stored(client, folder)), updated.problems) == (3, 3, [])


async def test_an_unusable_transcript_leaves_those_beside_it(
    client: Client, agents: Path, folder: Path
) -> None:
    for n in range(3):
        write(agents, folder, turns(folder, 1), f"s{n}")
    path = write(agents, folder, turns(folder, 1), "s3")
    path.write_text('{"cwd": ' + json.dumps(str(folder)) + ', "type": "nothing"}\n')
    updated = await client.service.following.update(folder.as_uri())
    assert (len(updated.created), len(updated.problems), len(await stored(client, folder))) == (3, 1, 3)


async def test_a_transcript_that_takes_too_long_is_passed_over_until_it_changes(
    client: Client, agents: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(records: Sequence[Record], *rest: Any, check: Callable[[], None]) -> Tree:
        while len(records) > 4:
            check()
        return Tree(records, *rest, check=check)

    monkeypatch.setattr(claude_code, "Tree", endless)
    monkeypatch.setattr(transcript_storing, "_LEAST_SECONDS", 1.0)
    slow = write(agents, folder, turns(folder, 3), "slow")
    write(agents, folder, turns(folder, 2), "good")
    updated = await client.service.following.update(folder.as_uri())
    (conversation,) = await stored(client, folder)
    assert conversation["source"]["sessionId"] == "good"
    [problem] = updated.problems
    assert problem.startswith("slow.jsonl: Reading it took longer than 1 seconds")
    assert (await client.service.following.update(folder.as_uri())).read == 0
    monkeypatch.setattr(claude_code, "Tree", Tree)
    write(agents, folder, turns(folder, 4), slow.stem)
    assert len((await client.service.following.update(folder.as_uri())).created) == 1


async def test_a_transcript_whose_storing_was_given_up_is_stored_at_the_next_look(
    client: Client, agents: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pause(*_: object) -> None:
        raise ImportPausedError("It paused for too long.")

    write(agents, folder, turns(folder, 2))
    with monkeypatch.context() as patch:
        patch.setattr(ImportWriter, "finish", pause)
        assert (await client.service.following.update(folder.as_uri())).created == []
    assert len((await client.service.following.update(folder.as_uri())).created) == 1


@pytest.mark.parametrize("step", ["__init__", "_entries"])
async def test_what_a_reader_did_not_foresee_leaves_the_other_transcripts(
    client: Client, agents: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: object) -> None:
        raise KeyError(step)

    (agents / "pi" / "sessions").mkdir(parents=True)
    for name in "ab":
        records = [{**HEADER, "cwd": str(folder)}, message_record("1", None)]
        session = "".join(map(dump_line, records))
        (agents / "pi" / "sessions" / f"{name}_{name}.jsonl").write_text(session)
    write(agents, folder, turns(folder, 2))
    monkeypatch.setattr(pi.Reader, step, fail)
    updated = await client.service.following.update(folder.as_uri())
    assert len(updated.created) == 1
    line = fail.__code__.co_firstlineno + 1
    place = f"(KeyError in test_following.py, line {line})"
    assert [place in each for each in updated.problems] == [True, True]


async def test_a_client_has_the_transcripts_of_its_folders_read(
    client: Client, agents: Path, folder: Path
) -> None:
    write(agents, folder, turns(folder, 1))
    broken = write(agents, folder, turns(folder, 1), "broken")
    broken.write_text('{"type": "nothing", "cwd": ' + json.dumps(str(folder)) + "}\n")
    nothing = await client.ask("sources/update", workspaceUri=(folder / "elsewhere").as_uri())
    assert nothing == {"read": 0, "created": 0, "extended": 0, "problems": []}
    updated = await client.ask("sources/update", workspaceUri=folder.as_uri())
    assert (updated["read"], updated["created"], len(updated["problems"])) == (2, 1, 1)
    client.service.stores.folders = [folder.as_uri()]
    write(agents, folder, turns(folder, 2))
    assert (await client.ask("sources/update"))["extended"] == 1
