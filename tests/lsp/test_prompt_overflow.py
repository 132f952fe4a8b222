"""Turns in a model's real window of 8,000 tokens: none dies of a full one without having tried everything."""

from pathlib import Path
from typing import Any

import pytest
from lsp.panel import READ, WINDOW, Panel, RunTool, chatting, refused
from models.provider_replies import error
from models.provider_window import ScriptedReply
from summarizers.asking import PROVIDERS, Provider

every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def last_message(body: dict[str, Any]) -> str:
    (messages,) = [body[name] for name in ("messages", "input", "contents") if name in body]
    return str(messages[-1])


STEP = ["call read", "assistant", "invoke read", "toolResult"]
COMPACTED = ["started: {}", "compaction started", "ended: completed", "compaction completed"]
CALLS_ONE = ScriptedReply(calls=[("c", "read", {"path": "notes.txt"})])


def compacted(reason: str) -> list[str]:
    return [event.format(reason) for event in COMPACTED]


def lines_of(tokens: int) -> str:
    return "".join(f"{number:06d} is a line of the file\n" for number in range(tokens * 4 // 29))


def gives(tokens: int) -> dict[str, RunTool]:
    async def read(_: dict[str, Any]) -> str:
        return lines_of(tokens)

    return {"read": read}


async def compactions(panel: Panel) -> list[dict[str, Any]]:
    entries = await panel.editor.entries(panel.about["conversationId"])
    return [entry for entry in entries if entry["type"] == "compaction"]


@every_provider
async def test_a_turn_that_outgrows_the_window_is_compacted_between_its_steps(
    tmp_path: Path, provider: Provider
) -> None:
    replies = [*[CALLS_ONE] * 6, ScriptedReply("All read.")]
    how: dict[str, Any] = {"provider": provider, "compaction": {"clear": {"enabled": False}}}
    async with chatting(tmp_path, *replies, tools=gives(1500), **how) as panel:
        done = await panel.prompt("Read everything.", tools=[READ])
        assert done["stopReason"] == "stop"
        assert panel.model.refused == 0
        assert max(panel.model.sizes) <= WINDOW
        [first, *_] = made = await compactions(panel)
        assert {entry["reason"] for entry in made} == {"threshold"}
        assert [entry["id"] for entry in made] == done["compactions"]
        assert panel.line[: panel.line.index("started: threshold")] == ["user", *STEP * 5]
        at = panel.line.index("started: threshold")
        assert panel.line[at : at + 4] == compacted("threshold")
        assert panel.line[-3:] == ["toolResult", "text", "assistant"]
        assert (await panel.roles()).count("user") == 1
        assert first["tokensAfter"] < first["tokensBefore"]


async def test_a_prompt_over_the_threshold_is_compacted_first_and_sent_once(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedReply("Yes.")) as panel:
        await panel.append_turns(6_600)
        done = await panel.prompt("And now? " + "It matters. " * 300)
        assert panel.line == [*compacted("threshold"), "user", "text", "assistant"]
        assert (len(panel.model.sizes), panel.model.refused) == (1, 0)
        assert len(done["compactions"]) == 1


@every_provider
async def test_an_overflow_is_compacted_and_the_request_made_again(
    tmp_path: Path, provider: Provider
) -> None:
    how: dict[str, Any] = {"provider": provider, "compaction": {"enabled": False}}
    async with chatting(tmp_path, ScriptedReply("Yes."), **how) as panel:
        await panel.append_turns(9_000)
        done = await panel.prompt("And now?")
        assert panel.line == ["user", *compacted("overflow"), "retry 1 compacted", "text", "assistant"]
        assert panel.model.refused == 1
        assert panel.editor.notified("coppice/compactionEnded")[0]["willRetry"]
        assert len(done["compactions"]) == 1
        assert (await panel.roles())[-2:] == ["user", "assistant"]
        assert "And now?" in last_message(panel.provider.requests[-1].body)


@every_provider
async def test_one_giant_tool_result_is_cut_on_a_branch_of_its_own(
    tmp_path: Path, provider: Provider
) -> None:
    how: dict[str, Any] = {"provider": provider, "tools": gives(20_000)}
    async with chatting(tmp_path, CALLS_ONE, ScriptedReply("Long."), **how) as panel:
        done = await panel.prompt("Read it.", tools=[READ])
        assert panel.line[:5] == ["user", *STEP]
        assert panel.line[-3:] == ["retry 1 truncated", "text", "assistant"]
        assert done["stopReason"] == "stop"
        assert panel.model.refused == 1
        [cut] = [m for m in await panel.messages() if m["role"] == "toolResult"]
        assert "characters of this tool result were left out" in cut["content"][0]["text"]
        whole = await panel.ask("entries", leafId=done["entryIds"][2])
        assert whole["entries"][-1]["message"]["content"][0]["text"] == lines_of(20_000)


async def test_three_medium_tool_results_of_one_step_are_cut_together(tmp_path: Path) -> None:
    calls = [(f"c{number}", "read", {"path": f"{number}.txt"}) for number in range(3)]
    async with chatting(
        tmp_path, ScriptedReply(calls=calls), ScriptedReply("Read."), tools=gives(2_350)
    ) as panel:
        await panel.prompt("Read them.", tools=[READ], system="Be careful. " * 350)
        results = [m["content"][0]["text"] for m in await panel.messages() if m["role"] == "toolResult"]
        assert len(results) == 3
        assert any("were left out" in text for text in results)
        assert "0000" in results[-1]
        assert panel.line[-3:] == ["retry 1 truncated", "text", "assistant"]
        assert panel.model.sizes[-1] <= WINDOW


@every_provider
async def test_an_overflow_that_persists_ends_with_the_numbers_and_what_to_do(
    tmp_path: Path, provider: Provider
) -> None:
    async with chatting(tmp_path, ScriptedReply("Never said."), provider=provider) as panel:
        panel.model.window = 0
        await panel.append_turns(5_000)
        failure = await refused(panel.start("And now?"))
        assert failure["code"] == "context-overflow"
        assert failure["contextWindow"] <= WINDOW
        assert failure["tokens"] > 0
        for part in ("refused what should fit", "8,000", "Tried: ", "compaction", "larger window"):
            assert part in failure["message"]
        assert panel.line.count("started: overflow") <= 3
        assert panel.line.count("started: overflow") == panel.line.count("ended: completed")
        assert panel.line[-1] == "assistant error"
        assert (await panel.messages())[-1]["errorMessage"] == failure["message"]
        panel.model.window = WINDOW
        assert (await panel.prompt("And with a larger one?"))["stopReason"] == "stop"


async def test_a_prompt_that_can_never_fit_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedReply("Never said.")) as panel:
        failure = await refused(panel.start("word " * 10_000))
        assert failure["code"] == "context-overflow"
        assert "8,000" in failure["message"]
        assert panel.line == []
        assert await panel.messages() == []
        assert panel.model.sizes == []


LIMITS = [
    "Request too large for m on tokens per min (TPM): Limit 6000, Requested 7200.",
    "This request would exceed your organization's rate limit of 30,000 input tokens per minute.",
]


@pytest.mark.parametrize("words", LIMITS)
@every_provider
async def test_a_limit_by_the_minute_is_no_overflow(tmp_path: Path, provider: Provider, words: str) -> None:
    limited = error(429, words, code="rate_limit_error", retry_after="3600")
    async with chatting(tmp_path, limited, ScriptedReply("Now."), provider=provider) as panel:
        await panel.append_turns(5_000)
        failure = await refused(panel.start("And now?"))
        assert (failure["code"], failure["kind"]) == ("model-failed", "rate-limit")
        assert panel.line == ["user", "assistant error"]
        assert len(panel.model.sizes) == 1
        assert (await panel.prompt("And now?"))["stopReason"] == "stop"


@every_provider
async def test_a_rate_limit_that_passes_is_waited_for(tmp_path: Path, provider: Provider) -> None:
    limited = error(429, "Too many requests", retry_after="0")
    async with chatting(tmp_path, limited, ScriptedReply("Now."), provider=provider) as panel:
        assert (await panel.prompt("And now?"))["stopReason"] == "stop"
        assert panel.line == ["user", "text", "assistant"]


async def test_an_answer_to_more_than_the_window_is_an_overflow_too(tmp_path: Path) -> None:
    how: dict[str, Any] = {"is_silent": True, "compaction": {"enabled": False}}
    async with chatting(tmp_path, ScriptedReply("Of what?"), ScriptedReply("Yes."), **how) as panel:
        await panel.append_turns(9_000)
        await panel.prompt("And now?")
        again = [*compacted("overflow"), "retry 1 compacted", "text", "assistant"]
        assert panel.line == ["user", "text", *again]
        assert (await panel.messages())[-1]["content"][0]["text"] == "Yes."
        assert "Of what?" not in str(await panel.messages())
