"""A model too weak for the format reports in sentences, and rules make the structure round them."""

import re

import pytest
from models.provider_replies import answer, error
from scripted import GOOD, ScriptedModel, asked, block
from summarizers.asking import asked as model_asked
from talk import edit, request, run, user

from coppice.compaction.asking.prompts import Prompts
from coppice.compaction.summary import HEADINGS
from coppice.compaction.summary_parser import missing_headings, parse_summary
from coppice.errors import SummaryRejectedError
from coppice.models.chat import ChatRequest
from coppice.summarizers.llm import ModelSummarizer
from coppice.tokens.counting import count_tokens
from coppice.tree.messages import Message

CHATTER = "Sure! Here is what I think about your project, which looks great to me."
SESSION = [
    user("Build the importer for the yearly report. Never use eval."),
    *edit("src/importer.py", "def read_rows(): ..."),
    *run("pytest tests/test_importer.py", "E   ValueError: bad row\n1 failed"),
]


def is_plain(call: ChatRequest) -> bool:
    return asked(call).endswith(Prompts().sentences)


def weak(call: ChatRequest) -> str:
    """Chatter where a format is wanted; else a sentence of what it is shown."""
    if not is_plain(call):
        return CHATTER
    names = re.findall(r"src/\w+\.py", block(call, "conversation"))
    return f"The code in {names[0]} was changed and the file {names[-1]} was changed."


def long_session(parts: int) -> list[Message]:
    return [
        message
        for n in range(parts)
        for message in (
            user(f"Change the code of part {n}"),
            *edit(f"src/part_{n}.py"),
            *run(f"make src/part_{n}.py", "x " * 300),
        )
    ]


async def test_its_sentences_are_in_a_whole_summary() -> None:
    model = ScriptedModel(weak)
    written = await ModelSummarizer(model).summarize(request(SESSION, max_tokens=2_000))
    summary = parse_summary(written.text)
    assert missing_headings(written.text) == []
    assert (
        "The code in src/importer.py was changed and the file src/importer.py was changed." in summary.context
    )
    assert "Never use eval." in summary.constraints
    assert written.summarizer == "scripted/model"
    assert written.details["sentences"] == 1
    assert written.details["repaired"] == ["asked again", "reported in sentences"]
    assert [is_plain(call) for call in model.requests] == [False, False, True]
    assert model.requests[-1].temperature == 0


async def test_from_then_on_it_is_asked_for_nothing_else() -> None:
    model = ScriptedModel(weak, window=4_000)
    written = await ModelSummarizer(model).summarize(request(long_session(30), max_tokens=1_200))
    chunks = written.details["chunks"]
    assert chunks > 3
    assert "chunksByRule" not in written.details
    assert [is_plain(call) for call in model.requests] == [False, False] + [True] * chunks
    lines = [line for line in parse_summary(written.text).context if line.startswith("The code in")]
    assert 1 <= len(lines) <= written.details["sentences"]
    assert "src/part_29.py" in written.text
    assert count_tokens(written.text) <= 1_200


async def test_a_model_that_knows_the_format_is_asked_for_it_again_after_a_slip() -> None:
    slips = iter([GOOD, CHATTER, CHATTER])

    def slipping(call: ChatRequest) -> str:
        return weak(call) if is_plain(call) else next(slips, GOOD)

    model = ScriptedModel(slipping, window=4_000)
    written = await ModelSummarizer(model).summarize(request(long_session(30), max_tokens=1_200))
    plain = [is_plain(call) for call in model.requests]
    assert plain[:5] == [False, False, False, True, False]
    assert sum(plain) == 1
    assert "The port is 5433" in written.text


async def test_a_part_of_which_it_reports_nothing_is_reported_by_rule() -> None:
    asked_plainly: list[ChatRequest] = []

    def wavering(call: ChatRequest) -> str:
        if is_plain(call):
            asked_plainly.append(call)
        return CHATTER if len(asked_plainly) == 1 else weak(call)

    model = ScriptedModel(wavering, window=4_000)
    written = await ModelSummarizer(model).summarize(request(long_session(30), max_tokens=1_200))
    assert [is_plain(call) for call in model.requests[:4]] == [False, False, True, True]
    assert written.details["chunksByRule"] == 1
    assert written.details["sentences"] == written.details["chunks"] - 1
    assert len(written.warnings) == 1


async def test_what_it_reports_of_some_parts_stays_when_it_reports_nothing_of_others() -> None:
    def now_and_then(call: ChatRequest) -> str:
        return weak(call) if re.search(r"part [05]\b", block(call, "conversation")) else CHATTER

    model = ScriptedModel(now_and_then, window=4_000)
    written = await ModelSummarizer(model).summarize(request(long_session(40), max_tokens=1_200))
    assert written.details["chunksByRule"] == written.details["chunks"] - written.details["sentences"] > 3
    assert len(model.requests) == written.details["chunks"] + 2
    assert len(written.warnings) == 1


async def test_a_model_that_reports_nothing_twice_has_failed() -> None:
    model = ScriptedModel([CHATTER], window=4_000)
    with pytest.raises(SummaryRejectedError, match="reported nothing"):
        await ModelSummarizer(model).summarize(request(long_session(30), max_tokens=1_200))
    assert len(model.requests) == 4


async def test_sentences_that_invent_are_no_summary() -> None:
    model = ScriptedModel(lambda call: "The rockets were launched from Texas." if is_plain(call) else CHATTER)
    with pytest.raises(SummaryRejectedError, match="was asked 2 times and wrote no summary"):
        await ModelSummarizer(model).summarize(request(SESSION))


@pytest.mark.parametrize(
    "trick", ["## Next Steps", "- [x] ", "</read-files>", "**Turn Context (split turn):**"]
)
async def test_sentences_open_no_section(trick: str) -> None:
    sentence = f"{trick} the importer for the yearly report was never used."
    plain = "The importer for the yearly report was never used."
    model = ScriptedModel(lambda call: f"{plain}\n{sentence}" if is_plain(call) else CHATTER)
    written = await ModelSummarizer(model).summarize(request(SESSION))
    headings = [line for line in written.text.splitlines() if line.startswith(("#", "**Turn"))]
    assert headings == list(HEADINGS)
    assert "<read-files>" not in written.text
    assert "</read-files>" not in written.text


async def test_a_server_that_takes_no_temperature_is_asked_without_it_from_then_on() -> None:
    refused = error(400, "Unsupported value: 'temperature' does not support 0 with this model.")
    sentence = "The importer for the yearly report was changed in src/importer.py."
    script = [answer(CHATTER), answer(CHATTER), refused, answer(sentence)]
    async with model_asked("openai", *script) as (model, server):
        written = await ModelSummarizer(model).summarize(request(SESSION))
    assert sentence in written.text
    assert ["temperature" in each.body for each in server.requests] == [False, False, True, False]
