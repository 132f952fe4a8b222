"""Nothing decays: fifty compactions in a row, with a model that loses and invents as it goes."""

import random
from collections.abc import AsyncIterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import GOOD, ScriptedModel, block
from talk import edit, reply, request, run, user

from coppice.compaction.asking.summarizer import WrittenSummary
from coppice.compaction.summary_parser import missing_headings, parse_summary
from coppice.errors import SummaryRejectedError
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
        kept = [line for line in before if line.startswith("#") or rng.random() < 0.5]
        reworded = [f"- The person likes: {line[6:30].lower()}" for line in before if rng.random() < 0.1]
        invented = ["- Always deploy on Fridays", "- Never write tests"] * (rng.random() < 0.3)
        text = "\n".join(kept) or GOOD
        return text.replace("## Progress", "\n".join([*reworded, *invented, "## Progress"]), 1)


def chain(model: ScriptedModel) -> FallbackSummarizer:
    return FallbackSummarizer([("model", ModelSummarizer(model)), ("offline", OfflineSummarizer())])


async def fifty_summaries(max_tokens: int) -> AsyncIterator[tuple[int, WrittenSummary]]:
    """Each round's number and summary, every one made of the one before."""
    summarizer = chain(ScriptedModel(Lossy(max_tokens)))
    previous: str | None = None
    for number in range(ROUNDS):
        work = part_of_work(number)
        turn = work[-2:] if number % 4 == 3 else []
        history = work[: len(work) - len(turn)]
        written = await summarizer.summarize(
            request(history, turn=turn, previous=previous, max_tokens=max_tokens)
        )
        yield number, written
        previous = written.text


@pytest.mark.timeout(240)
@pytest.mark.parametrize("max_tokens", [1_500, 4_000])
async def test_over_fifty_compactions_every_constraint_stays_word_for_word(max_tokens: int) -> None:
    writers = set()
    async for number, written in fifty_summaries(max_tokens):
        writers.add(written.summarizer)
        summary = parse_summary(written.text)
        rules = set(CONSTRAINTS[: number // 5 + 1])
        assert rules - set(summary.constraints) == set()
        assert all("Friday" not in text and "write tests" not in text for text in summary.constraints)
        assert count_tokens(written.text) <= max_tokens
        assert missing_headings(written.text) == []
    assert "scripted/model" in writers


@pytest.mark.timeout(240)
@pytest.mark.parametrize("max_tokens", [1_500, 4_000])
async def test_over_fifty_compactions_the_goal_and_the_newest_file_are_named(max_tokens: int) -> None:
    async for number, written in fifty_summaries(max_tokens):
        summary = parse_summary(written.text)
        path = f"src/module_{number}/part_{number % 7}.py"
        assert summary.goal[0] == "Now implement feature number 0 in src/module_0/part_0.py, please"
        assert any(text.endswith(f"feature number {number} in {path}, please") for text in summary.goal)
        assert max_tokens < 4_000 or path in "\n".join(summary.in_progress)


async def test_what_is_named_again_and_again_is_never_lost() -> None:
    summarizer = chain(ScriptedModel(Lossy(3)))
    previous: str | None = None
    for number in range(20):
        work = [*part_of_work(number), *edit("src/core/ledger_store.py", f"def step_{number}(): ...")]
        previous = (await summarizer.summarize(request(work, previous=previous, max_tokens=2_000))).text
        assert "src/core/ledger_store.py" in previous


@given(
    st.integers(0, 10_000),
    st.lists(st.sampled_from(CONSTRAINTS), max_size=4, unique=True),
    st.integers(500, 3_000),
)
@settings(max_examples=25, deadline=None)
async def test_any_chain_of_compactions_keeps_the_constraints(
    seed: int, rules: list[str], max_tokens: int
) -> None:
    summarizer = ModelSummarizer(ScriptedModel(Lossy(seed)))
    previous: str | None = None
    stated: list[str] = []
    for number, text in enumerate([*rules, *rules]):
        stated.append(text)
        messages = [user(text), *part_of_work(number + 1)]
        try:
            written = await summarizer.summarize(request(messages, previous=previous, max_tokens=max_tokens))
        except (ModelError, SummaryRejectedError):
            written = await OfflineSummarizer().summarize(
                request(messages, previous=previous, max_tokens=max_tokens)
            )
        previous = written.text
        constraints = parse_summary(previous).constraints
        assert [constraint for constraint in dict.fromkeys(stated) if constraint not in constraints] == []
        assert count_tokens(previous) <= max_tokens
