"""Kills and a second window while a summary is prepared in the background, and while results are cleared."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from lsp.editor import GATED, WORKSPACE
from lsp.forked_server import ForkedServer

from coppice.store.tree.location import workspace_database

pytestmark = pytest.mark.slow

WINDOW = 20_000
SETTINGS = {
    "model": {"contextWindow": WINDOW},
    "tokens": {"counter": "estimate"},
    "compaction": {"keepRecentTokens": 2_000, "clear": {"enabled": False}},
}
CHANGED = "coppice/backgroundCompactionChanged"
OUTPUT = "a line of a file that was read\n" * 100


class Window:
    """A server of one store below `directory`, whose summaries wait for `gate`."""

    def __init__(self, directory: Path) -> None:
        self.gate = directory / "gate"
        self.server = ForkedServer(directory, (str(GATED), str(self.gate)))
        folder = {"uri": WORKSPACE, "name": "editor"}
        options = {"settings": SETTINGS}
        self.server.initialize({"workspaceFolders": [folder], "initializationOptions": options})

    def ask(self, method: str, **params: Any) -> Any:
        return self.server.result(f"coppice/{method}", params)

    def path(self, conversation: str) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self.ask("entries", conversationId=conversation, limit=1000)[
            "entries"
        ]
        return entries

    def status(self) -> str | None:
        """The next change of what is prepared."""
        status: str | None = self.server.notification(CHANGED)["status"]
        return status

    def kill(self) -> None:
        assert self.server.kill() == -9


@contextmanager
def window(directory: Path) -> Iterator[Window]:
    made = Window(directory)
    with made.server:
        yield made


def message(role: str, text: str) -> dict[str, Any]:
    content = text if role == "user" else [{"type": "text", "text": text}]
    return {"type": "message", "message": {"role": role, "content": content}}


def work(turns: int) -> list[dict[str, Any]]:
    """Turns of 1,000 tokens each."""
    return [message(role, "x" * 2_000) for _ in range(turns) for role in ("user", "assistant")]


def prepared(here: Window, *, ready: bool) -> str:
    """A conversation near its threshold whose next summary is being written, or is there."""
    made: str = here.ask("conversation/create")["conversation"]["id"]
    usage = here.ask("append", conversationId=made, entries=work(9))["usage"]
    assert 0.8 * usage["thresholdTokens"] < usage["tokens"] < usage["thresholdTokens"]
    if ready:
        here.gate.touch()
    assert here.ask("preparePrompt", conversationId=made)["compacted"] is False
    assert here.status() == "writing"
    assert not ready or here.status() == "ready"
    return made


@pytest.mark.parametrize("ready", [False, True], ids=["writing", "ready"])
def test_a_kill_leaves_the_tree_as_it_was_and_the_next_server_compacts(
    tmp_path: Path, *, ready: bool
) -> None:
    with window(tmp_path) as here:
        made = prepared(here, ready=ready)
        before = here.path(made)
        here.kill()
    (tmp_path / "gate").touch()
    with window(tmp_path) as here:
        assert here.path(made) == before
        here.ask("append", conversationId=made, entries=work(3))
        entry = here.ask("preparePrompt", conversationId=made)["entry"]
        assert (entry["type"], entry["reason"]) == ("compaction", "threshold")
        assert here.path(made)[: len(before)] == before


def test_a_kill_of_a_compaction_that_waits_for_it_leaves_the_tree_as_it_was(tmp_path: Path) -> None:
    with window(tmp_path) as here:
        made = prepared(here, ready=False)
        here.ask("append", conversationId=made, entries=work(3))
        before = here.path(made)
        here.server.start_request("coppice/preparePrompt", {"conversationId": made})
        here.server.notification("coppice/compactionStarted")
        here.kill()
    (tmp_path / "gate").touch()
    with window(tmp_path) as here:
        assert here.path(made) == before
        assert here.ask("preparePrompt", conversationId=made)["compacted"] is True


@pytest.mark.parametrize("moment", ["before its write", "during its write", "after its answer"])
def test_a_kill_while_a_ready_summary_is_stored_leaves_all_of_it_or_nothing(
    tmp_path: Path, moment: str
) -> None:
    with window(tmp_path) as here:
        made = prepared(here, ready=True)
        here.ask("append", conversationId=made, entries=work(3))
        before = here.path(made)
        store = workspace_database(tmp_path / "store", WORKSPACE).removeprefix("sqlite:///")
        with closing(sqlite3.connect(store, isolation_level=None)) as other:
            if moment == "before its write":
                other.execute("BEGIN IMMEDIATE")
            asked = here.server.start_request("coppice/preparePrompt", {"conversationId": made})
            here.server.notification("coppice/compactionStarted")
            stored = [here.server.answer(asked)["result"]["entry"]] if moment == "after its answer" else []
            here.kill()
    with window(tmp_path) as here:
        added = here.path(made)[len(before) :]
        assert here.path(made)[: len(before)] == before
        assert [each["type"] for each in added] in ([], ["compaction"])
        assert moment == "during its write" or added == stored
        again = here.ask("preparePrompt", conversationId=made)
        assert again["compacted"] is (added == [])
        kinds = [each["type"] for each in here.path(made)]
        assert kinds == ["message"] * len(before) + ["compaction"]


def test_what_another_window_appends_is_kept_after_the_summary(tmp_path: Path) -> None:
    with window(tmp_path) as here, window(tmp_path) as there:
        made = prepared(here, ready=True)
        before = here.path(made)
        there.ask("append", conversationId=made, entries=work(3))
        here.gate.unlink()  # no other summary can be written
        entry = here.ask("preparePrompt", conversationId=made)["entry"]
        assert here.status() is None
        path = there.path(made)
        assert (path[: len(before)], path[-1]) == (before, entry)
        kept = [each["id"] for each in path].index(entry["firstKeptEntryId"])
        assert kept < len(before) < len(path) - 6


def test_after_another_window_compacted_it_is_not_announced_nor_used(tmp_path: Path) -> None:
    with window(tmp_path) as here, window(tmp_path) as there:
        made = prepared(here, ready=True)
        entry = there.ask("compact", conversationId=made)["entry"]
        assert here.status() is None
        assert here.path(made)[-1] == entry
        assert here.ask("preparePrompt", conversationId=made)["compacted"] is False
        here.ask("append", conversationId=made, entries=work(14))
        again = here.ask("preparePrompt", conversationId=made)["entry"]
        kinds = [each["type"] for each in there.path(made)]
        assert (kinds.count("compaction"), there.path(made)[-1]) == (2, again)


def test_on_another_branch_it_is_not_announced_until_somebody_comes_back(tmp_path: Path) -> None:
    with window(tmp_path) as here, window(tmp_path) as there:
        made = prepared(here, ready=True)
        path = here.path(made)
        there.ask("navigate", conversationId=made, targetId=path[3]["id"])
        assert here.status() is None
        here.ask("navigate", conversationId=made, targetId=path[-1]["id"])
        assert here.status() == "ready"
        assert here.path(made) == path


@pytest.mark.parametrize("is_answered", [False, True], ids=["sent", "answered"])
def test_a_kill_while_results_are_cleared_leaves_all_of_it_or_nothing(
    tmp_path: Path, *, is_answered: bool
) -> None:
    with window(tmp_path) as here:
        made = here.ask("conversation/create")["conversation"]["id"]
        ids = here.ask("append", conversationId=made, entries=reads(3))["entryIds"]
        before = here.path(made)
        about = {"conversationId": made, "keepTokens": 0}
        asked = here.server.start_request("coppice/clearToolResults", about)
        entry = here.server.answer(asked)["result"]["entry"] if is_answered else None
        here.kill()
    with window(tmp_path) as here:
        path = here.path(made)
        added = path[len(before) :]
        assert path[: len(before)] == before
        assert [each["type"] for each in added] in ([], ["context_edit"])
        assert not is_answered or added == [entry]
        shown = here.ask("context", conversationId=made)["messages"]
        lines = [each["entryId"] for each in shown if "was cleared" in str(each["content"])]
        assert lines == ([ids[2], ids[4], ids[6]] if added else [])


def reads(count: int) -> list[dict[str, Any]]:
    """A question, files read for it, and the reply that has seen them."""
    entries = [message("user", "Read.")]
    for number in range(count):
        call = {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": {"path": f"{number}.py"}}
        result = {"role": "toolResult", "toolCallId": f"c{number}", "toolName": "read", "isError": False}
        content = [{"type": "text", "text": OUTPUT}]
        entries += [
            {"type": "message", "message": {"role": "assistant", "content": [call]}},
            {"type": "message", "message": {**result, "content": content}},
        ]
    return [*entries, message("assistant", "Read.")]
