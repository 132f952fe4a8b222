"""Nothing decays: fifty compactions in a row, with a model that loses and invents as it goes."""

import random
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from documents import parts_of
from scripted import GOOD, ScriptedModel, block
from talk import edit, reply, request, run, user
from waiting import PATIENCE

from coppice.compaction.asking.summarizer import WrittenSummary
from coppice.compaction.checking.narrative import is_in_format
from coppice.compaction.facts.ledger import LedgerBuilder, ledger_details
from coppice.compaction.writing.document import Parts
from coppice.models.chat import ChatRequest, ModelError
from coppice.summarizers.fallback import FallbackSummarizer
from coppice.summarizers.llm import ModelSummarizer
from coppice.summarizers.offline import OfflineSummarizer
from coppice.tokens.counting import count_tokens
from coppice.tree.messages import AssistantMessage, Message

pytestmark = pytest.mark.slow

ROUNDS = 50
CONSTRAINTS = [
    "Never call legacy_pay() from checkout.py.",
    "Use 4 spaces, never tabs.",
    "Commit messages must be in English.",
    "All timestamps are UTC.",
    "不要修改 vendor_1 目录下的文件。",
    "Always run `make lint` before committing.",
    "必须使用 pnpm，不要用 npm。",
    "Log lines go to stderr, only results to stdout.",
    "Keep functions under 40 lines.",
    "禁止在代码里写死密钥。",
]


def part_of_work(number: int) -> list[Message]:
    messages = [user(CONSTRAINTS[number // 5])] if number % 5 == 0 else []
    path = f"src/module_{number}/part_{number % 7}.py"
    return [
        user(f"Now implement feature number {number} in {path}, please"),
        *messages,
        reply(f"I'll use handler_{number} because it is tested."),
        *edit(path, f"def handler_{number}(row): return {number}"),
        *run(f"pytest tests/test_{number}.py", f"{number + 1} passed"),
        *run("cat log.txt", " ".join(f"noise_{n * number}" for n in range(80))),
    ]


def words_of_the_user(messages: str) -> list[str]:
    """What a summary's document quotes of the user, whoever wrote its narrative."""
    return [line.removeprefix("> ") for line in messages.splitlines()]


class Lossy:
    """Drops half of what it is shown, rewords the rest and invents; now and then it writes no summary."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, call: ChatRequest) -> str | AssistantMessage | Exception:
        rng = self._random
        chance = rng.random()
        if chance < 0.06:
            return "Sure, I'll do that right away!"
        if chance < 0.10:
            return ModelError("The server broke down.", kind="server")
        if chance < 0.14:
            return GOOD[: rng.randrange(len(GOOD))]
        before = block(call, "previous-summary").splitlines()
        remaining = [line for line in before if line.startswith("#") or rng.random() < 0.5]
        reworded = [f"- The person likes: {line[6:30].lower()}" for line in before if rng.random() < 0.1]
        invented = ["- Always deploy on Fridays", "- Never write tests"] * (rng.random() < 0.3)
        text = "\n".join(remaining) or GOOD
        return text.replace("## Progress", "\n".join([*reworded, *invented, "## Progress"]), 1)


def chain(model: ScriptedModel) -> FallbackSummarizer:
    return FallbackSummarizer(
        [("model", ModelSummarizer(model)), ("offline", OfflineSummarizer())], seconds=PATIENCE
    )


async def fifty_summaries(max_tokens: int) -> AsyncIterator[tuple[int, WrittenSummary, Parts]]:
    """Each round's number, summary and computed parts, every one made of the one before."""
    summarizer = chain(ScriptedModel(Lossy(max_tokens)))
    previous: str | None = None
    details: dict[str, Any] = {}
    for number in range(ROUNDS):
        work = part_of_work(number)
        turn = work[-2:] if number % 4 == 3 else []
        history = work[: len(work) - len(turn)]
        asked = request(history, turn=turn, previous=previous, max_tokens=max_tokens)
        ledger = LedgerBuilder.from_details(details).add_messages(work).ledger
        details = {"ledger": ledger_details(ledger)}
        asked = replace(asked, ledger=ledger)
        yield number, (written := await summarizer.summarize(asked)), parts_of(asked)
        previous = written.text


@pytest.mark.timeout(240)
@pytest.mark.parametrize("max_tokens", [1_500, 4_000])
async def test_over_fifty_compactions_every_constraint_stays_word_for_word(max_tokens: int) -> None:
    writers = set()
    async for number, written, parts in fifty_summaries(max_tokens):
        writers.add(written.summarizer)
        quoted = words_of_the_user(parts.messages)
        rules = set(CONSTRAINTS[: number // 5 + 1])
        assert rules - set(quoted) == set()
        assert all("Friday" not in text and "write tests" not in text for text in quoted)
        assert count_tokens(written.text) <= max_tokens
        assert is_in_format(written.text)
    assert "scripted/model" in writers


@pytest.mark.timeout(240)
@pytest.mark.parametrize("max_tokens", [1_500, 4_000])
async def test_over_fifty_compactions_the_goal_and_the_newest_file_are_named(max_tokens: int) -> None:
    async for number, _, parts in fifty_summaries(max_tokens):
        quoted = words_of_the_user(parts.messages)
        path = f"src/module_{number}/part_{number % 7}.py"
        assert "Now implement feature number 0 in src/module_0/part_0.py, please" in quoted
        assert any(text.endswith(f"feature number {number} in {path}, please") for text in quoted)
