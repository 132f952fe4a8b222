"""A hook in C that does not release the interpreter's lock: the server can be ended, and ends by itself."""

import signal
import sys
import time
from pathlib import Path

import preloaded
import pytest
from lsp.raw_client import RawServer
from lsp.test_hooks import conversation, hello
from lsp.test_installed_extension import install, packages_of, python

__all__ = ["python"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer of processor time")

HOOK = """
import pathlib, re
from coppice.hooks import hookimpl

@hookimpl
def will_compact(params):
    pathlib.Path("asked").touch()
    re.match("(a+)+$", "a" * 60 + "b")
"""
IMPATIENT = """
import functools
from coppice.lsp import process
process.Watchdog = functools.partial(process.Watchdog, looks=20, seconds=0.25)
from coppice.lsp.__main__ import main
main([])
"""
"""A server that ends after five seconds of processor time, or as many in vain, and not after a minute."""


def holding(tmp_path: Path, python: Path, command: tuple[str, ...]) -> RawServer:
    """A server of which such a hook has been asked, and the conversation's id, in the file `made`."""
    install(packages_of(python), "holding", "holding_extension", HOOK)
    server = RawServer(tmp_path, command, python=[str(python)], cwd=tmp_path)
    server.initialize(hello())
    about = conversation(server)
    (tmp_path / "made").write_text(about["conversationId"])
    server.start_request("coppice/compact", about)
    while not (tmp_path / "asked").exists():
        assert server.process.poll() is None
        time.sleep(0.02)
    return server


def stored(tmp_path: Path) -> int:
    """How many entries the conversation has, by the answer of another server."""
    with RawServer(tmp_path, python=preloaded.python()) as server:
        server.initialize({})
        about = {"conversationId": (tmp_path / "made").read_text(), "limit": 100}
        return len(server.result("coppice/entries", about)["entries"])


def test_a_server_whose_interpreter_is_held_ends_with_its_stacks(tmp_path: Path, python: Path) -> None:
    server = holding(tmp_path, python, ("-c", IMPATIENT))
    with pytest.raises(EOFError) as ended:
        server.request("coppice/conversation/list", {})
    server.end()
    assert server.process.returncode == -signal.SIGPROF
    assert 'holding_extension.py", line 8 in will_compact' in str(ended.value) + server.stderr.decode()
    assert stored(tmp_path) > 0


def test_a_signal_ends_a_server_whose_interpreter_is_held(tmp_path: Path, python: Path) -> None:
    server = holding(tmp_path, python, ("-m", "coppice.lsp"))
    server.process.terminate()
    server.end()
    assert server.process.returncode == -signal.SIGTERM
    assert stored(tmp_path) > 0
