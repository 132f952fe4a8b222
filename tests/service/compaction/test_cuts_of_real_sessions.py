"""Where compactions cut real sessions: at every entry as the leaf, on every branch."""

from collections.abc import Sequence
from typing import Any

import pytest
from conftest_service import Client, MakeClient
from shared_data import shared_data
from valid_requests import assert_valid_for_anthropic, assert_valid_for_openai

from coppice.errors import NothingToCompactError
from coppice.formats.reading import open_session
from coppice.service.compaction.preparing import prepare
from coppice.tree.entries import Entry, MessageEntry
from coppice.tree.messages import AssistantMessage, ToolResultMessage
from coppice.tree.rendering.anthropic import anthropic_request
from coppice.tree.rendering.openai import openai_messages
from coppice.tree.view import view_of

SESSIONS = [
    "pi-session",
    "claude-code-session-1",
    "claude-code-session-2",
    "claude-entire-a",
    "codex-hk",
]
WINDOW = 64_000
SETTINGS = {"tokens": {"counter": "estimate"}, "model": {"contextWindow": WINDOW}}
LEAVES = 5
"""Of a session, from a fifth of it to its end, that are compacted."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize("session", SESSIONS)
async def test_no_cut_parts_a_call_from_its_result(make_client: MakeClient, session: str) -> None:
    client = await make_client(SETTINGS)
    conversation, entries = await imported(client, session)
    cuts = 0
    for leaf in entries:
        path = path_to(leaf, entries)
        try:
            first_kept = prepare(client.service._context.path(conversation, leaf)).first_kept
        except NothingToCompactError:
            continue
        cuts += 1
        first = next(place for place, entry in enumerate(path) if entry.id == first_kept.id)
        assert not calls_of(path[:first]) & results_of(path[first:])
        view = view_of(path[first:])
        assert_valid_for_openai(openai_messages(view))
        assert_valid_for_anthropic(anthropic_request(view).messages)
    assert cuts > len(entries) / 4


@pytest.mark.parametrize("session", SESSIONS)
async def test_what_a_compaction_leaves_fits_the_window(make_client: MakeClient, session: str) -> None:
    client = await make_client(SETTINGS)
    conversation, entries = await imported(client, session)
    leaves, compacted = list(entries), 0
    for leaf in leaves[len(leaves) // LEAVES - 1 :: len(leaves) // LEAVES]:
        await client.ask("navigate", conversationId=conversation, targetId=leaf)
        try:
            await client.ask("compact", conversationId=conversation)
        except NothingToCompactError:
            continue
        compacted += 1
        asked = {"conversationId": conversation, "contextWindow": WINDOW}
        openai = await client.ask("context", **asked, format="openai")
        assert openai["tokens"] <= WINDOW
        assert_valid_for_openai(openai["messages"])
        anthropic = await client.ask("context", **asked, format="anthropic")
        assert_valid_for_anthropic(anthropic["messages"])
    assert compacted > LEAVES / 2


async def imported(client: Client, session: str) -> tuple[str, dict[str, Entry]]:
    """The conversation, and the entries of the session by their ids, in order."""
    file = shared_data() / f"{session}.jsonl"
    made = await client.ask("conversation/import", uri=file.as_uri())
    return made["conversation"]["id"], {entry.id: entry for entry in open_session(file)}


def path_to(leaf: str, entries: dict[str, Entry]) -> list[Entry]:
    path: list[Entry] = []
    at: str | None = leaf
    while at is not None:
        path.append(entries[at])
        at = entries[at].parent_id
    return path[::-1]


def calls_of(entries: Sequence[Entry]) -> set[str]:
    return {
        call.id
        for message in messages_of(entries)
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    }


def results_of(entries: Sequence[Entry]) -> set[str]:
    return {
        message.tool_call_id for message in messages_of(entries) if isinstance(message, ToolResultMessage)
    }


def messages_of(entries: Sequence[Entry]) -> list[Any]:
    return [entry.message for entry in entries if isinstance(entry, MessageEntry)]
