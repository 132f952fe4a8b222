"""The progress of a summary that is written before it is due."""

from pathlib import Path
from typing import Any

import pytest
from lsp.editor import GATED
from lsp.raw_client import RawServer
from preloaded import python

SETTINGS = {
    "model": {"contextWindow": 20_000},
    "tokens": {"counter": "estimate"},
    "compaction": {"keepRecentTokens": 2_000, "clear": {"enabled": False}},
}


def message(role: str, text: str) -> dict[str, Any]:
    content = text if role == "user" else [{"type": "text", "text": text}]
    return {"type": "message", "message": {"role": role, "content": content}}


@pytest.fixture
def server(tmp_path: Path) -> Any:
    with RawServer(tmp_path, (str(GATED), str(tmp_path / "gate")), python=python()) as server:
        capabilities = {"window": {"workDoneProgress": True}}
        server.initialize(
            {
                "rootUri": tmp_path.as_uri(),
                "capabilities": capabilities,
                "initializationOptions": {"settings": SETTINGS},
            }
        )
        yield server


def begun(server: RawServer) -> tuple[dict[str, str], str]:
    """A conversation near its threshold, and the token on which its next compaction is prepared."""
    made = server.result("coppice/conversation/create")["conversation"]
    about = {"conversationId": made["id"]}
    entries = [message(role, "x" * 2_000) for _ in range(9) for role in ("user", "assistant")]
    usage = server.result("coppice/append", {**about, "entries": entries})["usage"]
    assert 0.8 * usage["thresholdTokens"] < usage["tokens"] < usage["thresholdTokens"]
    asked = server.start_request("coppice/preparePrompt", about)
    while (create := server.receive()).get("method") != "window/workDoneProgress/create":
        server.seen.append(create)
    server.send({"jsonrpc": "2.0", "id": create["id"], "result": None})
    assert server.answer(asked)["result"]["compacted"] is False
    return about, create["params"]["token"]


def ending(server: RawServer, token: str) -> str:
    while (progress := server.notification("$/progress"))["token"] != token or (
        progress["value"]["kind"] != "end"
    ):
        assert progress["value"].get("title") in (None, "Compacting in the background", "Compacting")
    return str(progress["value"]["message"])


def test_it_is_shown_and_the_summary_is_taken(server: RawServer, tmp_path: Path) -> None:
    about, token = begun(server)
    begin = server.notification("$/progress")
    assert (begin["token"], begin["value"]["title"]) == (token, "Compacting in the background")
    (tmp_path / "gate").touch()
    assert ending(server, token) == "The summary is ready for the next compaction"
    (tmp_path / "gate").unlink()
    entry = server.result("coppice/compact", about)["entry"]
    assert (entry["type"], entry["reason"]) == ("compaction", "manual")


def test_cancelling_it_writes_nothing(server: RawServer, tmp_path: Path) -> None:
    about, token = begun(server)
    server.notify("window/workDoneProgress/cancel", {"token": token})
    assert ending(server, token).startswith("Stopped")
    kinds = {entry["type"] for entry in server.result("coppice/entries", about)["entries"]}
    assert kinds == {"message"}
    (tmp_path / "gate").touch()
    assert server.result("coppice/compact", about)["entry"]["type"] == "compaction"
