"""A store on a disk that became read-only, a real one, is read where SQLite can read it, else refused."""

import subprocess
from pathlib import Path
from typing import Any

from lsp.raw_client import RawServer
from preloaded import python

SETTINGS = {"initializationOptions": {"settings": {"tokens": {"counter": "estimate"}}}}


def stored(directory: Path, *, ends: bool) -> str:
    """A conversation about a rowan, of a server that then ends, or is killed and leaves its log."""
    # A preloaded server is killed a moment later, and has ended in its own way by then.
    with RawServer(directory) as server:
        server.initialize(SETTINGS)
        conversation = str(server.result("coppice/conversation/create", {})["conversation"]["id"])
        message = {"type": "message", "message": {"role": "user", "content": "the rowan grows"}}
        about = {"conversationId": conversation}
        server.result("coppice/append", {**about, "entries": [message]})
        server.result("coppice/recall", {**about, "query": "rowan"})
        if ends:
            server.request("shutdown")
            server.notify("exit")
            server.process.wait()
    return conversation


def requests(conversation: str) -> dict[str, dict[str, Any]]:
    about = {"conversationId": conversation}
    return {
        "conversation/get": about,
        "recall": {**about, "query": "rowan"},
        "conversation/search": {"query": "rowan"},
    }


def make_read_only(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


def test_search_and_recall_answer_where_the_log_is_there(tmp_path: Path, small_disk: Path) -> None:
    conversation = stored(tmp_path, ends=False)
    make_read_only(small_disk)
    with RawServer(tmp_path, python=python()) as server:
        server.initialize(SETTINGS)
        results = {
            method: server.result(f"coppice/{method}", params)
            for method, params in requests(conversation).items()
        }
        assert [item["text"] for item in results["recall"]["items"]] == ["the rowan grows"]
        assert len(results["conversation/search"]["hits"]) == 1


def test_what_sqlite_cannot_open_is_refused_with_what_to_do(tmp_path: Path, small_disk: Path) -> None:
    conversation = stored(tmp_path, ends=True)
    make_read_only(small_disk)
    with RawServer(tmp_path, python=python()) as server:
        server.initialize(SETTINGS)
        for method, params in requests(conversation).items():
            error = server.request(f"coppice/{method}", params)["error"]
            assert error["data"]["code"] == "storage-failed", method
            assert "Check that its folder can be written." in error["message"], method
