"""What an editor says about files reaches its conversation, and never gets in the way."""

from pathlib import Path
from typing import Any

import pytest
from lsp.editor import user
from lsp.forked_server import ForkedServer
from lsp.raw_client import RawServer
from preloaded import python
from waiting import PATIENCE

WATCHES = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}


class Window:
    """An editor window on a folder, with a conversation in it."""

    def __init__(self, server: RawServer, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.talk = server.result("coppice/conversation/create", {})["conversation"]["id"]

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def files(self) -> dict[str, Any]:
        return dict(self.server.result("coppice/files", {"conversationId": self.talk}))

    def watched(self, *changes: tuple[str, int]) -> None:
        events = [{"uri": self.uri(name), "type": kind} for name, kind in changes]
        self.server.notify("workspace/didChangeWatchedFiles", {"changes": events})


def opened(server: RawServer, directory: Path, **more: Any) -> Window:
    folder = directory / "workspace"
    folder.mkdir(exist_ok=True)
    server.initialize({"workspaceFolders": [{"uri": folder.as_uri(), "name": "w"}], **more})
    return Window(server, folder)


def test_the_server_says_which_events_it_wants(tmp_path: Path) -> None:
    with RawServer(tmp_path, python=python()) as server:
        capabilities = server.initialize({"capabilities": WATCHES})["capabilities"]
        assert capabilities["textDocumentSync"] == {
            "openClose": True,
            "change": 0,
            "save": {"includeText": False},
        }
        operations = capabilities["workspace"]["fileOperations"]
        assert sorted(operations) == ["didCreate", "didDelete", "didRename"]
        every_file = {"filters": [{"scheme": "file", "pattern": {"glob": "**/*"}}]}
        assert [operations[name] for name in sorted(operations)] == [every_file] * 3
        (wanted,) = server.notification("client/registerCapability")["registrations"]
        assert wanted["method"] == "workspace/didChangeWatchedFiles"
        assert wanted["registerOptions"] == {"watchers": [{"globPattern": "**/*"}]}


def test_a_client_that_cannot_watch_is_not_asked_to(tmp_path: Path) -> None:
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({"capabilities": {}})
        server.result("coppice/conversation/create", {})
        assert [m for m in server.seen if m.get("method") == "client/registerCapability"] == []


def test_a_document_counts_when_it_is_saved(tmp_path: Path) -> None:
    with RawServer(tmp_path, python=python()) as server:
        window = opened(server, tmp_path)
        for name in ("saved.py", "discarded.py"):
            document = {"uri": window.uri(name)}
            text = {**document, "languageId": "python", "version": 1, "text": ""}
            server.notify("textDocument/didOpen", {"textDocument": text})
            change = {"textDocument": {**document, "version": 2}, "contentChanges": [{"text": "x"}]}
            server.notify("textDocument/didChange", change)
            if name == "saved.py":
                server.notify("textDocument/didSave", {"textDocument": document})
            server.notify("textDocument/didClose", {"textDocument": document})
        files = window.files()
        assert (files["readFiles"], files["modifiedFiles"]) == ([], ["saved.py"])


def test_what_the_editor_does_to_files_and_what_its_watcher_sees_is_recorded_once(tmp_path: Path) -> None:
    with RawServer(tmp_path, python=python()) as server:
        window = opened(server, tmp_path)
        server.notify("workspace/didCreateFiles", {"files": [{"uri": window.uri("new.py")}]})
        moved = {"oldUri": window.uri("a.py"), "newUri": window.uri("b.py")}
        server.notify("workspace/didRenameFiles", {"files": [moved]})
        server.notify("workspace/didDeleteFiles", {"files": [{"uri": window.uri("gone.py")}]})
        window.watched(("new.py", 1), ("a.py", 3), ("b.py", 1), ("gone.py", 3), ("seen.py", 2), (".git/x", 1))
        files = window.files()
        assert files["modifiedFiles"] == ["b.py", "new.py", "seen.py"]
        assert files["deletedFiles"] == ["gone.py"]
        records = {record["path"]: record for record in files["records"]}
        assert records["b.py"]["renamedFrom"] == "a.py"
        assert {path: record["sources"] for path, record in records.items()} == {
            "b.py": ["editor"],
            "new.py": ["editor"],
            "gone.py": ["editor"],
            "seen.py": ["watcher"],
        }


def test_the_folders_of_the_window_may_change(tmp_path: Path) -> None:
    with RawServer(tmp_path, python=python()) as server:
        window = opened(server, tmp_path)
        left = {"uri": window.folder.as_uri(), "name": "w"}
        server.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [left]}})
        server.result("coppice/conversation/list", {})
        window.watched(("a.py", 2))
        assert window.files()["modifiedFiles"] == []
        server.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [left], "removed": []}})
        server.result("coppice/append", {"conversationId": window.talk, "entries": [user("back")]})
        window.watched(("b.py", 2))
        assert window.files()["modifiedFiles"] == ["b.py"]


