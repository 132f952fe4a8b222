"""What a client or a file piles up is bounded, and `exit` ends the process whatever runs."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from lsp.raw_client import RawServer, environment, framed
from preloaded import python
from waiting import PATIENCE

from coppice.formats.source import MAX_BYTES

MEMORY_BYTES = 400_000_000
IDLE_LOOKS = 40
"""A server whose processor time has not grown for so many looks, two seconds, waits for its client."""


def message(role_text: str) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": role_text}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "more"),
    [("coppice/entries", {}), ("coppice/conversation/export", {"format": "coppice"})],
    ids=["entries", "export"],
)
def test_a_client_that_asks_and_does_not_read_grows_no_memory(
    tmp_path: Path, method: str, more: dict[str, Any]
) -> None:
    asked = 900
    with RawServer(tmp_path) as server:
        server.initialize({"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}})
        made = server.result("coppice/conversation/create")["conversation"]["id"]
        server.result("coppice/append", {"conversationId": made, "entries": [message("word " * 800_000)]})
        server.result("shutdown")
        server.notify("exit")
        server.process.wait(PATIENCE)
    process = subprocess.Popen(
        [sys.executable, "-m", "coppice.lsp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(tmp_path),
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        os.set_blocking(process.stdin.fileno(), False)
        calls = [{"id": 0, "method": "initialize", "params": {"rootUri": tmp_path.as_uri()}}]
        params = {"conversationId": made, **more}
        calls += [{"id": number, "method": method, "params": params} for number in range(1, asked)]
        rest = b"".join(framed(json.dumps({"jsonrpc": "2.0", **call}).encode()) for call in calls)
        watched, used, looks, largest = psutil.Process(process.pid), 0.0, 0, 0
        while looks < IDLE_LOOKS:
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(process.stdin.fileno(), rest) :] if rest else rest
            largest = max(largest, watched.memory_info().rss)
            before, used = used, sum(watched.cpu_times()[:2])
            looks = looks + 1 if used == before else 0
            time.sleep(0.05)
        assert largest < MEMORY_BYTES
        answered = 0
        while answered < 20:
            header = process.stdout.readline()
            process.stdout.readline()
            body = json.loads(process.stdout.read(int(header.split(b":")[1])))
            answered += "result" in body
        process.kill()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
@pytest.mark.parametrize(
    "command", [["coppice.lsp"], ["coppice.cli", "import", "-"]], ids=["serve", "import"]
)
def test_an_endless_input_ends_with_an_error(tmp_path: Path, command: list[str]) -> None:
    with Path("/dev/zero").open("rb") as zeros:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            stdin=zeros,
            capture_output=True,
            timeout=PATIENCE * 2,
            env=environment(tmp_path),
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert done.stderr.startswith(b"coppice: ")


def sparse(tmp_path: Path) -> str:
    """A session file that ends in as much of nothing as may be imported."""
    file = tmp_path / "session.jsonl"
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}
    file.write_text(json.dumps(header) + "\n")
    os.truncate(file, MAX_BYTES)
    return file.as_uri()


def test_cancelled_imports_are_answered_within_a_second_and_exit_ends_the_process(tmp_path: Path) -> None:
    uri = sparse(tmp_path)
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}})
        server.result("coppice/conversation/list")
        numbers = [
            server.start_request("coppice/conversation/import", {"uri": uri, "format": "pi"})
            for _ in range(6)
        ]
        time.sleep(0.5)
        for number in numbers:
            server.notify("$/cancelRequest", {"id": number})
        assert {server.answer(number)["error"]["code"] for number in numbers} == {-32800}
        server.notify("exit")
        assert server.process.wait(PATIENCE) == 1


def test_small_requests_are_answered_while_imports_run_and_exit_ends_the_process(tmp_path: Path) -> None:
    uri = sparse(tmp_path)
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}})
        for number in range(8):
            params = {"uri": uri, "format": "pi", "workDoneToken": f"import {number}"}
            server.start_request("coppice/conversation/import", params)
        assert server.notification("$/progress")["token"].startswith("import")
        made = server.result("coppice/conversation/create")["conversation"]["id"]
        message = {"type": "message", "message": {"role": "user", "content": "Plant."}}
        server.result("coppice/append", {"conversationId": made, "entries": [message]})
        server.result("coppice/conversation/get", {"conversationId": made})
        assert [each for each in server.seen if "method" not in each] == []
        server.notify("exit")
        assert server.process.wait(PATIENCE) == 1


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("coppice/conversation/create", {"name": "n" * 20_000_000}),
        ("coppice/conversation/rename", {"name": "n" * 20_000_000}),
        ("coppice/label", {"entryId": "e", "label": "n" * 20_000_000}),
    ],
    ids=["create", "rename", "label"],
)
def test_a_name_of_any_length_is_refused_and_lists_stay_short(
    tmp_path: Path, method: str, params: dict[str, Any]
) -> None:
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}})
        made = server.result("coppice/conversation/create")["conversation"]["id"]
        entry = {**message("Hello."), "id": "e"}
        server.result("coppice/append", {"conversationId": made, "entries": [entry]})
        refused = server.request(method, {"conversationId": made, **params})
        assert refused["error"]["code"] == -32602
        assert "1" in refused["error"]["message"]
        assert len(json.dumps(server.result("coppice/conversation/list"))) < 2_000


def test_a_message_beyond_the_limit_ends_the_connection_before_it_is_read(tmp_path: Path) -> None:
    with RawServer(tmp_path) as server:
        server.send_bytes(b"Content-Length: 250000000\r\n\r\n")
        assert "exceeds the limit" in server.receive()["error"]["message"]
        assert server.end() == 1
