"""A database file that was moved or deleted while no server ran."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from lsp.forked_server import ForkedServer
from lsp.raw_client import RawServer, environment
from preloaded import python

from coppice.cli.app import main


def started(directory: Path) -> RawServer:
    server = RawServer(directory, python=python())
    server.initialize({"rootUri": directory.as_uri()})
    return server


def conversations(server: RawServer) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = server.result("coppice/conversation/list")["conversations"]
    return listed


def end(server: RawServer) -> list[str]:
    """Ends the server; the warnings that it showed."""
    server.result("shutdown")
    server.notify("exit")
    assert server.end() == 0
    seen = [*server.seen, *server.rest()]
    return [message["params"]["message"] for message in seen if message.get("method") == "window/showMessage"]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The file of a store with a conversation, which no server has open."""
    server = started(tmp_path)
    server.result("coppice/conversation/create", {"name": "Kept"})
    assert end(server) == []
    [path] = (tmp_path / "store").glob("*.sqlite3")
    return path


def test_a_file_that_is_gone_is_reported_and_a_new_one_works(tmp_path: Path, store: Path) -> None:
    elsewhere = tmp_path / "elsewhere.sqlite3"
    store.rename(elsewhere)
    server = started(tmp_path)
    server.result("coppice/conversation/create", {"name": "New"})
    shown = server.notification("window/showMessage")["message"]
    assert store.name in shown
    assert "put it back" in shown
    assert [each["name"] for each in conversations(server)] == ["New"]
    end(server)

    again = started(tmp_path)
    again.result("coppice/conversation/list")
    assert end(again) == []

    elsewhere.replace(store)
    back = started(tmp_path)
    assert [each["name"] for each in conversations(back)] == ["Kept"]
    assert end(back) == []


def test_the_whole_folder_may_be_deleted_and_nothing_is_reported(tmp_path: Path, store: Path) -> None:
    store.parent.rename(tmp_path / "deleted")
    server = started(tmp_path)
    assert conversations(server) == []
    assert end(server) == []


def test_the_command_line_reports_it_too(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store.unlink()
    for name in ("COPPICE_STORAGE_DIRECTORY", "COPPICE_CONFIG_DIRECTORY"):
        monkeypatch.setenv(name, environment(tmp_path)[name])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["list"])
    assert ended.value.code == os.EX_OK
    assert store.name in capsys.readouterr().err


def test_a_new_file_is_not_made_next_to_the_log_of_one_that_is_gone(tmp_path: Path, store: Path) -> None:
    killed = ForkedServer(tmp_path)
    killed.initialize({"rootUri": tmp_path.as_uri()})
    [conversation] = conversations(killed)
    message = {"type": "message", "message": {"role": "user", "content": "A tree is planted."}}
    killed.result("coppice/append", {"conversationId": conversation["id"], "entries": [message] * 20})
    killed.kill()
    killed.end()
    log = store.with_name(f"{store.name}-wal")
    content = log.read_bytes()
    assert content
    elsewhere = tmp_path / "elsewhere.sqlite3"
    store.rename(elsewhere)

    server = started(tmp_path)
    server.result("coppice/conversation/create", {"name": "New"})
    assert log.name in server.notification("window/showMessage")["message"]
    assert [each["name"] for each in conversations(server)] == ["New"]
    end(server)
    assert not store.exists()
    assert log.read_bytes() == content

    elsewhere.rename(store)
    back = started(tmp_path)
    [conversation] = conversations(back)
    assert (conversation["name"], conversation["entryCount"]) == ("Kept", 20)
    assert end(back) == []


def test_what_was_stored_in_place_of_a_file_is_taken_over_when_it_is_back(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere.sqlite3"
    store.rename(elsewhere)
    store.touch()
    server = started(tmp_path)
    server.result("coppice/conversation/create", {"name": "New"})
    end(server)
    elsewhere.replace(store)
    for name in ("COPPICE_STORAGE_DIRECTORY", "COPPICE_CONFIG_DIRECTORY"):
        monkeypatch.setenv(name, environment(tmp_path)[name])
    with pytest.raises(SystemExit):
        main(["doctor", "--repair"])
    back = started(tmp_path)
    assert {each["name"] for each in conversations(back)} == {"Kept", "New"}
    assert end(back) == []


def test_a_process_that_computes_for_a_server_makes_no_new_file(tmp_path: Path) -> None:
    server = started(tmp_path)
    made = server.result("coppice/conversation/create", {"name": "Long"})["conversation"]["id"]
    message = {"type": "message", "message": {"role": "user", "content": "A tree is planted. " * 20}}
    server.result("coppice/append", {"conversationId": made, "entries": [message] * 100})
    [store] = (tmp_path / "store").glob("*.sqlite3")
    with closing(sqlite3.connect(store)) as other:
        # Next to a log that holds something no server makes a file.
        assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    elsewhere = store.with_name("elsewhere")
    store.rename(elsewhere)
    refused = server.request("coppice/ledger", {"conversationId": made})["error"]
    assert refused["data"]["code"] == "storage-failed"
    assert not store.exists()
    elsewhere.rename(store)
    assert server.result("coppice/ledger", {"conversationId": made})["leafId"]
    assert end(server) == []
