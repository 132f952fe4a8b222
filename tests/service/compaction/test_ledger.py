"""The ledger of a conversation: for any leaf, and continued over compactions."""

from typing import Any

import pytest
from conftest_service import MakeClient, assistant, tool, user

from coppice.service.compaction import work_ledger

SMALL = {"compaction": {"keepRecentTokens": 200}, "tokens": {"counter": "estimate"}}


def step(number: int) -> list[dict[str, Any]]:
    message = f'git commit -am "Add part {number}"'
    return [
        user(f"Make part {number} of the parser. Never touch legacy_{number}."),
        *tool(f"e{number}", "edit", {"path": f"src/part_{number}.py"}, "edited " + "line\n" * 40),
        *tool(f"t{number}", "bash", {"command": "make test"}, f"{number + 1} passed"),
        *tool(f"c{number}", "bash", {"command": message}, f"[main {number:07x}] Add part {number}"),
        assistant(f"Part {number} keeps its own buffer because the reader would block. " + "So it is. " * 20),
    ]


async def test_the_ledger_is_the_same_with_and_without_compactions(make_client: MakeClient) -> None:
    client = await make_client(SMALL)
    plain, compacted = await client.conversation(), await client.conversation()
    for number in range(12):
        for made in (plain, compacted):
            await client.ask("append", conversationId=made, entries=step(number))
        if number % 3 == 2:
            done = await client.ask("compact", conversationId=compacted)
            assert len(done["entry"]["details"]["ledger"]["state"]["commits"]) >= number - 1
    whole = await client.ask("ledger", conversationId=plain)
    after = await client.ask("ledger", conversationId=compacted)
    for name in ("commits", "checks", "uncommitted"):
        texts = [
            [_without_entry(fact) for fact in result["ledger"]["state"][name]] for result in (whole, after)
        ]
        assert texts[0] == texts[1], name
    words = [[message["text"] for message in result["ledger"]["messages"]] for result in (whole, after)]
    assert words[0] == words[1]
    assert len(after["ledger"]["state"]["commits"]) == 12
    assert after["modifiedFiles"] == sorted(f"src/part_{number}.py" for number in range(12))


async def test_it_is_about_the_leaf_that_is_asked_for(make_client: MakeClient) -> None:
    client = await make_client(SMALL)
    made = await client.conversation()
    await client.ask("append", conversationId=made, entries=[user("Build the importer")])
    first = (await client.ask("ledger", conversationId=made))["leafId"]
    await client.ask("append", conversationId=made, entries=[user("Now the exporter")])
    now = await client.ask("ledger", conversationId=made)
    before = await client.ask("ledger", conversationId=made, leafId=first)
    assert [each["text"] for each in now["ledger"]["messages"]] == ["Build the importer", "Now the exporter"]
    assert [each["text"] for each in before["ledger"]["messages"]] == ["Build the importer"]


async def test_of_a_long_path_the_newest_entries_are_read(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await make_client(SMALL)
    made = await client.conversation()
    for number in range(3):
        await client.ask("append", conversationId=made, entries=step(number))
    whole = await client.ask("ledger", conversationId=made)
    assert "notRead" not in whole
    monkeypatch.setattr(work_ledger, "MOST_ENTRIES", len(step(2)))
    newest = await client.ask("ledger", conversationId=made)
    assert newest["notRead"] == 2 * len(step(0))
    assert [each["text"] for each in newest["ledger"]["messages"]] == [
        "Make part 2 of the parser. Never touch legacy_2."
    ]


async def test_an_empty_conversation_has_an_empty_ledger(make_client: MakeClient) -> None:
    client = await make_client(SMALL)
    empty = await client.ask("ledger", conversationId=await client.conversation())
    assert (empty["leafId"], empty["ledger"]["messages"]) == (None, [])


@pytest.mark.parametrize("text", ["", " \n", "* - #\n"])
async def test_empty_instructions_do_not_stop_a_compaction(make_client: MakeClient, text: str) -> None:
    client = await make_client(SMALL)
    made = await client.conversation()
    empty = {"type": "message", "message": {"role": "developer", "content": text}}
    await client.ask("append", conversationId=made, entries=[empty, *step(0), *step(1), *step(2)])
    messages = (await client.ask("ledger", conversationId=made))["ledger"]["messages"]
    assert [each["text"] for each in messages if each["source"] == "user"] == [
        f"Make part {number} of the parser. Never touch legacy_{number}." for number in range(3)
    ]
    assert "part 0" in (await client.ask("compact", conversationId=made))["entry"]["summary"]


def _without_entry(fact: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fact.items() if name != "entryId"}
