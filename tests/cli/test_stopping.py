"""A command that is stopped changes nothing and leaves no process or file."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli.conftest import Coppice, start
from cli.sessions import long_session
from waiting import wait_until

LONG = 600


def read_until(process: "subprocess.Popen[bytes]", wanted: str) -> str:
    """Standard error up to the line that begins with `wanted`."""
    assert process.stderr is not None
    printed = ""
    for line in process.stderr:
        printed += line.decode()
        if line.decode().startswith(wanted):
            return printed
    pytest.fail(f"never printed {wanted!r}: {printed}")


def begun(home: Path) -> bool:
    """Whether a command has begun to store its standard input."""
    return any((home / "temporary").glob("coppice*/input.jsonl"))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_compaction_that_is_stopped_is_not_stored(
    coppice: Coppice, home: Path, number: signal.Signals, code: int
) -> None:
    imported = coppice("import", long_session(home, LONG), "--json")
    conversation = json.loads(imported.out)["conversation"]["id"]
    with start("compact", conversation) as process:
        read_until(process, "Compacting: Summarizing")
        process.send_signal(number)
        out, err = process.communicate()
    assert process.returncode == code, err
    assert out == b""
    assert b"Traceback" not in err
    listing = json.loads(coppice("tree", conversation, "--json").out)
    assert [node["type"] for node in listing["nodes"]] == ["message"]
    assert coppice("compact", conversation).code == 0


SLOW = """
import time
from coppice.cli import progress
from coppice.cli.app import main
from coppice.service.conversations.importing import BATCH, Intake

def slow(self, entries, take=Intake.take):
    def given():
        for number, entry in enumerate(entries):
            yield entry
            if number == BATCH:
                while time.thread_time() < 50:
                    pass
    take(self, given())

Intake.take = slow
progress._QUICK_SECONDS = 0.5
main()
"""
"""Whose import is busy with one record when a batch of them is stored."""


def test_an_import_that_is_stopped_within_a_record_is_not_stored(coppice: Coppice, home: Path) -> None:
    command = [sys.executable, "-c", SLOW, "import", str(long_session(home, LONG))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        read_until(process, "Importing …")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (130, b"")
    assert err.decode().splitlines()[-1] == "coppice: interrupted; nothing was changed."
    assert json.loads(coppice("list", "--json").out) == {"conversations": []}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_command_leaves_no_temporary_file(home: Path, number: signal.Signals) -> None:
    with start("compact", long_session(home, LONG)) as process:
        read_until(process, "Compacting: Summarizing")
        process.send_signal(number)
        process.communicate()
    assert process.returncode in (130, 143)
    assert list((home / "temporary").glob("coppice*")) == []


def test_an_interrupted_read_of_standard_input_ends(home: Path) -> None:
    with start("compact", "-") as process:
        assert process.stdin is not None
        process.stdin.write(b'{"type": "session"}\n')
        process.stdin.flush()
        wait_until(lambda: process.poll() is not None or begun(home))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=100) == 130
        assert process.stderr is not None
        assert b"interrupted" in process.stderr.read()
    assert list((home / "temporary").glob("coppice*")) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["tree", "--mode", "all", "--limit", "100000"],
        ["context"],
        ["compact"],
        ["compact", "--json"],
        ["export", "--format", "coppice"],
    ],
    ids=" ".join,
)
def test_a_reader_that_goes_away_is_no_error(home: Path, arguments: list[str]) -> None:
    file = long_session(home, 400)
    with start(arguments[0], file, *arguments[1:]) as process:
        assert process.stdout is not None
        assert os.read(process.stdout.fileno(), 1)
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read().decode()
    assert process.returncode == 0, err
    assert "Broken" not in err
    assert "Traceback" not in err


def test_a_closed_standard_output_is_no_error(home: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with start("list", stdout=writing) as process:
        os.close(writing)
        _, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
