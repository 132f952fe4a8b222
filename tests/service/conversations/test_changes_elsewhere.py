"""What other servers' writes cost a server: a bounded share of a processor, however many windows write."""

from typing import Any

import pytest
from conftest_service import Client, MakeClient, user

from coppice.service.conversations import changes_elsewhere
from coppice.service.conversations.changes_elsewhere import LONGEST_SECONDS, NOTICE_SECONDS, pause_after

WINDOWS = 64


async def written_elsewhere(make_client: MakeClient, monkeypatch: pytest.MonkeyPatch) -> tuple[Client, Any]:
    """A window that looks only when it is asked to, and another, whose conversations they are."""
    monkeypatch.setattr(changes_elsewhere, "WATCH_SECONDS", 1000.0)
    monkeypatch.setattr(changes_elsewhere, "LONGEST_SECONDS", 1000.0)
    one, other = await make_client(), await make_client()
    await one.ask("conversation/list")
    made = [await other.conversation("Plant the bed.") for _ in range(WINDOWS)]
    await one.ask("conversation/get", conversationId=made[0])
    await one.service.changes_elsewhere.look()
    one.notifications.clear()
    for each in made:
        for text in ("And then?", "And after that?"):
            await other.ask("append", conversationId=each, entries=[user(text)])
    return one, made


async def test_sizes_are_computed_only_of_conversations_that_the_client_asked_about(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, made = await written_elsewhere(make_client, monkeypatch)
    assert await one.service.changes_elsewhere.look() == WINDOWS
    assert [params["conversationId"] for params in one.notified("conversationChanged")] == made
    assert [params["conversationId"] for params in one.notified("usageChanged")] == made[:1]


async def test_of_many_conversations_that_were_asked_about_the_last_are_measured(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes_elsewhere, "MOST_MEASURED", 3)
    one, made = await written_elsewhere(make_client, monkeypatch)
    for each in (*made[:5], made[3]):
        await one.ask("conversation/get", conversationId=each)
    await one.service.changes_elsewhere.look()
    assert [params["conversationId"] for params in one.notified("usageChanged")] == made[2:5]


def test_reports_a_second_have_a_bound() -> None:
    assert pause_after(0) < 0.5
    most = int(LONGEST_SECONDS / NOTICE_SECONDS) // 2
    assert all(reported / pause_after(reported) <= 1 / NOTICE_SECONDS for reported in range(most))
    assert pause_after(1_000_000) == LONGEST_SECONDS
