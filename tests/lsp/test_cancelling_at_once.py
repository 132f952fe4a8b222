"""A cancel that is sent together with a request, directly after it or directly before it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lsp.raw_client import RawServer, framed
from models.provider_server import ProviderServer, serving
from models.provider_window import ScriptedReply, Windowed
from preloaded import python

WINDOW = 8_000
REQUEST_ID = "long"
PROGRESS = "shown"
Message = dict[str, Any]


@pytest.fixture(scope="module")
def provider() -> Iterator[ProviderServer]:
    with serving([Windowed(WINDOW, [ScriptedReply("Here.")] * 1_000)]) as server:
        yield server


@pytest.fixture(scope="module")
def server(provider: ProviderServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawServer]:
    model = {"provider": "openai", "name": "m", "baseUrl": provider.url, "contextWindow": WINDOW}
    settings = {"model": model, "tokens": {"counter": "estimate"}}
    with RawServer(tmp_path_factory.mktemp("server"), python=python()) as server:
        server.initialize({"initializationOptions": {"settings": settings}})
        yield server


@pytest.fixture
def conversation(server: RawServer) -> str:
    conversation_id: str = server.result("coppice/conversation/create", {})["conversation"]["id"]
    messages = [{"role": "user", "content": f"Turn {number}. " + "word " * 2_000} for number in range(9)]
    entries = [{"type": "message", "message": message} for message in messages]
    server.result("coppice/append", {"conversationId": conversation_id, "entries": entries})
    return conversation_id


def send_at_once(server: RawServer, *messages: Message) -> None:
    whole = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    server.send_bytes(b"".join(map(framed, whole)))


def entries(server: RawServer, conversation: str) -> Any:
    return server.result("coppice/entries", {"conversationId": conversation, "limit": 100})["entries"]


def long_request(conversation: str, method: str, **params: Any) -> Message:
    about = {"conversationId": conversation, "workDoneToken": PROGRESS}
    return {"id": REQUEST_ID, "method": f"coppice/{method}", "params": {**about, **params}}


def cancel_of_the_conversation(conversation: str) -> Message:
    return {"id": "cancel", "method": "coppice/cancel", "params": {"conversationId": conversation}}


def cancel_of_the_request(_: str) -> Message:
    return {"method": "$/cancelRequest", "params": {"id": REQUEST_ID}}


def cancel_of_the_progress(_: str) -> Message:
    return {"method": "window/workDoneProgress/cancel", "params": {"token": PROGRESS}}


CANCELS = [cancel_of_the_conversation, cancel_of_the_request, cancel_of_the_progress]
LONG = [("prompt", "turn"), ("compact", "compaction"), ("summarize", "summary"), ("recover", "recovery")]
PARAMS: dict[str, Message] = {
    "prompt": {"content": "Go on."},
    "recover": {"error": {"message": "prompt is too long: 9000 tokens > 8000 maximum"}},
}


@pytest.mark.parametrize("cancel", CANCELS)
@pytest.mark.parametrize(("method", "kind"), LONG)
def test_a_request_is_ended_by_a_cancel_that_was_sent_with_it(  # noqa: PLR0917 - fixtures
    server: RawServer,
    provider: ProviderServer,
    conversation: str,
    cancel: Callable[[str], Message],
    method: str,
    kind: str,
) -> None:
    before, asked = entries(server, conversation), len(provider.requests)
    wanted = cancel(conversation)
    send_at_once(server, long_request(conversation, method, **PARAMS.get(method, {})), wanted)
    assert server.answer(REQUEST_ID)["error"]["code"] == -32800
    if "id" in wanted:
        assert server.answer("cancel")["result"] == {"cancelled": [kind]}
    assert entries(server, conversation) == before
    assert len(provider.requests) == asked


def test_a_navigation_is_ended_by_a_cancel_that_was_sent_with_it(
    server: RawServer, provider: ProviderServer, conversation: str
) -> None:
    before, asked = entries(server, conversation), len(provider.requests)
    request = long_request(conversation, "navigate", targetId=before[0]["id"], summarize=True)
    send_at_once(server, request, cancel_of_the_conversation(conversation))
    assert server.answer(REQUEST_ID)["error"]["code"] == -32800
    assert server.answer("cancel")["result"] == {"cancelled": ["navigation"]}
    assert entries(server, conversation) == before
    assert len(provider.requests) == asked


def test_a_cancel_ends_no_prompt_that_was_sent_after_it(server: RawServer) -> None:
    conversation = server.result("coppice/conversation/create", {})["conversation"]["id"]
    prompt = long_request(conversation, "prompt", content="Go on.")
    send_at_once(server, cancel_of_the_conversation(conversation), prompt)
    assert server.answer("cancel")["result"] == {"cancelled": []}
    assert server.answer(REQUEST_ID)["result"]["stopReason"] == "stop"


def test_a_prompt_after_one_that_was_cancelled_at_once_is_answered(server: RawServer) -> None:
    conversation = server.result("coppice/conversation/create", {})["conversation"]["id"]
    first = {**long_request(conversation, "prompt", content="Go on."), "id": "first"}
    second = {**long_request(conversation, "prompt", content="Go on."), "id": "second"}
    send_at_once(server, first, cancel_of_the_conversation(conversation), second)
    assert server.answer("first")["error"]["code"] == -32800
    assert server.answer("cancel")["result"] == {"cancelled": ["turn"]}
    assert server.answer("second")["result"]["stopReason"] == "stop"
    stored = [entry["message"]["role"] for entry in entries(server, conversation)]
    assert stored == ["user", "assistant"]
