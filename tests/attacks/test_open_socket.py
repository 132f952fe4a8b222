"""A loopback socket is open to every program of the machine; only the client with the secret is served."""

import contextlib
import json
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from lsp.raw_client import environment, framed, run_server
from preloaded import python
from waiting import PATIENCE

INITIALIZE = framed(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}).encode())
LIST = framed(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "coppice/conversation/list"}).encode())
HTTP = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"


class Server:
    def __init__(self, directory: Path, interpreter: Sequence[str]) -> None:
        file = directory / "secret"
        self.process = subprocess.Popen(
            [*interpreter, "-m", "coppice.lsp", "--tcp", "127.0.0.1:0", "--secret-file", str(file)],
            stdout=subprocess.PIPE,
            env=environment(directory),
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rpartition(b":")[2])
        self.mode = stat.S_IMODE(file.stat().st_mode)
        self.secret = file.read_bytes().strip()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def serves_its_client(self) -> bool:
        with self.connect() as own:
            own.sendall(b"Coppice-Secret: " + self.secret + b"\r\n" + INITIALIZE + LIST)
            answers = b""
            while b'"conversations"' not in answers:
                if not (more := own.recv(65536)):
                    return False
                answers += more
            return True


def answer(server: Server, sent: bytes) -> bytes:
    """Everything that a connection which sends `sent` receives until it is closed."""
    with server.connect() as stranger:
        received = b""
        try:
            stranger.sendall(sent)
            while more := stranger.recv(65536):
                received += more
        except ConnectionResetError:
            pass
        return received


@contextlib.contextmanager
def running(directory: Path, interpreter: Sequence[str]) -> Iterator[Server]:
    started = Server(directory, interpreter)
    yield started
    started.process.kill()
    started.process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with running(tmp_path, python()) as started:
        yield started


def test_the_secret_is_in_a_file_that_only_its_user_can_read(tmp_path: Path) -> None:
    with running(tmp_path, [sys.executable]) as server:
        assert server.mode == 0o600
        assert len(server.secret) >= 40
        command = Path(f"/proc/{server.process.pid}/cmdline")
        assert not command.exists() or server.secret not in command.read_bytes()


@pytest.mark.parametrize(
    "sent",
    [HTTP, INITIALIZE + LIST, b"Coppice-Secret: " + b"A" * 43 + b"\r\n" + INITIALIZE, b"\r\n" * 1000],
    ids=["http", "no secret", "wrong secret", "blank lines"],
)
def test_a_stranger_is_sent_nothing_and_ends_nothing(server: Server, sent: bytes) -> None:
    with ThreadPoolExecutor() as strangers:
        assert list(strangers.map(partial(answer, server), [sent] * 3)) == [b""] * 3
    assert server.serves_its_client()


def test_the_beginning_of_the_secret_is_not_the_secret(server: Server) -> None:
    longer = b"Coppice-Secret: " + server.secret + b"x\r\n" + INITIALIZE
    shorter = b"Coppice-Secret: " + server.secret[:-1] + b"\r\n" + INITIALIZE
    assert (answer(server, longer), answer(server, shorter)) == (b"", b"")


def test_connections_that_come_and_go_end_nothing(server: Server) -> None:
    for _ in range(50):
        server.connect().close()
    assert server.serves_its_client()


def test_silent_connections_keep_nobody_out(server: Server) -> None:
    silent = [server.connect() for _ in range(60)]
    assert server.serves_its_client()
    for each in silent:
        each.close()


def test_a_secret_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("precious")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    for file in (mine, link):
        done = run_server(tmp_path, "--tcp", "127.0.0.1:0", "--secret-file", str(file))
        assert (done.returncode, done.stdout) == (2, b"")
    assert mine.read_text() == "precious"
    assert not (tmp_path / "elsewhere").exists()


def test_the_secret_is_not_printed_into_a_file(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        done = run_server(tmp_path, "--tcp", "127.0.0.1:0", stdout=out)
    assert done.returncode == 2
    assert b"--secret-file" in done.stderr
    assert (tmp_path / "out").stat().st_size == 0


def test_an_address_with_a_digit_that_is_no_number_is_a_usage_error(tmp_path: Path) -> None:
    done = run_server(tmp_path, "--tcp", "127.0.0.1:²")
    assert done.returncode == 2
    assert b"HOST:PORT" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_removes_the_secret_file(tmp_path: Path, ending: signal.Signals) -> None:
    with running(tmp_path, [sys.executable]) as server:
        server.process.send_signal(ending)
        assert server.process.wait(PATIENCE) == -ending
    assert not (tmp_path / "secret").exists()


def test_the_secret_file_is_gone_once_the_client_was_let_in(server: Server, tmp_path: Path) -> None:
    assert (tmp_path / "secret").exists()
    assert server.serves_its_client()
    assert not (tmp_path / "secret").exists()
