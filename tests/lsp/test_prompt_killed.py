"""A server that is killed in a turn: the reopened conversation is sound, and the next turn goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lsp.editor import GATED, turn
from lsp.forked_server import ForkedServer
from lsp.panel import PARTS, READ, settings_for
from models.provider_replies import answer, hang_in_the_stream
from models.provider_server import ProviderServer, Reply, serving

pytestmark = pytest.mark.slow


@contextmanager
def opened(directory: Path, url: str) -> Iterator[ForkedServer]:
    options = {"settings": settings_for("openai", url), "tools": True}
    with ForkedServer(directory, [str(GATED), str(directory / "gate")]) as server:
        server.initialize({"initializationOptions": options})
        yield server


def prompting(server: ForkedServer, about: dict[str, Any], content: str = "Go on.") -> int:
    params = {**about, "content": content, "tools": [READ], "partialResultToken": PARTS}
    return server.start_request("coppice/prompt", params)


def wait_until_reported(server: ForkedServer, kind: str) -> None:
    while server.notification("$/progress")["value"]["kind"] != kind:
        pass


def kill(server: ForkedServer) -> None:
    assert server.kill() == -9


def messages(server: ForkedServer, about: dict[str, Any]) -> list[Any]:
    entries = server.result("coppice/entries", {**about, "limit": 1000})["entries"]
    assert [entry["parentId"] for entry in entries] == [None, *(entry["id"] for entry in entries[:-1])]
    return [entry["message"] for entry in entries if entry["type"] == "message"]


def goes_on(server: ForkedServer, provider: ProviderServer, about: dict[str, Any]) -> list[Any]:
    """The messages that the next turn sends to the model."""
    ended = server.answer(prompting(server, about, "And now?"))
    assert ended["result"]["stopReason"] == "stop"
    sent: list[Any] = provider.requests[-1].body["messages"]
    return sent


def new_conversation(server: ForkedServer) -> dict[str, Any]:
    return {"conversationId": server.result("coppice/conversation/create")["conversation"]["id"]}


def test_a_server_killed_while_a_reply_streams_has_kept_the_prompt(tmp_path: Path) -> None:
    (tmp_path / "gate").touch()
    with serving([hang_in_the_stream, answer("Here.")]) as provider:
        with opened(tmp_path, provider.url) as server:
            about = new_conversation(server)
            prompting(server, about)
            wait_until_reported(server, "text")
            kill(server)
        with opened(tmp_path, provider.url) as server:
            assert [message["role"] for message in messages(server, about)] == ["user"]
            assert [message["content"] for message in goes_on(server, provider, about)] == [
                *("Go on.", "And now?"),
            ]


def test_a_server_killed_while_a_tool_runs_has_kept_the_call_and_answers_for_it(tmp_path: Path) -> None:
    (tmp_path / "gate").touch()
    script: list[Reply] = [answer(calls=[("c1", "read", {"path": "a"})]), answer("Here.")]
    with serving(script) as provider:
        with opened(tmp_path, provider.url) as server:
            about = new_conversation(server)
            prompting(server, about)
            assert server.notification("coppice/invokeTool")["toolCallId"] == "c1"
            kill(server)
        with opened(tmp_path, provider.url) as server:
            assert [message["role"] for message in messages(server, about)] == ["user", "assistant"]
            sent = goes_on(server, provider, about)
            assert [message["role"] for message in sent] == ["user", "assistant", "tool", "user"]
            assert sent[2]["tool_call_id"] == "c1"
            assert "interrupted" in sent[2]["content"]


def test_a_server_killed_while_it_compacts_before_a_prompt_has_changed_nothing(tmp_path: Path) -> None:
    entries = [entry for number in range(70) for entry in turn(number)]
    with serving([answer("Here.")]) as provider:
        with opened(tmp_path, provider.url) as server:
            about = new_conversation(server)
            server.result("coppice/append", {**about, "entries": entries})
            before = messages(server, about)
            prompting(server, about)
            assert server.notification("coppice/compactionStarted")["reason"] == "threshold"
            kill(server)
        (tmp_path / "gate").touch()
        with opened(tmp_path, provider.url) as server:
            assert messages(server, about) == before
            sent = goes_on(server, provider, about)
            assert "summary" in str(sent[0])
            assert sent[-1]["content"] == "And now?"
