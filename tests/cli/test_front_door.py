"""What `coppice` itself answers, and the server that `coppice serve` starts."""

import json
import subprocess
import sys

import pytest
from cli.conftest import Coppice, start

from coppice import __version__
from coppice.protocol.methods import METHODS

COMMANDS = ("serve", "compact", "context", "tree", "list", "import", "export", "doctor")


def test_the_version_is_the_package_s(coppice: Coppice) -> None:
    ran = coppice("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"coppice {__version__}\n", "")


@pytest.mark.parametrize(
    ("imported", "heavy"),
    [
        ("coppice.cli.app", ("pygls", "lsprotocol", "sqlalchemy", "pydantic", "tiktoken")),
        ("coppice.service.methods", ("httpx", "pygls", "lsprotocol")),
    ],
)
def test_what_a_first_answer_waits_for_imports_none_of_the_heavy_libraries(
    imported: str, heavy: tuple[str, ...]
) -> None:
    probe = f"import sys, {imported}; print([m for m in {heavy!r} if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_help_names_every_command(coppice: Coppice) -> None:
    ran = coppice("--help")
    assert ran.code == 0
    assert all(f" {command} " in ran.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_documents_its_exit_codes(coppice: Coppice, command: str) -> None:
    ran = coppice(command, "--help")
    assert ran.code == 0
    codes = ("0 done", "1 it could not be done", "2 wrong usage", "130 interrupted")
    served = ("0 the client sent shutdown", "1 it left without", "2 the server could not begin")
    for code in served if command == "serve" else codes:
        assert code in " ".join(ran.out.split())


def test_the_server_answers_on_standard_streams() -> None:
    def framed(**message: object) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)

    sent = framed(id=1, method="initialize", params={"capabilities": {}, "processId": None, "rootUri": None})
    sent += framed(id=2, method="shutdown") + framed(method="exit")
    with start("serve", "--stdio") as process:
        out, err = process.communicate(sent)
    assert process.returncode == 0, err
    body = out.split(b"\r\n\r\n", 1)[1]
    answer, _ = json.JSONDecoder().raw_decode(body.decode())
    assert set(answer["result"]["capabilities"]["experimental"]["coppice"]["methods"]) >= set(METHODS)
