"""The loopback socket: one client that knows the secret, nobody else, and never off this machine."""

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from lsp.raw_client import environment, framed, run_server
from preloaded import python
from waiting import PATIENCE

from coppice.lsp.sockets import loopback_address

INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
SHUTDOWN = {"jsonrpc": "2.0", "id": "end", "method": "shutdown"}
EXIT = {"jsonrpc": "2.0", "method": "exit"}


class Caller:
    """A client on a socket."""

    def __init__(self, server: "Listening", host: str = "127.0.0.1", secret: str | None = None) -> None:
        self.socket = socket.create_connection((host, server.port), timeout=PATIENCE)
        self.stream: IO[bytes] = self.socket.makefile("rb")
        self.socket.sendall(f"Coppice-Secret: {server.secret if secret is None else secret}\r\n".encode())

    def send(self, *messages: dict[str, Any]) -> None:
        self.socket.sendall(b"".join(framed(json.dumps(message).encode()) for message in messages))

    def receive(self) -> dict[str, Any] | None:
        """The next message, or None when the server has closed the connection."""
        header = self.stream.readline()
        if not header:
            return None
        assert self.stream.readline() == b"\r\n"
        message: dict[str, Any] = json.loads(self.stream.read(int(header.split(b":")[1])))
        return message

    def close(self) -> None:
        self.stream.close()
        self.socket.close()


class Listening:
    def __init__(self, directory: Path, address: str) -> None:
        self.process = subprocess.Popen(
            [*python(), "-m", "coppice.lsp", "--tcp", address],
            stdout=subprocess.PIPE,
            env=environment(directory),
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline().decode()
        self.port = int(self.line.rpartition(":")[2])
        self.secret = self.process.stdout.readline().decode().removeprefix("Secret: ").strip()

    def end(self) -> int:
        code = self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        assert self.process.stdout.read() == b""
        self.process.stdout.close()
        return code


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[Listening]:
    server = Listening(tmp_path, "127.0.0.1:0")
    yield server
    if server.process.poll() is None:
        server.process.kill()
        server.end()


def test_port_zero_picks_a_port_and_prints_it(listening: Listening) -> None:
    assert listening.line.splitlines() == [f"Listening on 127.0.0.1:{listening.port}"]
    assert listening.port > 0


def test_a_client_is_served_and_the_server_ends_with_it(listening: Listening) -> None:
    caller = Caller(listening)
    caller.send(INITIALIZE, SHUTDOWN, EXIT)
    assert "capabilities" in (caller.receive() or {})["result"]
    assert caller.receive() == {"jsonrpc": "2.0", "id": "end", "result": None}
    assert caller.receive() is None
    assert listening.end() == 0
    caller.close()


def test_a_client_that_hangs_up_ends_the_server(listening: Listening) -> None:
    caller = Caller(listening)
    caller.send(INITIALIZE)
    caller.receive()
    caller.close()
    assert listening.end() == 1


def test_a_second_client_is_refused_and_the_first_served_on(listening: Listening) -> None:
    first = Caller(listening)
    first.send(INITIALIZE)
    first.receive()
    second = Caller(listening)
    refusal = second.receive()
    assert refusal is not None
    assert refusal["id"] is None
    assert "Another client" in refusal["error"]["message"]
    assert second.receive() is None
    second.close()
    first.send({"jsonrpc": "2.0", "id": "mine", "method": "coppice/conversation/list"})
    assert (first.receive() or {})["id"] == "mine"
    first.close()


def test_a_second_client_that_talks_at_once_receives_nothing_of_the_first(listening: Listening) -> None:
    first = Caller(listening)
    first.send(INITIALIZE)
    first.receive()
    second = Caller(listening)
    second.send(INITIALIZE, {"jsonrpc": "2.0", "id": 2, "method": "coppice/conversation/list"})
    received = []
    try:
        while (message := second.receive()) is not None:
            received.append(message)
    except ConnectionResetError:
        pass
    assert all(message["id"] is None and "error" in message for message in received)
    second.close()
    first.send(SHUTDOWN, EXIT)
    assert (first.receive() or {})["id"] == "end"
    assert listening.end() == 0
    first.close()


def test_a_stream_that_is_no_lsp_stream_is_answered_and_ended(listening: Listening) -> None:
    caller = Caller(listening)
    caller.socket.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (caller.receive() or {})["error"]["code"] == -32700
    assert caller.receive() is None
    assert listening.end() == 1
    caller.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org", "", "localhost.example.org"])  # noqa: S104 - refused
def test_an_address_off_the_loopback_is_refused(tmp_path: Path, host: str) -> None:
    assert loopback_address(host, 0) is None


def test_the_refusal_says_what_to_do(tmp_path: Path) -> None:
    done = run_server(tmp_path, "--tcp", "0.0.0.0:0")
    assert done.returncode == 2
    assert b"127.0.0.1" in done.stderr
    assert done.stdout == b""


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.1:", ":5", "127.0.0.1:-1", "127.0.0.1:99999"])
def test_an_address_that_cannot_be_opened_is_a_usage_error(tmp_path: Path, address: str) -> None:
    done = run_server(tmp_path, "--tcp", address)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_a_port_in_use_is_a_usage_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run_server(tmp_path, "--tcp", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.returncode == 2
    assert b"cannot be opened" in done.stderr


@pytest.mark.parametrize(
    ("host", "literal"),
    [
        ("localhost", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.1.2.3", "127.1.2.3"),
        ("::1", "::1"),
        ("[::1]", "::1"),
    ],
)
def test_loopback_is_known_by_all_its_names(host: str, literal: str) -> None:
    assert loopback_address(host, 7) == (literal, 7)


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_the_loopback_of_ipv6_will_do(tmp_path: Path) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    server = Listening(tmp_path, "[::1]:0")
    assert server.line.startswith("Listening on [::1]:")
    caller = Caller(server, "::1")
    caller.send(EXIT)
    assert server.end() == 1
    caller.close()
