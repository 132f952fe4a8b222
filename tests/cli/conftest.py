"""The command line, run in this process and in processes of its own."""

import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from preloaded import python
from typing_extensions import override

from coppice.cli.app import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


class Typed(io.TextIOWrapper):
    """What a person types at a terminal."""

    @override
    def isatty(self) -> bool:
        return True


Coppice = Callable[..., Ran]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's own place: stores, settings and temporary files lie below it."""
    for variable, name in (("STORAGE", "stores"), ("CONFIG", "config")):
        monkeypatch.setenv(f"COPPICE_{variable}_DIRECTORY", str(tmp_path / name))
    monkeypatch.delenv("COPPICE_STORAGE_URL", raising=False)
    for name in ("work", "temporary", "config"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.fixture
def coppice(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Coppice:
    """Runs a command in this process, into pipes."""

    def run(*arguments: str | Path, stdin: bytes = b"", is_terminal: bool = False) -> Ran:
        kind = Typed if is_terminal else io.TextIOWrapper
        monkeypatch.setattr("sys.stdin", kind(io.BytesIO(stdin)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ran(int(ended.value.code or 0), out, err)

    return run


def start(
    *arguments: str | Path, interpreter: Sequence[str] = (sys.executable,), **options: object
) -> "subprocess.Popen[bytes]":
    """The command in a process of its own, into pipes."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [*interpreter, "-m", "coppice.cli.app", *(str(argument) for argument in arguments)]
    return subprocess.Popen(command, env=os.environ.copy(), **{**pipes, **options})  # type: ignore[call-overload,no-any-return]  # the options vary


def on_terminal(*arguments: str | Path, columns: int = 100) -> str:
    """What a terminal of so many columns is sent. Skips on Windows, which has none of these."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    os.environ.update({"COLUMNS": f"{columns}", "TERM": "xterm-256color"})
    with start(*arguments, interpreter=python(), stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        received = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            received += piece
        assert process.wait() == 0
    os.close(ours)
    return received.decode()
