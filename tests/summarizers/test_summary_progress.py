"""Whoever watches a summary sees which part of how many is under way, and how much is there."""

import re
from dataclasses import replace
from itertools import pairwise

from models.provider_replies import answer
from models.provider_server import ProviderServer
from scripted import GOOD, ScriptedModel
from summarizers.asking import asked, model_at
from talk import edit, request, run, user

from coppice.models.chat import ChatRequest
from coppice.summarizers.llm import ModelSummarizer
from coppice.tree.messages import Message

PART = re.compile(r"Summarizing, part (\d+) of (\d+)")
TURN_REPORT = "- Request: add the exporter\n- Done: began `src/exporter.py`"


def long_session(parts: int) -> list[Message]:
    return [
        message
        for n in range(parts)
        for message in (user(f"Do step {n}"), *edit(f"src/part_{n}.py"), *run(f"make {n}", "done " * 200))
    ]


async def test_each_part_is_counted_and_the_share_rises() -> None:
    reports: list[tuple[str, float]] = []
    wanted = replace(
        request(long_session(60), max_tokens=1_500), report=lambda *update: reports.append(update)
    )
    written = await ModelSummarizer(ScriptedModel([GOOD], window=6_000)).summarize(wanted)
    parts = [(int(match[1]), int(match[2])) for label, _ in reports if (match := PART.fullmatch(label))]
    chunks = written.details["chunks"]
    assert chunks > 3
    numbers = [number for number, _ in parts]
    assert numbers == sorted(numbers)
    assert parts[0][0] == 1
    assert parts[-1] == (chunks, chunks)
    assert all(abs(of - chunks) <= 2 for _, of in parts)
    shares = [share for _, share in reports]
    assert all(before <= after for before, after in pairwise(shares))
    assert shares[0] == 0.0
    assert shares[-1] > 0.9


async def test_one_request_shows_how_its_answer_grows() -> None:
    reports: list[tuple[str, float]] = []
    wanted = replace(request(long_session(3)), report=lambda *update: reports.append(update))
    async with asked("openai", answer(GOOD, pieces=10)) as (model, _):
        await ModelSummarizer(model).summarize(wanted)
    assert {label for label, _ in reports} == {"Summarizing"}
    assert len({share for _, share in reports}) > 8
    assert reports[-1] == ("Summarizing", 1.0)


async def test_the_two_requests_of_a_split_turn_are_two_parts() -> None:
    reports: list[str] = []

    def writes(call: ChatRequest) -> str:
        return TURN_REPORT if "labelled" in str(call) or "beginning of one long turn" in str(call) else GOOD

    wanted = replace(
        request(long_session(3), turn=long_session(1)), report=lambda label, _: reports.append(label)
    )
    await ModelSummarizer(ScriptedModel(writes), split_turn="separate").summarize(wanted)
    assert "Summarizing, part 1 of 2" in reports
    assert "Summarizing, part 2 of 2" in reports


async def test_nobody_need_watch() -> None:
    async with ProviderServer([answer(GOOD)]) as server:
        model = model_at(server.url)
        await ModelSummarizer(model).summarize(request([user("Read src/importer.py"), *long_session(3)]))
        await model.close()
    assert len(server.requests) == 1
