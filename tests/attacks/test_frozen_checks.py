"""A rule that never ends, met by what a model is sent and answers, or by a hook's or a person's text."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from attacks.frozen_rule import BEGUN, frozen, killed
from attacks.worker_processes import processes_that_know_the_tests, workers_of
from conftest_service import Client, MakeClient
from lsp.editor import turn
from scripted import GOOD
from waiting import PATIENCE, until, wait_until

from coppice.protocol.server_requests import SAMPLE, WILL_COMPACT, WILL_NAVIGATE
from coppice.service.compaction import compaction_hooks, summarizing, summary_parts
from coppice.summarizers import chunks, client, llm

__all__ = ["processes_that_know_the_tests"]

LONG = [entry for number in range(250) for entry in turn(number)]
"""Of more tokens than are worked on in the server's own process."""
ANSWER = GOOD.replace("src/importer.py", "src/part_1.py")
LONG_TEXT = f"{ANSWER}\n" + "- [ ] Another step of the same kind.\n" * 600
BY_A_MODEL = [
    (client, "carried"),
    (client, "validate"),
    (chunks, "fitting_groups"),
    (llm, "unsupported_claims"),
]
BY_OTHERS = [
    (summarizing, "_formatted"),
    (summary_parts, "_harmless"),
    (compaction_hooks, "serialize"),
]


def named(place: Any) -> str:
    return place if isinstance(place, str) else str(place.__name__).rpartition(".")[2]


async def sample(_: str, params: Any) -> Any:
    del params
    return {"text": ANSWER, "model": "of-the-editor", "stopReason": "stop"}


async def hook(method: str, params: Any) -> Any:
    del params
    return {"compaction": {"summary": LONG_TEXT}} if method == WILL_COMPACT else None


@pytest.fixture
async def summarized(make_client: MakeClient) -> Callable[..., Awaitable[tuple[Client, str]]]:
    async def make(*, hooks: bool = False) -> tuple[Client, str]:
        made: Client = await make_client({"summarizer": {"provider": "editor"}})
        made.port.answer(*((hook, WILL_COMPACT, WILL_NAVIGATE) if hooks else (sample, SAMPLE)))
        conversation = await made.conversation()
        await made.ask("append", conversationId=conversation, entries=LONG)
        return made, conversation

    return make


@pytest.mark.parametrize(("place", "name"), [*BY_A_MODEL, *BY_OTHERS], ids=str)
async def test_others_are_answered_meanwhile_and_a_cancel_ends_it(
    summarized: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: Any, name: str
) -> None:
    begun = tmp_path / "begun"
    monkeypatch.setenv(BEGUN, str(begun))
    made, conversation = await summarized(hooks=place in (summary_parts, compaction_hooks))
    monkeypatch.setattr(place, name, frozen)
    by_hand = {"summary": LONG_TEXT} if place is summarizing else {}
    asked = asyncio.create_task(made.ask("compact", conversationId=conversation, **by_hand))
    await until(begun.exists)
    for _ in range(5):
        await asyncio.wait_for(made.ask("entries", conversationId=conversation, limit=5), PATIENCE)
    assert not asked.done()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asked, PATIENCE)
    await asyncio.to_thread(wait_until, lambda: not workers_of(os.getpid()))


@pytest.mark.parametrize(("place", "name"), BY_A_MODEL, ids=named)
async def test_a_model_whose_text_cannot_be_worked_on_is_passed_over(
    summarized: Any, monkeypatch: pytest.MonkeyPatch, place: Any, name: str
) -> None:
    made, conversation = await summarized()
    monkeypatch.setattr(place, name, killed)
    done = await made.ask("compact", conversationId=conversation)
    assert done["summarizer"] == "offline"
    assert "it was stopped" in done["warnings"][0]
