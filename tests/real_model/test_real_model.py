"""A real small model writes summaries, end to end: from an editor's request to what the store holds."""

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import talk
from lsp.editor import Editor, assistant, editing, user
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled
from real_model.llama_server import NAME, WINDOW, LlamaServer
from waiting import until

from coppice.models.chat import ChatModel, ChatRequest, ModelError
from coppice.models.choosing import chat_model
from coppice.settings import ModelSettings
from coppice.summarizers.fallback import FallbackSummarizer
from coppice.summarizers.llm import ModelSummarizer
from coppice.summarizers.offline import OfflineSummarizer
from coppice.tree.messages import UserMessage
from coppice.tree.view import ViewMessage

pytestmark = pytest.mark.timeout(500)

MODEL = f"openai/{NAME}"
PATIENCE = 420.0
TOO_LARGE = 100_000
CONSTRAINTS = ("Never touch src/legacy.py.", "Always run `make check` before you commit.")
HEADINGS = (
    "## Goal",
    "## Constraints & Preferences",
    "## Progress",
    "### Done",
    "### In Progress",
    "### Blocked",
    "## Key Decisions",
    "## Next Steps",
    "## Critical Context",
)


def asks(llama: LlamaServer, window: int) -> dict[str, Any]:
    return {
        "compaction": {"keepRecentTokens": 300, "reserveTokens": 1_500, "maxSummaryTokens": 600},
        "summarizer": {
            "provider": "openai",
            "baseUrl": llama.url,
            "name": NAME,
            "contextWindow": window,
            "timeoutSeconds": 400,
        },
    }


def model_of(llama: LlamaServer, **options: int) -> ChatModel:
    named = {"provider": "openai", "baseUrl": llama.url, "name": NAME}
    return chat_model(ModelSettings.model_validate({**named, **options}))


def editor_of(llama: LlamaServer, directory: Path, window: int = WINDOW) -> Any:
    return editing(directory, settings=asks(llama, window), command=("-m", "coppice.lsp"))


def used(number: int, name: str, path: str, output: str) -> list[dict[str, Any]]:
    call = {"type": "toolCall", "id": f"c{number}", "name": name, "arguments": {"path": path}}
    asked = {"role": "assistant", "content": [call], "stopReason": "toolUse"}
    message = {
        "role": "toolResult",
        "toolCallId": f"c{number}",
        "toolName": name,
        "content": [{"type": "text", "text": output}],
        "isError": False,
    }
    return [{"type": "message", "message": asked}, {"type": "message", "message": message}]


def listing(number: int) -> str:
    """A source file of some 800 tokens."""
    return "\n".join(
        f"def convert_{number}_{line}(value: int) -> int:\n    return value * {line}" for line in range(32)
    )


async def conversation(editor: Editor, parts: int) -> str:
    """Some 900 tokens for each part, most of them files that were read, as in a real session."""
    made = str((await editor.ask("coppice/conversation/create", {}))["conversation"]["id"])
    entries = [
        user(f"Build the importer for the yearly report. {CONSTRAINTS[0]} {CONSTRAINTS[1]}"),
        assistant("I will read the converters first, then write the importer for the yearly report."),
    ]
    for number in range(parts):
        entries.append(user(f"Please go on with part {number} of the importer."))
        entries += used(2 * number, "read", f"src/converters_{number}.py", listing(number))
        entries += used(2 * number + 1, "edit", f"src/importer_{number}.py", "The file was edited.")
        entries.append(assistant(f"Part {number} of the importer reads the converters and is written."))
    entries.append(user("Which part comes next? " + "The yearly report is due. " * 70))
    entries.append(assistant("The writer."))
    await editor.append(made, entries)
    return made


def assert_whole(entry: dict[str, Any], done: dict[str, Any], parts: int) -> None:
    summary = entry["summary"]
    places = [summary.index(f"{heading}\n") for heading in HEADINGS]
    assert places == sorted(places)
    assert all(constraint in summary for constraint in CONSTRAINTS)
    read, modified = entry["details"]["readFiles"], entry["details"]["modifiedFiles"]
    assert "<read-files>\n" + "\n".join(read) + "\n</read-files>" in summary
    assert "<modified-files>\n" + "\n".join(modified) + "\n</modified-files>" in summary
    assert modified == [f"src/importer_{number}.py" for number in range(parts)]
    assert read == [f"src/converters_{number}.py" for number in range(parts)]
    assert done["tokensAfter"] < done["tokensBefore"]


