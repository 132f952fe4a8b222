"""What is left when a server is killed in the middle of its work."""

import sys
from pathlib import Path
from typing import Any

import pytest
from lsp.editor import GATED, WORKSPACE, turn
from lsp.forked_server import ForkedServer

pytestmark = pytest.mark.slow

KILLED = 1 if sys.platform == "win32" else -9
HELLO = {
    "workspaceFolders": [{"uri": WORKSPACE, "name": "editor"}],
    "initializationOptions": {"settings": {"compaction": {"keepRecentTokens": 300}}},
}


def opened(directory: Path) -> ForkedServer:
    server = ForkedServer(directory, [str(GATED), str(directory / "gate")])
    server.initialize(HELLO)
    return server


def test_a_server_killed_while_it_compacts_leaves_the_conversation_as_it_was(tmp_path: Path) -> None:
    entries: list[dict[str, Any]] = [entry for number in range(30) for entry in turn(number)]
    with opened(tmp_path) as server:
        about = {"conversationId": server.result("coppice/conversation/create")["conversation"]["id"]}
        server.result("coppice/append", {**about, "entries": entries})
        before = server.result("coppice/entries", {**about, "limit": 1000})["entries"]
        server.start_request("coppice/compact", about)
        server.notification("coppice/compactionStarted")
        assert server.kill() == KILLED
    (tmp_path / "gate").touch()
    with opened(tmp_path) as server:
        assert server.result("coppice/entries", {**about, "limit": 1000})["entries"] == before
        compacted = server.result("coppice/compact", about)
        assert compacted["tokensAfter"] < compacted["tokensBefore"]
        assert server.result("coppice/entries", {**about, "after": before[-1]["id"]})["entries"] == [
            compacted["entry"]
        ]


def test_every_append_that_was_answered_outlives_a_kill(tmp_path: Path) -> None:
    answered_ids: list[str] = []
    conversation_id = ""
    for _ in range(3):
        with opened(tmp_path) as server:
            if not conversation_id:
                made = server.result("coppice/conversation/create")
                conversation_id = made["conversation"]["id"]
            about = {"conversationId": conversation_id}
            for number in range(5):
                answered_ids += server.result("coppice/append", {**about, "entries": turn(number)})[
                    "entryIds"
                ]
            for number in range(20):
                server.start_request("coppice/append", {**about, "entries": turn(number)})
            server.kill()
            acknowledged = [message["result"] for message in server.rest() if "result" in message]
            answered_ids += [entry_id for result in acknowledged for entry_id in result["entryIds"]]
    with opened(tmp_path) as server:
        entries = server.result("coppice/entries", {"conversationId": conversation_id, "limit": 1000})[
            "entries"
        ]
        assert set(answered_ids) <= {entry["id"] for entry in entries}
        assert [entry["parentId"] for entry in entries] == [None, *(entry["id"] for entry in entries[:-1])]
