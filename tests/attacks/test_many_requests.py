"""A client with more requests than the server works on: every one is answered, and nothing waits for ever."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp.editor import SETTINGS, turn
from lsp.raw_client import RawServer, framed
from preloaded import python

from coppice.lsp.in_work import MAX_REQUEST_BYTES, MAX_REQUESTS

SUMMARY = "## Goal\nSmall and fast parts.\n\n## Next Steps\n1. Go on with src/part_9.py and src/part_8.py."


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RawServer]:
    """A server whose client writes the summaries."""
    settings = {**SETTINGS, "summarizer": {"provider": "editor"}}
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({"initializationOptions": {"settings": settings, "sampling": True}})
        yield server


@pytest.fixture
def conversation(server: RawServer) -> str:
    """One with enough to compact."""
    made = server.result("coppice/conversation/create")["conversation"]["id"]
    entries = [entry for number in range(30) for entry in turn(number)]
    server.result("coppice/append", {"conversationId": made, "entries": entries})
    return str(made)


def compact(server: RawServer, conversation: str, **more: Any) -> int:
    """The id of a request that waits for the client's model."""
    return server.start_request("coppice/compact", {"conversationId": conversation, **more})


def is_refused(answer: dict[str, Any]) -> bool:
    if "result" in answer:
        return False
    assert answer["error"]["code"] == -32803
    assert answer["error"]["data"] == {"code": "too-many-requests"}
    assert "again" in answer["error"]["message"]
    return True


def test_what_goes_on_is_read_at_the_limit_and_further_requests_are_refused(
    server: RawServer, conversation: str
) -> None:
    waiting = [compact(server, conversation, workDoneToken=f"t{number}") for number in range(MAX_REQUESTS)]
    assert is_refused(server.request("coppice/conversation/list"))

    server.notify("$/cancelRequest", {"id": waiting[0]})
    assert server.answer(waiting.pop(0))["error"]["code"] == -32800
    assert not is_refused(server.request("coppice/conversation/list"))

    more = compact(server, conversation)
    assert is_refused(server.request("coppice/conversation/list"))
    server.notify("window/workDoneProgress/cancel", {"token": f"t{MAX_REQUESTS - 1}"})
    assert server.answer(waiting.pop())["error"]["code"] == -32800
    assert not is_refused(server.request("coppice/conversation/list"))

    asked = server._first(lambda message: message.get("method") == "coppice/sample")
    server.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"text": SUMMARY}})
    [summary] = {server.answer(each)["result"]["entry"]["summary"] for each in (*waiting, more)}
    assert "Small and fast parts." in summary


def test_shutdown_and_exit_are_read_at_the_limit(server: RawServer, conversation: str) -> None:
    for _ in range(MAX_REQUESTS):
        compact(server, conversation)
    assert server.result("shutdown") is None
    server.notify("exit")
    assert server.process.wait(30) == 0


def test_waiting_requests_have_a_length_in_all(server: RawServer, conversation: str) -> None:
    long = "x" * (MAX_REQUEST_BYTES // 3)
    waiting = [compact(server, conversation, padding=long) for _ in range(3)]
    assert is_refused(server.answer(compact(server, conversation, padding=long)))
    server.notify("$/cancelRequest", {"id": waiting[0]})
    assert server.answer(waiting[0])["error"]["code"] == -32800
    assert not is_refused(server.request("coppice/conversation/list"))


@pytest.mark.slow
def test_ten_thousand_requests_sent_at_once_are_all_done(server: RawServer) -> None:
    calls = [
        {"jsonrpc": "2.0", "id": f"r{number}", "method": "coppice/conversation/list"}
        for number in range(10_000)
    ]
    server.send_bytes(b"".join(framed(json.dumps(call).encode()) for call in calls))
    answers: Counter[str] = Counter()
    while answers.total() < len(calls):
        message = server.receive()
        if "method" not in message:
            assert "result" in message
            answers[message["id"]] += 1
    assert set(answers.values()) == {1}
