"""`coppice mcp` in processes of its own, over a workspace whose stored sessions are made here."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from preloaded import python

from coppice.store.schema.records import NewConversation, NewRecord
from coppice.store.store import Store
from coppice.store.tree.location import workspace_database
from coppice.tokens.measuring import size_of_entry
from coppice.tree.entries import ENTRY

NOW = "2026-10-01T10:00:00.000Z"
EARLIER = "2026-09-01T08:00:00.000Z"
SESSION = "5f0c6b5e-0000-4000-8000-00000000aaaa"
OTHER_SESSION = "019f0000-0000-7000-8000-00000000bbbb"

Message = dict[str, Any]
EDIT = {
    "file_path": "src/login.py",
    "old_string": "a = 1\nmax_age = 60\n",
    "new_string": "a = 1\nmax_age = 2592000\n",
}


AGENT_FOLDERS = {"CLAUDE_CONFIG_DIR": "claude", "CODEX_HOME": "codex", "PI_CODING_AGENT_DIR": "pi"}


class Client:
    """A client that sends what it is told, and reads answers in the order in which they come."""

    def __init__(self, folder: Path, command: Sequence[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=os.environ | environment,
        )
        self._number = 0

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> Message:
        assert self.process.stdout is not None
        answer: Message = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, method: str, **params: Any) -> Message:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.send(json.dumps(message).encode())
        answer = self.read()
        assert answer["id"] == self._number
        return answer

    def result(self, method: str, **params: Any) -> Message:
        result: Message = self.ask(method, **params)["result"]
        return result

    def call(self, tool: str, /, **arguments: Any) -> str:
        """The text of a tool's result, which is all there is in it."""
        result = self.result("tools/call", name=tool, arguments=arguments)
        assert result.keys() == {"content", "isError"}
        assert result["isError"] is False, result
        [block] = result["content"]
        assert block["type"] == "text"
        text: str = block["text"]
        return text

    def close(self) -> None:
        """Leaves as a client does: the server ends by itself."""
        out, errors = self.process.communicate(timeout=60)
        assert (self.process.returncode, out, errors) == (0, b"", b"")


Start = Callable[..., Client]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace's folder. Stores and settings lie in the test's own folder."""
    for variable, name in (("STORAGE", "stores"), ("CONFIG", "config")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"COPPICE_{variable}_DIRECTORY", str(tmp_path / name))
    for variable in (
        "COPPICE_STORAGE_URL",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_PROJECT_DIR",
        "COPPICE_SESSION_ID",
    ):
        monkeypatch.delenv(variable, raising=False)
    for variable, name in AGENT_FOLDERS.items():
        monkeypatch.setenv(variable, str(tmp_path / "agents" / name))
    folder = tmp_path / "garden"
    folder.mkdir()
    return folder


@pytest.fixture
def command() -> list[str]:
    """What starts a server; its arguments may follow."""
    return [*python(), "-m", "coppice.mcp"]


@pytest.fixture
def start(folder: Path, command: list[str]) -> Iterator[Start]:
    """Starts a server in the workspace's folder."""
    clients: list[Client] = []

    def start_one(*arguments: str, at: Path = folder, **environment: str) -> Client:
        clients.append(Client(at, [*command, *arguments], environment))
        return clients[-1]

    yield start_one
    for client in clients:
        client.process.kill()
        client.process.communicate()


def url_of(folder: Path) -> str:
    return workspace_database(folder.parent / "stores", folder.resolve().as_uri())


def stored(
    folder: Path, entries: list[Message], *, session: str = SESSION, agent: str = "claude-code", **source: Any
) -> str:
    """A conversation with these entries, each under the one before it; its id."""
    store = Store.open(url_of(folder), server_id="test", index_idle_seconds=None)
    at = entries[0].get("timestamp", NOW) if entries else NOW
    new = NewConversation(
        id=f"conversation-{session}",
        workspace_uri=folder.resolve().as_uri(),
        created_at=at,
        source={"format": agent, "sessionId": session, **source},
    )
    records = []
    for entry in entries:
        made = ENTRY.validate_python({"type": "message", "parentId": None, "timestamp": at, **entry})
        records.append(NewRecord(made, size_of_entry(made)))
    store.create(new)
    store.append(new.id, records, modified_at=at)
    store.close()
    return new.id


def user(entry_id: str, text: str, **more: Any) -> Message:
    return {"id": entry_id, "message": {"role": "user", "content": text}, **more}


def assistant(entry_id: str, text: str, *calls: tuple[str, str, Message]) -> Message:
    blocks: list[Message] = [{"type": "text", "text": text}] if text else []
    blocks += [
        {"type": "toolCall", "id": call, "name": name, "arguments": args} for call, name, args in calls
    ]
    return {"id": entry_id, "message": {"role": "assistant", "content": blocks}}


def result(entry_id: str, call: str, text: str, *, tool: str = "Bash", failed: bool = False) -> Message:
    message = {
        "role": "toolResult",
        "toolCallId": call,
        "toolName": tool,
        "content": [{"type": "text", "text": text}],
        "isError": failed,
    }
    return {"id": entry_id, "message": message}


@pytest.fixture
def sessions(folder: Path) -> Path:
    """Two sessions of two agents: a running one about an export, and an earlier one about a login page."""
    stored(
        folder,
        [
            user("login-1", "The login page must remember the visitor for thirty days.", timestamp=EARLIER),
            assistant("login-2", "I looked at the cookie.", ("c1", "Edit", EDIT)),
            result("login-3", "c1", "src/login.py was changed", tool="Edit"),
            assistant("login-4", "", ("c2", "Bash", {"command": "pytest tests/test_login.py"})),
            result("login-5", "c2", "E  ZeroDivisionError in remember_visitor\n1 failed", failed=True),
            assistant("login-6", "The division by zero came from an empty basket; it is fixed in 4f2a9c1."),
        ],
        session=OTHER_SESSION,
        agent="codex",
    )
    stored(
        folder,
        [
            user("export-1", "Write the export to CSV with semicolons, never with commas."),
            assistant("export-2", "The export writes semicolons now."),
            user("export-3", "Thank you. What about the header line?"),
            assistant("export-4", "The header line has the names of the columns."),
        ],
    )
    return folder
