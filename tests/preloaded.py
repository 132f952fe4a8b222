"""Starts Python programs that use Coppice in a fraction of the time: forked from a process that imported it.

A program has a process, pipes, an environment and a folder of its own, and ends as one that was started anew.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import random
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, NoReturn

import coppice
from coppice.tokens.counting import encoding

PID_FILE: Final = "COPPICE_TEST_PID_FILE"
"""The variable that names the file to which a forked program writes its process id before it runs."""
_CLIENT: Final = Path(__file__).with_name("preloaded_client.py")
_LONGEST_REQUEST: Final = 200_000  # bytes: about what a socket takes at once
_STREAMS: Final = 3
_INPUT: Final = 0
_READY: Final = "ready"
_PROGRAMS: Final = (
    "coppice.protocol.generate",
    "coppice.lsp.__main__",
    "coppice.cli.__main__",
    "coppice.cli.app",
    "coppice.mcp.__main__",
)
"""What does something when it is imported, or is run as a module: that warns of one that is imported."""


def python() -> list[str]:
    """The beginning of a command whose rest is what `sys.executable` would be given.

    The command's process ends as the program does. A signal that ends it kills the program a moment later:
    when the program's output ends, it is dead. Where a process cannot wait for another one together with a
    socket, programs are started the usual way.
    """
    return [sys.executable, "-IS", str(_CLIENT), _address()] if is_possible() else [sys.executable]


@cache
def is_possible() -> bool:
    """Linux can, unless the machine is a container that does not permit it."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


@cache
def _address() -> str:
    """The socket of a preloaded process, which ends with this one."""
    # Not where a test has its temporary files, nor in its working directory: both end with that test.
    folder = tempfile.TemporaryDirectory(prefix="coppice-preloaded-", dir="/tmp")
    address = str(Path(folder.name) / "socket")
    process = subprocess.Popen(
        [sys.executable, "-m", "preloaded", address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder.name,
        env=os.environ | {"PYTHONPATH": str(_CLIENT.parent)},
    )

    def end() -> None:
        process.communicate()
        folder.cleanup()

    atexit.register(end)
    assert process.stdout is not None
    assert process.stdout.readline().decode().strip() == _READY
    return address


def _import_all() -> None:
    for module in pkgutil.walk_packages(coppice.__path__, "coppice."):
        if not module.name.startswith(_PROGRAMS):
            with suppress(ModuleNotFoundError):  # psycopg is an extra
                importlib.import_module(module.name)
    encoding()


def _next_program(listener: socket.socket) -> list[str]:
    """Forks for each client. Returns in the forked processes only, with the arguments of the program."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        readable, _, _ = select.select([_INPUT, listener.fileno()], [], [])
        if _INPUT in readable:
            raise SystemExit
        client, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            return _program_of(client)
        client.close()


def _program_of(client: socket.socket) -> list[str]:
    """Forks once more: one process watches, the other one becomes the program."""
    request, streams, flags, _ = socket.recv_fds(client, _LONGEST_REQUEST, _STREAMS)
    assert not flags & socket.MSG_TRUNC, "The environment and the arguments are too long"
    program = os.fork()
    if program:
        for each in (*range(_STREAMS), *streams):
            os.close(each)
        _watch(client, program)
    client.close()
    for number, each in enumerate(streams):
        os.dup2(each, number)
        os.close(each)
    return _become(json.loads(request))


def _watch(client: socket.socket, program: int) -> NoReturn:
    """Reports to the client how the program ended; kills it when the client ends first."""
    readable, _, _ = select.select([client.fileno(), os.pidfd_open(program)], [], [])
    if client.fileno() in readable:
        os.kill(program, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    with suppress(BrokenPipeError):
        client.send(str(code).encode())
    os._exit(0)


def _become(request: dict[str, Any]) -> list[str]:
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    # What these know of their files was found out at the start, of others.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - open until the program ends
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, errors="backslashreplace", buffering=1)  # noqa: SIM115
    # Where a program puts another in its place, it would be closed with what still writes to it.
    sys.__stdout__ = sys.stdout  # type: ignore[misc]  # as Python itself does
    random.seed()
    if file := os.environ.get(PID_FILE):
        Path(file).write_text(str(os.getpid()), encoding="ascii")
    return list(request["arguments"])


def main(address: str) -> None:
    """Serves clients until the input ends."""
    _import_all()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(address)
    listener.listen()
    gc.freeze()
    print(_READY, flush=True)
    arguments = _next_program(listener)
    if arguments[0] == "-m":
        sys.argv[1:] = arguments[2:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = arguments
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])
