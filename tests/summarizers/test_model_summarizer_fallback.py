"""When one summarizer fails the next one writes, and says why."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest
from scripted import GOOD, ScriptedModel
from talk import edit, request, user
from waiting import PATIENCE

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.errors import SummaryRejectedError
from coppice.models.chat import ModelError
from coppice.summarizers.fallback import FallbackSummarizer
from coppice.summarizers.llm import ModelSummarizer
from coppice.summarizers.offline import OfflineSummarizer

chain_of = partial(FallbackSummarizer, seconds=PATIENCE)

SESSION = [user("Build the importer. Never use eval."), *edit("src/importer.py")]


class Plays:
    """A summarizer with a script."""

    def __init__(
        self, act: Callable[[], WrittenSummary | Exception] | None = None, seconds: float = 0.0
    ) -> None:
        self._act = act
        self._seconds = seconds
        self.asked = 0
        self.cancelled = 0
        self.started = asyncio.Event()

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        assert request.history
        self.asked += 1
        self.started.set()
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        done = self._act() if self._act else WrittenSummary("text", "plays")
        if isinstance(done, Exception):
            raise done
        return done


async def test_the_first_that_writes_is_taken_and_no_other_is_asked() -> None:
    first, second = Plays(), Plays()
    written = await chain_of([("a", first), ("b", second)]).summarize(request(SESSION))
    assert (written.text, written.warnings) == ("text", ())
    assert (first.asked, second.asked) == (1, 0)


async def test_each_failure_is_reported_with_its_reason_in_order() -> None:
    failures: list[Exception] = [
        ModelError("The key was refused. Set OPENAI_API_KEY.", kind="auth"),
        SummaryRejectedError("It wrote no summary."),
        KeyError("sk-secret"),
    ]
    broken = [(f"model-{number}", Plays(lambda each=each: each)) for number, each in enumerate(failures)]  # type: ignore[misc] # a bound default
    chain = chain_of(
        [*broken, ("blank", Plays(lambda: WrittenSummary(" ", "x"))), ("offline", OfflineSummarizer())]
    )
    written = await chain.summarize(request(SESSION))
    assert written.summarizer == "offline"
    assert written.warnings == (
        "The summarizer model-0 failed: The key was refused. Set OPENAI_API_KEY.",
        "The summarizer model-1 failed: It wrote no summary.",
        "The summarizer model-2 failed: an unexpected error (KeyError).",
        "The summarizer blank failed: what it wrote was empty.",
    )
    assert "Never use eval." in written.text


async def test_warnings_of_the_one_that_writes_come_last() -> None:
    first = Plays(lambda: ModelError("down", kind="server"))
    second = Plays(lambda: WrittenSummary("text", "b", ("a chunk failed",), {"chunks": 3}))
    written = await chain_of([("a", first), ("b", second)]).summarize(request(SESSION))
    assert written.warnings == ("The summarizer a failed: down.", "a chunk failed")
    assert written.details == {"chunks": 3}


async def test_one_that_hangs_is_given_up_after_its_time() -> None:
    slow = Plays(seconds=3_600)
    written = await FallbackSummarizer([("slow", slow), ("b", Plays())], seconds=0.1).summarize(
        request(SESSION)
    )
    assert written.warnings == ("The summarizer slow failed: it took longer than allowed.",)
    assert slow.cancelled == 1


async def test_a_time_out_of_its_own_is_another_reason() -> None:
    failing = Plays(TimeoutError)
    written = await chain_of([("a", failing), ("b", Plays())]).summarize(request(SESSION))
    assert written.warnings == ("The summarizer a failed: an unexpected error (TimeoutError).",)


async def test_the_last_one_s_failure_is_the_answer() -> None:
    chain = chain_of(
        [
            ("a", Plays(lambda: ModelError("a down", kind="server"))),
            ("b", Plays(lambda: ModelError("b down", kind="server"))),
        ]
    )
    with pytest.raises(ModelError, match="b down"):
        await chain.summarize(request(SESSION))


async def test_cancelling_asks_nobody_else() -> None:
    slow, second = Plays(seconds=3_600), Plays()
    task = asyncio.create_task(chain_of([("slow", slow), ("b", second)]).summarize(request(SESSION)))
    await slow.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, PATIENCE)
    assert (slow.cancelled, second.asked) == (1, 0)


async def test_a_second_model_follows_the_first() -> None:
    chatty = ModelSummarizer(ScriptedModel(["Sure, I will fix it!"]))
    good = ModelSummarizer(ScriptedModel([GOOD]))
    chain = chain_of([("chatty", chatty), ("good", good), ("offline", OfflineSummarizer())])
    written = await chain.summarize(request(SESSION))
    assert written.summarizer == "scripted/model"
    assert written.warnings[0].startswith("The summarizer chatty failed: scripted/model was asked 2 times")


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(ValueError, match="At least one"):
        chain_of([])
