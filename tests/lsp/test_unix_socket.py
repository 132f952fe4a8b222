"""The Unix socket: only its user can open it."""

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsp.raw_client import environment, framed, run_server
from waiting import PATIENCE

COMMAND = (sys.executable, "-m", "coppice.lsp", "--socket")


def begin(directory: Path, path: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*COMMAND, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(directory)
    )


def refused(directory: Path, path: Path) -> str:
    done = run_server(directory, "--socket", str(path))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr
    return done.stderr.decode()


def session(path: Path, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """Send the messages and read every answer to the end of the connection."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(PATIENCE)
        caller.connect(str(path))
        caller.sendall(b"".join(framed(json.dumps({"jsonrpc": "2.0", **each}).encode()) for each in messages))
        answers = []
        with caller.makefile("rb") as stream:
            while header := stream.readline():
                stream.readline()
                answers.append(json.loads(stream.read(int(header.split(b":")[1]))))
        return answers


def assert_served(process: "subprocess.Popen[bytes]", path: Path) -> None:
    """A client can connect and has the server end in order."""
    answers = session(
        path,
        {"id": 1, "method": "initialize", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    )
    assert [answer["id"] for answer in answers] == [1, 2]
    assert process.wait(PATIENCE) == 0


def test_a_client_is_served_on_a_socket_that_only_its_user_can_open(tmp_path: Path) -> None:
    path = tmp_path / "own" / "coppice.sock"
    with begin(tmp_path, path) as process:
        assert process.stdout is not None
        assert process.stdout.readline().decode() == f"Listening on {path}\n"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert_served(process, path)
    assert not path.exists()


def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    assert "0700" in refused(tmp_path, folder / "coppice.sock")


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir(mode=0o700)
    file = folder / "notes"
    file.write_text("mine")
    assert "no socket" in refused(tmp_path, file)
    assert file.read_text() == "mine"


def test_a_socket_that_a_killed_server_left_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "own" / "coppice.sock"
    for _ in range(2):
        with begin(tmp_path, path) as process:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(b"Listening on ")
            process.kill()
        assert path.exists()


def test_a_socket_that_another_server_listens_on_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own" / "coppice.sock"
    with begin(tmp_path, path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert "Another server listens" in refused(tmp_path, path)
        assert_served(process, path)


def test_a_connection_that_sends_nothing_does_not_keep_the_client_out(tmp_path: Path) -> None:
    path = tmp_path / "own" / "coppice.sock"
    with begin(tmp_path, path) as process, socket.socket(socket.AF_UNIX) as silent:
        assert process.stdout is not None
        process.stdout.readline()
        silent.connect(str(path))
        answers = session(path, {"id": 1, "method": "initialize", "params": {}}, {"method": "exit"})
        assert [answer["id"] for answer in answers] == [1]
        assert process.wait(PATIENCE) == 1


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs users")
def test_a_path_that_is_too_long_for_a_socket_is_a_usage_error(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir(mode=0o700)
    assert "cannot be opened" in refused(tmp_path, folder / ("x" * 200))


def test_a_folder_that_others_can_replace_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    path = shared / "own" / "coppice.sock"
    assert "put a folder of theirs in place" in refused(tmp_path, path)
    shared.chmod(0o1777)
    with begin(tmp_path, path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert_served(process, path)
