"""How a server on standard input and output begins and ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lsp.raw_client import RawServer, framed
from waiting import PATIENCE, wait_until

LIST = "coppice/conversation/list"
MAPS = Path("/proc/self/maps")
PING = json.dumps({"jsonrpc": "2.0", "id": "ping", "method": LIST}).encode()


def code_of(server: RawServer) -> int:
    """The exit code of a server that ends by itself, its input still open."""
    return server.process.wait(PATIENCE)


def test_exit_after_shutdown_is_orderly(fresh: RawServer) -> None:
    fresh.initialize()
    fresh.result("shutdown")
    fresh.notify("exit")
    assert code_of(fresh) == 0


def test_exit_without_shutdown_is_not(fresh: RawServer) -> None:
    fresh.initialize()
    fresh.notify("exit")
    assert code_of(fresh) == 1


def test_exit_before_initialize_is_obeyed(fresh: RawServer) -> None:
    fresh.notify("exit")
    assert code_of(fresh) == 1


@pytest.mark.skipif(not MAPS.exists(), reason="reads what Linux tells of a process")
def test_what_requests_need_is_imported_before_one_comes(tmp_path: Path) -> None:
    with RawServer(tmp_path) as server:
        server.result("initialize", {})
        of_server = Path("/proc", str(server.process.pid), "maps")
        wait_until(lambda: b"sqlalchemy" in of_server.read_bytes())


def test_the_end_of_input_ends_the_server(fresh: RawServer) -> None:
    fresh.initialize()
    assert fresh.end() == 1


def test_the_end_of_input_after_shutdown_is_orderly(fresh: RawServer) -> None:
    fresh.initialize()
    fresh.result("shutdown")
    assert fresh.end() == 0


def test_requests_before_the_end_of_input_are_answered(fresh: RawServer) -> None:
    fresh.initialize()
    numbers = [fresh.start_request(LIST) for _ in range(20)]
    fresh.end()
    answered = [message["id"] for message in fresh.rest() if "result" in message]
    assert sorted(answered) == numbers


def test_the_server_ends_with_its_client(fresh: RawServer) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        fresh.initialize({"processId": client.pid})
        assert fresh.result(LIST) is not None
        client.kill()
    assert code_of(fresh) == 1


def test_a_zombie_is_no_client(fresh: RawServer) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        fresh.initialize({"processId": client.pid})
        client.kill()
        assert code_of(fresh) == 1


def test_a_client_that_is_gone_already_is_noticed(fresh: RawServer) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as client:
        client.wait()
    # Alone: the server may have ended before a client could send `initialized`.
    assert "capabilities" in fresh.result("initialize", {"processId": client.pid})
    assert code_of(fresh) == 1


@pytest.mark.parametrize("process_id", [None, 0, -1, 10**30, "7", 1.5, True])
def test_a_process_id_that_names_nobody_is_no_reason_to_end_without_an_answer(
    fresh: RawServer, process_id: object
) -> None:
    assert "capabilities" in fresh.result("initialize", {"processId": process_id})


def test_a_reader_that_went_away_ends_the_server(fresh: RawServer) -> None:
    fresh.initialize()
    read_end, write_end = os.pipe()
    os.close(read_end)
    server = subprocess.Popen(
        [sys.executable, "-m", "coppice.lsp", "--stdio"],
        stdin=subprocess.PIPE,
        stdout=write_end,
        stderr=subprocess.PIPE,
    )
    os.close(write_end)
    assert server.stdin is not None
    server.stdin.write(framed(PING))
    server.stdin.flush()
    assert server.wait(PATIENCE) == 1
    server.stdin.close()
    assert server.stderr is not None
    assert b"Traceback" not in server.stderr.read()
    server.stderr.close()


def test_a_file_of_requests_can_be_the_input(tmp_path: Path) -> None:
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "method": "initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "shutdown"},
        {"jsonrpc": "2.0", "method": "exit"},
    ]
    script = tmp_path / "requests"
    script.write_bytes(b"".join(framed(json.dumps(request).encode()) for request in requests))
    with script.open("rb") as stdin:
        done = subprocess.run(
            [sys.executable, "-m", "coppice.lsp"],
            stdin=stdin,
            capture_output=True,
            timeout=PATIENCE,
            check=True,
        )
    assert done.stdout.count(b"Content-Length") == 2
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"Content-Length: -5\r\n\r\n", "holds no byte count"),
        (b"Content-Length: 99999999999999999\r\n\r\n", "exceeds the limit"),
        (b"Content-Length: " + b"9" * 400 + b"\r\n\r\n", "holds no byte count"),
        (b"Content-Length: five\r\n\r\n", "holds no byte count"),
        (b"Content-Length:\r\n\r\n", "holds no byte count"),
        (b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n", "contradict"),
        (b"Content-Type: application/json\r\n\r\n" + PING, "without a Content-Length"),
        (PING + b"\r\n\r\n", "no header"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "no header"),
        (b"X-Long: " + b"x" * 100_000 + b"\r\n", "exceeds 65536 bytes"),
        (b"X-Many: x\r\n" * 100, "more than 32 headers"),
        (b"\x00\xff\r\n\r\n", "no header"),
    ],
    ids=range(12),
)
def test_a_stream_that_is_no_lsp_stream_is_ended_with_the_reason(
    fresh: RawServer, sent: bytes, expected: str
) -> None:
    fresh.initialize()
    fresh.send_bytes(sent)
    assert code_of(fresh) == 1
    fresh.end()
    [error] = [
        message["error"] for message in fresh.rest() if message.get("id") is None and "error" in message
    ]
    assert error["code"] == -32700
    assert expected in error["message"]
    assert expected in fresh.stderr.decode()


def test_a_content_length_that_is_too_short_breaks_the_message_and_then_the_stream(fresh: RawServer) -> None:
    fresh.initialize()
    fresh.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(PING) - 10, PING))
    assert fresh.answer(None)["error"]["code"] == -32700
    fresh.send_bytes(b"\r\n")
    assert code_of(fresh) == 1


@pytest.mark.parametrize(
    "sent", [b"Content-Length: 500\r\n\r\n" + PING, b"Content-Length: 500\r\n", b"Content-Le"]
)
def test_a_message_that_is_cut_off_by_the_end_of_input_ends_the_server(fresh: RawServer, sent: bytes) -> None:
    fresh.initialize()
    fresh.send_bytes(sent)
    assert fresh.end() == 1
    assert b"Traceback" not in fresh.stderr


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: %d\n\n",
        b"content-length:%d\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf8\r\nCONTENT-LENGTH:  %d \r\n\r\n",
        b"\r\n\r\nContent-Length: %d\r\n\r\n",
    ],
)
def test_headers_are_read_as_liberally_as_is_safe(fresh: RawServer, header: bytes) -> None:
    fresh.initialize()
    fresh.send_bytes(header % len(PING) + PING)
    assert "result" in fresh.answer("ping")


def test_bytes_may_come_one_at_a_time_or_all_at_once(fresh: RawServer) -> None:
    fresh.initialize()
    for byte in framed(PING):
        fresh.send_bytes(bytes([byte]))
    assert "result" in fresh.answer("ping")
    fresh.send_bytes(b"".join(framed(PING.replace(b"ping", b"p%d" % number)) for number in range(50)))
    answered = [message["id"] for message in (fresh.receive() for _ in range(50)) if "result" in message]
    assert sorted(answered) == sorted(f"p{number}" for number in range(50))
