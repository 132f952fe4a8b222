"""The protocol itself: revisions, errors, and a list of tools that comes before anything is imported."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp_server.conftest import Client, Start
from systems import needs_links

from coppice.agents.program import Program
from coppice.mcp.catalogue import TOOLS
from coppice.mcp.messages import MAX_LINE_BYTES
from coppice.mcp.options import Options
from coppice.mcp.tools import HistoryTools
from coppice.tokens.counting import count_tokens

META = "io.modelcontextprotocol/"
MODERN = {
    f"{META}protocolVersion": "2026-07-28",
    f"{META}clientCapabilities": {},
    f"{META}clientInfo": {"name": "test", "version": "1"},
}
NAMES = ["history_search", "history_read", "history_overview", "note_add", "note_list"]
HEAVY = ("pydantic", "sqlalchemy", "asyncio", "typer", "tiktoken", "argparse", "logging", "pathlib")


@pytest.fixture
def command() -> list[str]:
    """The one that agents are given, and no server that is forked: this is about its life, too."""
    return [*Program.installed().words, "mcp"]


@pytest.fixture
def client(start: Start) -> Client:
    return start()


@pytest.mark.parametrize(
    ("asked", "agreed"),
    [
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-01-01", "2025-11-25"),
        (7, "2025-11-25"),
    ],
)
def test_the_handshake_agrees_on_a_revision(client: Client, asked: object, agreed: str) -> None:
    result = client.result("initialize", protocolVersion=asked, capabilities={}, clientInfo={"name": "test"})
    assert result["protocolVersion"] == agreed
    assert result["capabilities"] == {"tools": {}}
    client.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert [tool["name"] for tool in client.result("tools/list")["tools"]] == NAMES
    assert client.result("ping") == {}
    client.close()


def test_each_request_of_the_newest_revision_stands_alone(client: Client) -> None:
    discovered = client.result("server/discover", _meta=MODERN)
    assert discovered["supportedVersions"] == ["2025-06-18", "2025-11-25", "2026-07-28"]
    assert discovered["resultType"] == "complete"
    listed = client.result("tools/list", _meta=MODERN)
    assert [tool["name"] for tool in listed["tools"]] == NAMES
    assert listed["resultType"] == "complete"
    assert listed["_meta"][f"{META}serverInfo"]["name"] == "coppice"
    called = client.result("tools/call", name="note_list", _meta=MODERN)
    assert called["resultType"] == "complete"
    assert called["isError"] is False


def test_an_unknown_revision_is_refused_with_those_that_are_served(client: Client) -> None:
    error = client.ask("tools/list", _meta={f"{META}protocolVersion": "2031-01-01"})["error"]
    assert error["code"] == -32022
    assert error["data"]["requested"] == "2031-01-01"
    assert "2026-07-28" in error["data"]["supported"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        (b'"ping"', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["x"]}}', -32602),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note_add","arguments":3}}',
            -32602,
        ),
        (b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * MAX_LINE_BYTES + b'"}', -32600),
    ],
)
def test_what_is_no_request_gets_an_error_and_the_next_request_its_answer(
    client: Client, line: bytes, code: int
) -> None:
    client.send(line)
    assert client.read()["error"]["code"] == code
    client.send(b"\r")
    client.send(b'{"jsonrpc":"2.0","method":"notifications/unheard-of"}')
    client.send(b'{"jsonrpc":"2.0","id":9,"result":{}}')
    assert client.result("ping") == {}
    client.close()


def test_calls_that_came_before_the_end_are_answered(start: Start) -> None:
    client = start()
    call = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "note_list"}}
    lines = b"".join(json.dumps(call | {"id": number}).encode() + b"\n" for number in range(8))
    out, errors = client.process.communicate(lines, timeout=60)
    answers = [json.loads(line) for line in out.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(8))
    assert errors == b""


@needs_links
def test_calls_about_a_folder_that_cannot_be_opened_are_all_answered(start: Start, folder: Path) -> None:
    (folder / "circle").symlink_to("circle")
    client = start("--workspace", str(folder / "circle" / "project"))
    for _ in range(5):  # one more than there are threads
        assert client.result("tools/call", name="note_list")["content"]
    client.close()


def test_a_folder_that_cannot_be_opened_is_named_with_what_to_do() -> None:
    text, failed = HistoryTools(Options("a\0b")).call("note_list", {}, "test")
    assert failed
    assert text.startswith("The folder 'a\\x00b' cannot be opened")
    assert "--workspace" in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_quietly(client: Client, number: signal.Signals) -> None:
    assert client.call("note_list")
    client.process.send_signal(number)
    out, errors = client.process.communicate(timeout=30)
    assert (client.process.returncode, out, errors) == (0, b"", b"")


def test_wrong_usage_is_one_sentence(start: Start) -> None:
    out, errors = start("--nonsense").process.communicate(timeout=30)
    assert out == b""
    assert b"unrecognized arguments: --nonsense" in errors


def test_the_tools_are_listed_before_anything_heavy_is_imported() -> None:
    """What the process has imported when the list is on its way, told by a stream that looks then."""
    script = (
        "import io, json, sys\n"
        "from coppice.cli.__main__ import main\n"
        "class Out(io.BytesIO):\n"
        "    def write(self, line):\n"
        "        print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
        "        return len(line)\n"
        "class Text: buffer = Out()\n"
        "sys.stdout, sys.argv = Text(), ['coppice', 'mcp']\n"
        "main()\n"
    )
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
    command, environment = [sys.executable, "-S", "-c", script], {"PYTHONPATH": ":".join(sys.path)}
    ran = subprocess.run(command, input=line, capture_output=True, check=False, env=environment)
    imported = json.loads(ran.stderr.splitlines()[0])
    assert "coppice.mcp.server" in imported
    assert [name for name in imported if name in HEAVY] == []


def test_the_tools_cost_few_tokens_and_hold_the_words_that_are_looked_for() -> None:
    assert count_tokens(json.dumps(TOOLS, separators=(",", ":"))) <= 700
    said = " ".join(str(tool["description"]) for tool in TOOLS).lower()
    words = ("history", "earlier", "past sessions", "compacted", "conversation", "before debugging an error")
    assert [word for word in words if word not in said] == []
    assert [tool["name"] for tool in TOOLS if tool["annotations"]["readOnlyHint"] is False] == ["note_add"]
