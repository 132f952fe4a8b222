"""A server that is killed in the middle of a client's recovery: the reopened conversation is sound."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lsp.editor import turn
from lsp.forked_server import ForkedServer
from models.provider_replies import answer, hang_before_headers, hang_in_the_stream
from models.provider_server import ProviderServer, Reply, serving
from waiting import PATIENCE

pytestmark = pytest.mark.slow

WINDOW = 8_000
TOO_LONG = {"message": "prompt is too long: 9000 tokens > 8000 maximum", "status": 400}
PARTLY_READ = {"message": "The answer makes no sense."}
SUMMARY = "## Goal\nChange the parts, and keep src/part_1.py small.\n\n## Next Steps\n1. Go on."


@contextmanager
def opened(directory: Path, provider: ProviderServer) -> Iterator[ForkedServer]:
    model = {"provider": "openai", "name": "m", "baseUrl": provider.url}
    settings = {
        "model": {"contextWindow": WINDOW},
        "summarizer": {**model, "contextWindow": 32_000},
        "tokens": {"counter": "estimate"},
        "compaction": {"reserveTokens": 1000, "keepRecentTokens": 1000},
    }
    with ForkedServer(directory) as server:
        server.initialize({"initializationOptions": {"settings": settings}})
        yield server


def kill(server: ForkedServer) -> None:
    assert server.kill() == -9


def conversation(server: ForkedServer, *more: dict[str, Any]) -> dict[str, Any]:
    about = {"conversationId": server.result("coppice/conversation/create")["conversation"]["id"]}
    entries = [entry for number in range(90) for entry in turn(number)]
    server.result("coppice/append", {**about, "entries": [*entries, *more]})
    return about


def message_entry(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": content, **more}}


def results(*outputs: str) -> list[dict[str, Any]]:
    calls = [
        {"type": "toolCall", "id": f"c{number}", "name": "bash", "arguments": {"n": number}}
        for number in range(len(outputs))
    ]
    answers = [
        message_entry(
            "toolResult",
            [{"type": "text", "text": output}],
            toolCallId=call["id"],
            toolName="bash",
            isError=False,
        )
        for call, output in zip(calls, outputs, strict=True)
    ]
    return [
        message_entry("user", "Show them."),
        message_entry("assistant", calls, stopReason="toolUse"),
        *answers,
    ]


def path(server: ForkedServer, about: dict[str, Any]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = server.result("coppice/entries", {**about, "limit": 1000})["entries"]
    assert [entry["parentId"] for entry in entries] == [None, *(entry["id"] for entry in entries[:-1])]
    return entries


def assert_view_is_sound(server: ForkedServer, about: dict[str, Any]) -> None:
    """Each call of the view is followed by its one result."""
    open_calls: list[str] = []
    for message in server.result("coppice/context", about)["messages"]:
        if message["role"] == "toolResult":
            assert message["toolCallId"] == open_calls.pop(0)
        else:
            assert open_calls == []
        if message["role"] == "assistant":
            open_calls = [block["id"] for block in message["content"] if block["type"] == "toolCall"]
    assert open_calls == []


def assert_recovers(server: ForkedServer, about: dict[str, Any]) -> None:
    done = server.result("coppice/recover", {**about, "error": TOO_LONG})
    assert done["action"] == "retry"
    assert_view_is_sound(server, about)
    assert server.result("coppice/usage", about)["tokens"] < WINDOW


def until_asked(provider: ProviderServer) -> None:
    deadline = time.monotonic() + PATIENCE
    while not provider.requests:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("silence", [hang_before_headers, hang_in_the_stream])
def test_killed_while_the_summary_is_written_nothing_has_changed(tmp_path: Path, silence: Reply) -> None:
    with serving([silence, answer(SUMMARY)]) as provider:
        with opened(tmp_path, provider) as server:
            about = conversation(server)
            before = path(server, about)
            server.start_request("coppice/recover", {**about, "error": TOO_LONG})
            assert server.notification("coppice/compactionStarted")["reason"] == "overflow"
            until_asked(provider)
            kill(server)
        with opened(tmp_path, provider) as server:
            assert path(server, about) == before
            assert_recovers(server, about)
            assert path(server, about)[-1]["type"] == "compaction"


@pytest.mark.parametrize("milliseconds", [0, 20, 60, 120, 250])
def test_killed_anywhere_between_compaction_and_truncation_it_is_before_or_after_a_step(
    tmp_path: Path, milliseconds: int
) -> None:
    with serving([answer(SUMMARY)]) as provider:
        with opened(tmp_path, provider) as server:
            about = conversation(server, *results("a" * 60_000, "b" * 40_000, "c" * 9_000))
            before = path(server, about)
            server.start_request("coppice/recover", {**about, "error": TOO_LONG})
            server.notification("coppice/compactionStarted")
            time.sleep(milliseconds / 1000)
            kill(server)
        with opened(tmp_path, provider) as server:
            after = path(server, about)
            remaining = [entry["id"] for entry in after if entry["id"] in {each["id"] for each in before}]
            assert remaining == [entry["id"] for entry in before][: len(remaining)]
            assert len(after) >= len(before)
            assert_view_is_sound(server, about)
            assert_recovers(server, about)


def test_killed_while_a_reply_is_set_aside_the_reply_is_in_the_tree(tmp_path: Path) -> None:
    reply = message_entry(
        "assistant",
        [{"type": "text", "text": "What was the question?"}],
        stopReason="stop",
        usage={"input": 9_500, "output": 9},
    )
    with serving([hang_before_headers, answer(SUMMARY)]) as provider:
        with opened(tmp_path, provider) as server:
            about = conversation(server, message_entry("user", "Go on."), reply)
            before = path(server, about)
            server.start_request("coppice/recover", {**about, "error": PARTLY_READ})
            until_asked(provider)
            kill(server)
        with opened(tmp_path, provider) as server:
            assert path(server, about) == before[:-1]
            nodes = server.result("coppice/tree", {**about, "limit": 1000})["nodes"]
            assert before[-1]["id"] in {node["id"] for node in nodes}
            assert_recovers(server, about)
