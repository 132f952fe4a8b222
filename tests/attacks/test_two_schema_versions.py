"""A window with a newer Coppice opens the store while windows with this one write to it."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from attacks.newer_server import VERSION, command
from lsp.raw_client import RawServer
from postgres_server import PostgresServer, fresh_schema, postgres
from preloaded import python

__all__ = ["postgres"]

PATIENCE = 60.0


@dataclass
class Writer:
    """Appends to a conversation of its own until it is refused. `acknowledged` are the ids, in order."""

    server: RawServer
    acknowledged: list[str] = field(default_factory=list)
    refusal: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.conversation = self.server.result("coppice/conversation/create")["conversation"]["id"]
        self.has_begun = threading.Event()

    def write(self) -> None:
        message = {"type": "message", "message": {"role": "user", "content": "A tree is planted."}}
        params = {"conversationId": self.conversation, "entries": [message]}
        while not self.refusal:
            answer = self.server.request("coppice/append", params)
            self.refusal = answer.get("error", {})
            self.acknowledged += answer["result"]["entryIds"] if "result" in answer else []
            if len(self.acknowledged) == 5:
                self.has_begun.set()


def entries(server: RawServer, conversation: str) -> list[str]:
    ids: list[str] = []
    params: dict[str, Any] = {"conversationId": conversation}
    while True:
        page = server.result("coppice/entries", params)
        ids += [entry["id"] for entry in page["entries"]]
        if "nextAfter" not in page:
            return ids
        params["after"] = page["nextAfter"]


@pytest.fixture(params=["sqlite", "postgresql"])
def variables(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The environment that names the store."""
    if request.param == "sqlite":
        yield {}
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with fresh_schema(server) as url:
        yield {"COPPICE_STORAGE_URL": url}


@contextmanager
def writing(servers: list[RawServer]) -> Iterator[list[Writer]]:
    """A writer for each server; all have begun."""
    writers = [Writer(server) for server in servers]
    threads = [threading.Thread(target=writer.write) for writer in writers]
    for thread in threads:
        thread.start()
    assert all(writer.has_begun.wait(PATIENCE) for writer in writers)
    yield writers
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_an_older_server_is_refused_once_a_newer_one_has_the_store(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    with ExitStack() as open_windows:

        def opened(steps_ahead: int = 0) -> RawServer:
            server = RawServer(tmp_path, command(steps_ahead), python=python(), variables=variables)
            open_windows.enter_context(server)
            server.initialize({"rootUri": tmp_path.as_uri()})
            return server

        older = [opened(), opened()]
        with writing(older) as writers:
            newer = opened(steps_ahead=1)
            newer.result("coppice/conversation/list")
        for writer in writers:
            assert writer.refusal["data"] == {
                "code": "storage-failed",
                "found": VERSION + 1,
                "known": VERSION,
            }
            assert "Update Coppice" in writer.refusal["message"]
            assert entries(newer, writer.conversation) == writer.acknowledged
            assert entries(writer.server, writer.conversation) == writer.acknowledged
        going_on = Writer(newer)
        message = {"type": "message", "message": {"role": "user", "content": "Another."}}
        newer.result("coppice/append", {"conversationId": going_on.conversation, "entries": [message]})

        restarted = opened()
        refused = restarted.request("coppice/entries", {"conversationId": writers[0].conversation})
        assert "newer Coppice" in refused["error"]["message"]
        assert len(entries(newer, going_on.conversation)) == 1