def assert_written_or_refused(done: dict[str, Any]) -> None:
    """The model wrote; or nothing that it wrote held, which is reported, and rules wrote instead.

    A model this small can report on some days only, so which of the two it is cannot be asked for.
    """
    if done["summarizer"] == MODEL:
        details = done["entry"]["details"]
        assert details["requests"] > 0
        assert details["chunks"] > details.get("chunksByRule", 0)
    else:
        assert done["summarizer"] == "offline"
        assert re.search(
            rf"{MODEL} (?:was asked 2 times and wrote no summary|reported nothing)", done["warnings"][0]
        )


async def test_a_compaction_with_a_real_model_is_whole(tmp_path: Path, llama: LlamaServer) -> None:
    refused = llama.refused()
    async with editor_of(llama, tmp_path) as editor:
        about = {"conversationId": await conversation(editor, 2)}
        done = await editor.ask("coppice/compact", about, patience=PATIENCE)
        stored = (await editor.entries(about["conversationId"]))[-1]
        [ended] = await editor.wait_for("coppice/compactionEnded")
    assert ended["status"] == "completed"
    assert stored == done["entry"]
    assert llama.refused() == refused
    assert_written_or_refused(done)
    assert_whole(stored, done, 2)


async def test_a_window_that_was_set_too_large_is_found_out_and_the_compaction_completes(
    tmp_path: Path, llama: LlamaServer
) -> None:
    refused = llama.refused()
    async with editor_of(llama, tmp_path, TOO_LARGE) as editor:
        about = {"conversationId": await conversation(editor, 4)}
        done = await editor.ask("coppice/compact", about, patience=PATIENCE)
    assert llama.refused() > refused
    assert_written_or_refused(done)
    assert_whole(done["entry"], done, 4)


async def test_a_server_that_answers_one_request_at_a_time_is_asked_for_both_parts_of_a_split_turn(
    llama: LlamaServer,
) -> None:
    history = [talk.user("Build the importer."), *talk.edit("src/importer.py", "def read_rows(): ...")]
    turn = [talk.user("Now the exporter."), *talk.edit("src/exporter.py", "def write_rows(): ...")]
    model = model_of(llama, contextWindow=WINDOW, maxOutputTokens=120)
    summarizer = ModelSummarizer(model, split_turn="separate")
    answers = llama.answers()
    try:
        async with asyncio.timeout(PATIENCE):
            chain = FallbackSummarizer(
                [("model", summarizer), ("offline", OfflineSummarizer())], seconds=PATIENCE
            )
            written = await chain.summarize(talk.request(history, turn=turn, max_tokens=800))
    finally:
        await model.close()
    assert "broke off" not in " ".join(written.warnings)
    assert llama.answers() >= answers + 2
    assert all(part in written.text for part in ("importer", "exporter"))


async def test_the_window_is_learnt_from_the_servers_own_overflow_error(llama: LlamaServer) -> None:
    text = "The importer reads the converters. " * 1_500
    request = ChatRequest([ViewMessage(None, UserMessage(content=text))], max_tokens=100)
    model = model_of(llama, contextWindow=TOO_LARGE)
    try:
        with pytest.raises(ModelError) as caught:
            await model.complete(request)
        limits = await model.limits()
    finally:
        await model.close()
    assert caught.value.kind == "overflow"
    assert (limits.context_window, limits.source) == (WINDOW, "server")


async def test_the_window_that_the_server_reports_counts(llama: LlamaServer) -> None:
    model = model_of(llama)
    try:
        limits = await model.limits()
    finally:
        await model.close()
    assert (limits.context_window, limits.source) == (WINDOW, "server")


async def test_a_compaction_is_cancelled_while_the_model_writes(tmp_path: Path, llama: LlamaServer) -> None:
    async with editor_of(llama, tmp_path) as editor:
        about = {"conversationId": await conversation(editor, 2)}
        before = await editor.entries(about["conversationId"])
        compacting = editor.start("coppice/compact", about, "long")
        await until(llama.writes, PATIENCE)
        editor.client.cancel_request(types.CancelParams(id="long"))
        with pytest.raises(JsonRpcException) as caught:
            await compacting
        [ended] = await editor.wait_for("coppice/compactionEnded")
        assert isinstance(caught.value, JsonRpcRequestCancelled)
        assert ended["status"] == "cancelled"
        assert await editor.entries(about["conversationId"]) == before
    await free_again(llama)


async def free_again(llama: LlamaServer) -> None:
    """The model has put the answer down that nobody waits for, and answers somebody else."""
    await until(llama.has_dropped, PATIENCE)
    question = {"model": NAME, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4}
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        answer = await client.post(f"{llama.url}/chat/completions", json=question)
    assert answer.json()["usage"]["completion_tokens"] > 0
