"""What a tool prints, a person pastes or a model answers cannot freeze the server.

250 kB of each hostile text are in a conversation that is compacted. Limits are processor time, so that a
busy machine does not break them, and nothing is computed in another process, whose time would not count.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from attacks import hostile_texts
from attacks.hostile_texts import KINDS, entries_with, imported_summary, text_of
from attacks.worker_processes import no_worker_process
from conftest_service import Client, MakeClient, assistant, user
from scripted import GOOD, ScriptedModel
from waiting import PATIENCE

from coppice.summarizers.fallback import FallbackSummarizer
from coppice.summarizers.llm import ModelSummarizer
from coppice.summarizers.offline import OfflineSummarizer

__all__ = ["no_worker_process"]

pytestmark = pytest.mark.usefixtures("no_worker_process")

COMPACTION_SECONDS = 5.0
STALL_SECONDS = 1.0

each_text = hostile_texts.each_text((" ", "\n", "a", "<", "- a\n", "你"), drawn=24)


@dataclass
class Cost:
    """Processor seconds: of the whole process, and the longest that the event loop did nothing else."""

    total: float = 0.0
    stall: float = 0.0


@asynccontextmanager
async def measured() -> AsyncIterator[Cost]:
    cost = Cost()

    async def watch() -> None:
        last = time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            cost.stall, last = max(cost.stall, now - last), now

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0.01)
    began = time.process_time()
    try:
        yield cost
    finally:
        await asyncio.sleep(0.01)
        cost.total = time.process_time() - began
        watching.cancel()


async def compacted(client: Client, talk: str) -> Cost:
    """The cost of a compaction of what is in the conversation, with some new work after it."""
    long = "It reads rows and writes them. " * 3_000
    more = [entry for _ in range(2) for entry in (user(long), assistant("Done."))]
    await client.ask("append", conversationId=talk, entries=more)
    async with measured() as cost:
        await client.ask("compact", conversationId=talk)
    return cost


@each_text
@pytest.mark.parametrize("kind", KINDS)
async def test_a_conversation_with_it_is_compacted_in_time(client: Client, unit: str, kind: str) -> None:
    talk = await client.conversation("Build the importer.", "I will.")
    async with measured() as appending:
        await client.ask("append", conversationId=talk, entries=entries_with(kind, text_of(unit)))
    cost = await compacted(client, talk)
    assert max(appending.stall, cost.stall) < STALL_SECONDS
    assert cost.total < COMPACTION_SECONDS


@each_text
async def test_a_summarizing_model_s_answer_is_checked_in_time(make_client: MakeClient, unit: str) -> None:
    text = text_of(unit)
    model = ScriptedModel([f"{GOOD}\n- {text}", f"{text}\n{GOOD}", f"## {text}\n{GOOD}"])
    chain = FallbackSummarizer(
        [("model", ModelSummarizer(model)), ("offline", OfflineSummarizer())], seconds=PATIENCE
    )
    client: Client = await make_client(summarizer=chain)
    talk = await client.conversation("Build the importer.", "I will.")
    cost = await compacted(client, talk)
    assert cost.stall < STALL_SECONDS
    assert cost.total < COMPACTION_SECONDS


@each_text
async def test_an_imported_summary_is_carried_on_in_time(client: Client, unit: str) -> None:
    async with measured() as importing:
        made = await client.ask("conversation/import", content=imported_summary(unit), format="pi")
    cost = await compacted(client, made["conversation"]["id"])
    assert max(importing.stall, cost.stall) < STALL_SECONDS
    assert cost.total < COMPACTION_SECONDS