def test_what_was_received_is_stored_when_the_client_leaves(tmp_path: Path) -> None:
    with RawServer(tmp_path, python=python()) as server:
        window = opened(server, tmp_path)
        window.watched(("a.py", 2))
        server.result("shutdown")
        server.notify("exit")
        assert server.process.wait(PATIENCE) == 0
    with RawServer(tmp_path, python=python()) as server:
        again = opened(server, tmp_path)
        again.talk = window.talk
        assert again.files()["modifiedFiles"] == ["a.py"]


def test_what_was_recorded_survives_a_server_that_is_killed(tmp_path: Path) -> None:
    with ForkedServer(tmp_path) as server:
        window = opened(server, tmp_path)
        window.watched(("a.py", 2))
        while server.notification("coppice/conversationChanged")["changes"] != ["entries"]:
            pass
        server.kill()
    with RawServer(tmp_path, python=python()) as server:
        again = opened(server, tmp_path)
        again.talk = window.talk
        assert again.files()["modifiedFiles"] == ["a.py"]


def test_malformed_events_record_nothing(tmp_path: Path) -> None:
    uris: list[Any] = [
        7,
        {},
        {"uri": 7, "type": 1},
        {"uri": "file:///a", "type": "x"},
        {"uri": "file:///a", "type": []},
    ]
    malformed: list[Any] = [
        {},
        [],
        7,
        {"changes": 7, "files": 7, "textDocument": 7},
        {"changes": uris},
        {"files": [7, {}, {"uri": 7}, {"oldUri": "file:///a"}, {"newUri": 7, "oldUri": 7}]},
        {"textDocument": {"uri": 7}},
    ]
    methods = (
        "textDocument/didOpen",
        "textDocument/didChange",
        "textDocument/didSave",
        "textDocument/didClose",
        "workspace/didCreateFiles",
        "workspace/didRenameFiles",
        "workspace/didDeleteFiles",
        "workspace/didChangeWatchedFiles",
    )
    with RawServer(tmp_path, python=python()) as server:
        window = opened(server, tmp_path)
        for number, params in enumerate(malformed):
            for method in methods:
                server.notify(method, params)
            window.watched((f"after_{number}.py", 2))
            assert [record["path"] for record in window.files()["records"]] == [
                f"after_{earlier}.py" for earlier in range(number + 1)
            ], params


@pytest.mark.parametrize("at_once", [pytest.param(1, marks=pytest.mark.slow), 10_000])
def test_a_branch_checkout_keeps_nobody_waiting(tmp_path: Path, at_once: int) -> None:
    """Ten thousand events, one a message or all in one: requests are answered, and the tree stays small."""
    with RawServer(tmp_path, python=python()) as server:
        window = opened(server, tmp_path)
        server.result("coppice/append", {"conversationId": window.talk, "entries": [user("hello")]})
        changes = [(f"src/m{number % 97}/f{number}.py", 2) for number in range(10_000)]
        for start in range(0, len(changes), at_once):
            window.watched(*changes[start : start + at_once])
        for _ in range(20):
            server.result("coppice/usage", {"conversationId": window.talk})
        assert len(window.files()["modifiedFiles"]) >= 1_000
        nodes = server.result("coppice/tree", {"conversationId": window.talk})["nodes"]
        assert len(nodes) <= 12
