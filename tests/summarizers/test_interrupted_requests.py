"""A server that answers one request at a time, and gives one up when the next comes."""

import asyncio
from typing import Any

import pytest
from models.provider_replies import Interrupting, answer, events
from scripted import GOOD
from summarizers.asking import asked
from talk import edit, request, user
from waiting import PATIENCE

from coppice.errors import SummaryRejectedError
from coppice.summarizers.llm import ModelSummarizer

SESSION = [user("Build the importer. Never use eval."), *edit("src/importer.py", "def read_rows(): ...")]
TURN = [user("Now add the exporter"), *edit("src/exporter.py", "def write_rows(): ...")]
TURN_REPORT = "- Request: add the exporter\n- Done: began `src/exporter.py`\n- Next: test it"


def writes(body: Any) -> str:
    return TURN_REPORT if "## Goal" not in body["messages"][-1]["content"] else GOOD


@pytest.mark.parametrize(
    "server",
    [
        pytest.param(Interrupting(writes, 8), id="in the middle"),
        pytest.param(Interrupting(writes, 0), id="before the first word"),
        pytest.param(Interrupting(writes, 0, states_reason=True), id="as if it were whole"),
    ],
)
async def test_requests_that_interrupt_each_other_are_made_one_at_a_time(server: Interrupting) -> None:
    async with asked("openai", server) as (model, provider), asyncio.timeout(PATIENCE):
        written = await ModelSummarizer(model, split_turn="separate").summarize(request(SESSION, turn=TURN))
    assert server.interrupted == 1
    assert len(provider.requests) == 3
    assert "The port is 5433" in written.text
    assert "add the exporter" in written.text.partition("**Turn Context")[2]
    assert written.warnings == ()
    assert written.details["repaired"] == ["asked one at a time"]


async def test_an_answer_that_came_empty_while_nothing_else_ran_counts_as_one() -> None:
    async with asked("openai", answer("")) as (model, provider), asyncio.timeout(PATIENCE):
        with pytest.raises(SummaryRejectedError):
            await ModelSummarizer(model).summarize(request(SESSION))
    assert len(provider.requests) == 2


async def test_a_server_that_always_breaks_off_is_not_asked_for_ever() -> None:
    cut = events({"choices": [{"index": 0, "delta": {"content": "## Go"}}]}, "[DONE]")
    async with asked("openai", cut) as (model, provider), asyncio.timeout(PATIENCE):
        with pytest.raises(Exception, match="broke off"):
            await ModelSummarizer(model, split_turn="separate").summarize(request(SESSION, turn=TURN))
    assert len(provider.requests) <= 6
