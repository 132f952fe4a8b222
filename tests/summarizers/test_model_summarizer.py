"""A model writes, in as many requests as it takes, and its text stays as it is."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from documents import parts_of
from scripted import GOOD, ScriptedModel, asked, block, reply_of
from talk import edit, reply, request, run, user
from waiting import PATIENCE, hurry

from coppice.compaction.asking.prompts import Prompts
from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.compaction.summary_parser import missing_headings, parse_summary
from coppice.errors import SummaryRejectedError
from coppice.models.chat import ChatRequest, ModelError, OnDelta
from coppice.summarizers.llm import ModelSummarizer
from coppice.tokens.counting import count_tokens
from coppice.tree.messages import AssistantMessage, Message

SESSION = [
    user("Build the importer. Never use eval."),
    *edit("src/importer.py", "def read_rows(): ..."),
    *run("pytest tests/test_importer.py", "E   ValueError: bad row\n1 failed"),
]
TURN: list[Message] = [user("Now add the exporter"), *edit("src/exporter.py", "def write_rows(): ...")]
TURN_REPORT = "- Request: add the exporter\n- Done: began `src/exporter.py`\n- Next: test it"


def long_session(parts: int) -> list[Message]:
    return [
        message
        for n in range(parts)
        for message in (
            user(f"Do step {n} of src/importer.py"),
            *edit(f"src/part_{n}.py"),
            *run(f"make part_{n}", f"{'done ' * 200}{n}"),
        )
    ]


def writes(call: ChatRequest) -> str:
    return (
        TURN_REPORT
        if "labelled" in asked(call) or "- Request:" in asked(call).partition("</conv")[2]
        else GOOD
    )


async def written(model: ScriptedModel, wanted: SummaryRequest, **options: Any) -> WrittenSummary:
    return await ModelSummarizer(model, **options).summarize(wanted)


async def test_the_summary_says_who_wrote_it_and_how() -> None:
    model = ScriptedModel([GOOD])
    result = await written(model, request(SESSION))
    assert result.summarizer == "scripted/model"
    assert result.warnings == ()
    details = dict(result.details)
    assert (
        details.pop("durationMs") >= details["milliseconds"]["whole"] >= details["milliseconds"]["firstToken"]
    )
    assert details.pop("milliseconds").keys() == {"firstToken", "whole"}
    assert details == {
        "model": "scripted/model",
        "chunks": 1,
        "requests": 1,
        "tokens": {"input": 100, "output": 10},
        "repaired": [],
    }
    assert result.text == GOOD
    parts = parts_of(request(SESSION))
    assert "Never use eval." in parts.messages
    assert "fails" in parts.state


async def test_the_request_holds_what_the_model_needs_and_no_more() -> None:
    model = ScriptedModel([GOOD])
    wanted = SummaryRequest(
        history=SESSION,
        turn_prefix=(),
        kept_messages=[reply("Long ago. " * 2_000), user("WHAT FOLLOWED")],
        previous_summary="## Goal\nBefore this\n\n## Critical Context\n- a note\n\n## State\n- as it was",
        instructions="mind the migrations",
        max_tokens=3_000,
        count_tokens=count_tokens,
    )
    await written(model, wanted)
    (sent,) = model.requests
    assert sent.system == Prompts().system
    assert sent.purpose == "summary"
    assert sent.max_tokens == 3_000
    assert "[User]: Build the importer. Never use eval." in block(sent, "conversation")
    assert "Before this" in block(sent, "previous-summary")
    assert "a note" in block(sent, "previous-summary")
    assert "as it was" not in asked(sent)
    assert "WHAT FOLLOWED" in block(sent, "afterwards")
    assert len(block(sent, "afterwards")) < 12_100
    assert "WHAT FOLLOWED" not in block(sent, "conversation")
    assert asked(sent).endswith("Additional focus: mind the migrations")


@pytest.mark.parametrize(("results", "whole"), [(3, 3), (30, 0)])
async def test_results_are_shown_whole_where_all_of_them_fit_one_request(results: int, whole: int) -> None:
    big = [each for n in range(results) for each in run(f"cat {n}", f"{n} {'a ' * 1_500}END{' b' * 1_500}")]
    model = ScriptedModel([GOOD], window=40_000)
    await written(model, request([user("Look at all"), *big]))
    assert block(model.requests[0], "conversation").count("END") == whole


@pytest.mark.parametrize(("window", "least"), [(3_000, 4), (4_096, 3), (16_000, 2)])
async def test_a_conversation_over_the_window_goes_in_chunks_that_all_fit(window: int, least: int) -> None:
    session = long_session(60)
    model = ScriptedModel([GOOD], window=window)
    result = await written(model, request(session, max_tokens=1_500))
    assert model.overflows == 0
    assert len(model.requests) >= least
    assert result.details["chunks"] >= least
    sent = "".join(block(each, "conversation") for each in model.requests)
    newest = [f"make part_{n}" for n in range(60)][-10:]
    assert [name for name in newest if name not in sent] == []
    assert all("Build the importer" in block(each, "previous-summary") for each in model.requests[1:])
    assert result.text == GOOD
    assert count_tokens(result.text) <= 1_500


async def test_a_call_is_never_sent_without_its_result() -> None:
    model = ScriptedModel([GOOD], window=5_000)
    await written(model, request(long_session(40), max_tokens=1_000))
    assert len(model.requests) > 2
    for each in model.requests:
        text = block(each, "conversation")
        assert text.count("[Assistant tool calls]:") == text.count("[Tool result]:")


async def test_a_window_smaller_than_stated_is_found_out() -> None:
    model = ScriptedModel([GOOD], window=6_000, stated_window=200_000)
    result = await written(model, request(long_session(60), max_tokens=4_000))
    assert 0 < model.overflows <= 6
    assert len(model.requests) >= 2
    assert result.summarizer == "scripted/model"


async def test_a_tokenizer_that_needs_twice_our_count_is_met_by_halving() -> None:
    model = ScriptedModel([GOOD], window=10_000, tokens_per_token=2.2)
    result = await written(model, request(long_session(60), max_tokens=1_500))
    assert model.overflows > 0
    assert result.details["chunks"] >= 2


async def test_a_model_that_takes_no_size_at_all_has_failed() -> None:
    model = ScriptedModel(lambda _: ModelError("too big", kind="overflow"), window=200_000)
    with pytest.raises((ModelError, SummaryRejectedError)) as caught:
        await written(model, request(SESSION))
    assert "contextWindow" in str(caught.value)
    assert len(model.requests) <= 7


async def test_a_window_too_small_for_anything_is_reported() -> None:
    with pytest.raises(SummaryRejectedError, match="512 tokens, too small"):
        await written(ScriptedModel([GOOD], window=512), request(SESSION))


async def test_a_conversation_of_many_windows_is_bounded_and_says_so() -> None:
    model = ScriptedModel([GOOD], window=3_000)
    result = await written(model, request(long_session(200), max_tokens=1_000), most_chunks=5)
    assert len(model.requests) <= 8
    assert "oldest messages were summarized offline" in result.warnings[0]
    assert "make part_199" in block(model.requests[-1], "conversation")
    assert result.details["chunksByRule"] == 1


@pytest.mark.parametrize("kind", ["server", "timeout", "bad-answer", "refused"])
async def test_finished_chunks_are_kept_when_a_later_one_fails(kind: str) -> None:
    def part(call: ChatRequest) -> str | Exception:
        failing = "make part_30" in block(call, "conversation")
        return ModelError("The server broke down.", kind=kind) if failing else GOOD  # type: ignore[arg-type] # a FailureKind

    model = ScriptedModel(part, window=8_000)
    result = await written(model, request(long_session(60), max_tokens=1_500))
    assert result.details["chunksByRule"] == 1
    assert result.details["chunks"] > 2
    assert result.warnings == ("A part of the conversation was summarized offline: The server broke down.",)
    assert "make part_59" in block(model.requests[-1], "conversation")
    assert result.summarizer == "scripted/model"


@pytest.mark.parametrize("kind", ["auth", "quota", "not-found"])
async def test_without_hope_the_rest_is_reported_by_rule_at_once(kind: str) -> None:
    failed = ModelError("No money.", kind=kind)  # type: ignore[arg-type] # a FailureKind
    model = ScriptedModel([GOOD, failed], window=6_000)
    result = await written(model, request(long_session(60), max_tokens=1_500))
    assert len(model.requests) == 2
    assert result.warnings[-1] == "The rest of the conversation was summarized offline: No money."


async def test_a_model_that_fails_from_the_start_has_failed() -> None:
    with pytest.raises(ModelError, match="No money"):
        await written(ScriptedModel([ModelError("No money.", kind="quota")]), request(SESSION))


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "Sure, I'll fix that bug for you!",
        "I'm sorry, I can't.",
        reply_of("## Goal\nBuild", "length"),
        AssistantMessage(content=[], stop_reason="length"),
        ModelError("It broke off.", kind="cut-off"),
        Prompts().system,
    ],
)
async def test_a_bad_answer_is_asked_for_once_more_with_the_reason(
    bad: str | AssistantMessage | Exception,
) -> None:
    model = ScriptedModel([bad, GOOD])
    result = await written(model, request(SESSION))
    first, second = model.requests
    if not isinstance(bad, Exception):
        assert asked(second).startswith(asked(first))
        assert asked(second) != asked(first)
        assert "asked again" in result.details["repaired"]
    assert "Build the importer" in result.text


async def test_two_bad_answers_are_no_summary() -> None:
    model = ScriptedModel(["Sure!", "Of course!", "You are welcome!"])
    with pytest.raises(SummaryRejectedError, match="was asked 2 times and wrote no summary"):
        await written(model, request(SESSION))
    assert len(model.requests) == 3


async def test_the_two_summaries_of_a_split_turn_are_written_at_once() -> None:
    model = ScriptedModel(writes, seconds=0.05)
    result = await written(model, request(SESSION, turn=TURN), split_turn="separate")
    assert model.most_running == 2
    assert parse_summary(result.text).turn == (
        "Request: add the exporter",
        "Done: began `src/exporter.py`",
        "Next: test it",
    )
    assert "\n---\n" in result.text


async def test_the_turn_s_part_keeps_to_its_own_limit() -> None:
    report = "\n".join(f"- Done: wrote part {n} of `src/exporter.py`" for n in range(40))
    model = ScriptedModel(lambda call: report if writes(call) is TURN_REPORT else GOOD)
    wanted = replace(request(SESSION, turn=TURN), max_turn_prefix_tokens=120)
    lines = parse_summary((await written(model, wanted, split_turn="separate")).text).turn
    assert 3 <= len(lines) < 15
    assert sum(count_tokens(f"- {line}\n") for line in lines) <= 120
    assert min(each.max_tokens for each in model.requests) == 120


async def test_a_turn_that_fails_is_reported_by_rule_without_losing_the_models_history() -> None:
    def part(call: ChatRequest) -> str | Exception:
        answer = writes(call)
        return ModelError("The server broke down.", kind="server") if answer is TURN_REPORT else answer

    result = await written(ScriptedModel(part), request(SESSION, turn=TURN), split_turn="separate")
    assert any("Now add the exporter" in line for line in parse_summary(result.text).turn)
    assert "The early part of the turn was summarized offline" in result.warnings[0]


async def test_a_history_that_fails_stops_the_turn_s_request() -> None:
    def part(call: ChatRequest) -> str | Exception:
        return TURN_REPORT if writes(call) is TURN_REPORT else ModelError("No money.", kind="quota")

    with pytest.raises(ModelError, match="No money"):
        await written(ScriptedModel(part), request(SESSION, turn=TURN), split_turn="separate")


async def test_with_no_history_the_previous_summary_is_carried_without_asking() -> None:
    previous = "\n\n".join((GOOD.replace("(none)\n\n## Progress", "- Never use eval.\n\n## Progress"),))
    model = ScriptedModel([TURN_REPORT])
    result = await written(model, request([], turn=TURN, previous=previous), split_turn="separate")
    assert len(model.requests) == 1
    assert result.text == f"{previous}\n\n---\n\n**Turn Context (split turn):**\n\n{TURN_REPORT}"


async def test_a_turn_that_was_split_before_keeps_its_request() -> None:
    first = await written(ScriptedModel(writes), request(SESSION, turn=TURN), split_turn="separate")
    drops = ScriptedModel(["- Done: wrote `src/writer.py` at last"])
    second = await written(
        drops, request([], turn=edit("src/writer.py"), previous=first.text), split_turn="separate"
    )
    assert "Request: add the exporter" in parse_summary(second.text).turn
    assert "add the exporter" in block(drops.requests[0], "previous-summary")


async def test_a_branch_is_asked_for_in_its_own_words() -> None:
    model = ScriptedModel([GOOD])
    wanted = SummaryRequest(
        history=SESSION,
        turn_prefix=(),
        kept_messages=(),
        previous_summary=None,
        instructions="Only the files, please.",
        max_tokens=2_000,
        count_tokens=count_tokens,
        kind="branch",
        replace_instructions=True,
    )
    result = await written(model, wanted)
    assert Prompts().branch not in asked(model.requests[0])
    assert "Only the files, please." in asked(model.requests[0])
    assert "src/importer.py" in result.text


async def test_cancelling_stops_both_requests_at_once() -> None:
    model = ScriptedModel(writes, seconds=3_600)
    task = asyncio.create_task(written(model, request(SESSION, turn=TURN), split_turn="separate"))
    await asyncio.wait_for(model.both_running.wait(), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, PATIENCE)
    assert (model.running, model.cancelled) == (0, 2)


async def test_a_slow_model_runs_out_of_time() -> None:
    with pytest.raises(ModelError, match="within the time") as caught:
        await written(ScriptedModel([GOOD], seconds=3_600), request(SESSION), seconds=0.2)
    assert caught.value.kind == "timeout"


async def test_a_model_that_slows_down_keeps_what_it_finished() -> None:
    class SlowsDown(ScriptedModel):
        async def complete(self, request: ChatRequest, on_delta: OnDelta | None = None) -> AssistantMessage:
            if self.requests:
                hurry()
                await asyncio.Event().wait()
            return await super().complete(request, on_delta)

    model = SlowsDown([GOOD], window=6_000)
    result = await written(model, request(long_session(60), max_tokens=1_500), seconds=100)
    assert result.details["chunksByRule"] >= 1
    assert "The rest of the conversation" in result.warnings[-1]


async def test_a_budget_for_hardly_more_than_headings_is_not_given_to_a_model() -> None:
    model = ScriptedModel([GOOD])
    with pytest.raises(SummaryRejectedError, match="no room"):
        await written(model, request(SESSION, max_tokens=100))
    assert model.requests == []


@pytest.mark.parametrize("max_tokens", [200, 300, 700, 2_000])
async def test_the_budget_holds_whatever_the_model_writes(max_tokens: int) -> None:
    long = GOOD.replace("(none)", "- " + "much ado about a thing that happened, " * 40) + "\n- x_y_z" * 3_000
    result = await written(
        ScriptedModel([long]), request([*SESSION, *long_session(30)], max_tokens=max_tokens)
    )
    assert count_tokens(result.text) <= max_tokens
    assert -(-len(result.text) // 4) <= max_tokens
    assert missing_headings(result.text) == []


async def test_a_split_turn_that_fits_is_one_request_in_the_order_of_the_conversation() -> None:
    model = ScriptedModel([GOOD])
    await written(model, request(SESSION, turn=TURN))
    (sent,) = model.requests
    conversation = block(sent, "conversation")
    assert conversation.index("Build the importer.") < conversation.index("Now add the exporter")


async def test_the_last_request_sees_the_texts_of_all_parts() -> None:
    texts = [GOOD.replace("The port is 5433", f"Finding {number}") for number in range(9)]
    model = ScriptedModel(texts, window=20_000)
    result = await written(model, request(long_session(180), max_tokens=1_000))
    count = result.details["chunks"]
    assert count >= 3
    last = block(model.requests[count - 1], "previous-summary")
    assert [number for number in range(count - 1) if f"Finding {number}" not in last] == []
    assert Prompts().addition in asked(model.requests[1])
    assert Prompts().update in asked(model.requests[count - 1])
    assert result.text == texts[count - 1]


async def test_a_small_window_summarizes_a_split_turn_apart() -> None:
    model = ScriptedModel(writes, window=6_000)
    result = await written(model, request(long_session(60), turn=TURN, max_tokens=1_500))
    assert parse_summary(result.text).turn[0] == "Request: add the exporter"
