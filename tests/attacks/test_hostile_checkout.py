"""What a checkout contains cannot freeze the server, nor trouble another folder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from attacks.hostile_checkouts import PATTERNS, SETTINGS
from cli.conftest import Coppice, coppice, home
from lsp.forked_server import ForkedServer
from lsp.raw_client import RawServer

from coppice.service.core.settings_source import SettingsSource

__all__ = ["coppice", "home"]

Make = Callable[[Path], None]
LONG_PATH = "/".join(["a" * 200] * 18 + ["a" * 200])
"""As long as a path can be."""

LIMIT_SECONDS = 40.0
"""Of processor time, for a whole session. It takes 1 s; an attack that works takes minutes, or all memory."""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    folder = tmp_path / "hostile"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("make", SETTINGS.values(), ids=SETTINGS.keys())
def test_settings_that_cannot_be_read_are_reported(make: Make, hostile: Path) -> None:
    make(hostile)
    source = SettingsSource(user_file=hostile / "none")
    settings, problems = source.explained(hostile.as_uri())
    assert settings == source.of()
    assert problems
    assert max(map(len, problems)) < 400


@pytest.mark.parametrize("make", SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize("command", [["list"], ["doctor"]], ids=["list", "doctor"])
def test_settings_of_a_checkout_stop_no_command(
    coppice: Coppice, make: Make, command: list[str], hostile: Path
) -> None:
    make(hostile)
    ran = coppice(*command, "--workspace", hostile, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)


def test_a_checkout_cannot_set_the_role_of_the_summary(hostile: Path) -> None:
    (hostile / ".coppice").mkdir()
    (hostile / ".coppice" / "settings.toml").write_text('context.summaryRole = "system"\n', encoding="utf-8")
    settings, problems = SettingsSource(user_file=hostile / "none").explained(hostile.as_uri())
    assert settings.context.summary_role == "user"
    assert "may not set it" in problems[0]


class Window:
    """A server with two folders, and a conversation in each."""

    def __init__(self, server: RawServer, folders: list[Path]) -> None:
        self.server = server
        named = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
        watches = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
        server.initialize({"workspaceFolders": named, "capabilities": watches})
        self.talks = [self._conversation(folder) for folder in folders]

    def _conversation(self, folder: Path) -> str:
        made = self.server.result("coppice/conversation/create", {"workspaceUri": folder.as_uri()})
        talk = str(made["conversation"]["id"])
        entry = {"type": "message", "message": {"role": "user", "content": "hello"}}
        self.server.result("coppice/append", {"conversationId": talk, "entries": [entry]})
        return talk

    def watched(self, *files: Path) -> None:
        self.server.notify(
            "workspace/didChangeWatchedFiles",
            {"changes": [{"uri": file.as_uri(), "type": 2} for file in files]},
        )

    def modified(self, talk: str) -> list[Any]:
        return list(self.server.result("coppice/files", {"conversationId": talk})["modifiedFiles"])


@pytest.mark.parametrize(
    "make",
    [*SETTINGS.values(), *PATTERNS.values()],
    ids=[f"settings: {name}" for name in SETTINGS] + [f"patterns: {name}" for name in PATTERNS],
)
def test_a_file_event_is_answered_and_the_other_folder_works(
    make: Make, hostile: Path, tmp_path: Path
) -> None:
    make(hostile)
    other = tmp_path / "other"
    other.mkdir()
    with ForkedServer(tmp_path) as server:
        window = Window(server, [hostile, other])
        window.watched(hostile / LONG_PATH, hostile / "src" / "b.py", other / "a.py")
        in_hostile, in_other = [window.modified(talk) for talk in window.talks]
        used = psutil.Process(server.pid).cpu_times()
        assert used.user + used.system < LIMIT_SECONDS
    assert in_other == ["a.py"]
    assert "src/b.py" in in_hostile
