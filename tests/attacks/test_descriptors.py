"""A server that runs out of file descriptors, or opens many stores."""

import os
import resource
from pathlib import Path

import psutil
import pytest
from lsp.raw_client import RawServer
from waiting import wait_until

from coppice.service.core.stores import MAX_OPEN

WORKSPACES = 80
MOST_OF_A_STORE = 11
OTHERS = 40
"""Descriptors of the interpreter, its streams and its event loop: about half as many."""

STARTER = (
    "import coppice.lsp.connection as c; c.POLL_SECONDS = 0.05; from coppice.lsp.__main__ import main; main()"
)


@pytest.fixture
def server(tmp_path: Path) -> RawServer:
    return RawServer(tmp_path, ("-c", STARTER))


def test_many_workspaces_are_served_with_few_descriptors(server: RawServer, tmp_path: Path) -> None:
    with server:
        server.initialize({"processId": os.getpid()})
        made = []
        for number in range(WORKSPACES):
            workspace = (tmp_path / str(number)).as_uri()
            result = server.result("coppice/conversation/create", {"workspaceUri": workspace})
            made.append(result["conversation"]["id"])
            entry = {"type": "message", "message": {"role": "user", "content": f"rowan {number}"}}
            server.result("coppice/append", {"conversationId": made[-1], "entries": [entry]})
        assert WORKSPACES > 2 * MAX_OPEN
        assert psutil.Process(server.process.pid).num_fds() < MAX_OPEN * MOST_OF_A_STORE + OTHERS
        for conversation in made:
            entries = server.result("coppice/entries", {"conversationId": conversation, "limit": 5})
            assert len(entries["entries"]) == 1


def test_a_server_without_a_free_descriptor_stays(server: RawServer) -> None:
    with server:
        server.initialize({"processId": os.getpid()})
        server.result("coppice/conversation/list", {})
        process = psutil.Process(server.process.pid)
        soft, hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (process.num_fds(), hard))
        wait_until(lambda: b"cannot be looked at" in server.stderr or not process.is_running())
        assert process.is_running()
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (soft, hard))
        assert "conversations" in server.result("coppice/conversation/list", {})
