"""Files that git replaces are one entry of their own, and in no list of files."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client, assistant, tool, user

from coppice.protocol.file_events import FileEvent
from coppice.tree.entries import FileChangeKind, FileSource

GIT = shutil.which("git")

pytestmark = pytest.mark.skipif(GIT is None, reason="git is not installed")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository with the branches `main` and `feature-x`, which differ in 20 files."""
    folder = tmp_path / "workspace"
    (folder / "src").mkdir(parents=True)
    run(folder, "init", "-q", "-b", "main")
    write(folder, "main")
    commit(folder)
    run(folder, "checkout", "-q", "-b", "feature-x")
    write(folder, "feature")
    (folder / "src" / "0.py").unlink()
    commit(folder)
    run(folder, "checkout", "-q", "main")
    return folder


def run(folder: Path, *arguments: str) -> None:
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "HOME": str(folder)}
    who = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
    assert GIT is not None
    subprocess.run([GIT, *who, *arguments], cwd=folder, check=True, env={**os.environ, **own})


def write(folder: Path, text: str) -> None:
    for number in range(20):
        (folder / "src" / f"{number}.py").write_text(text, encoding="utf-8")


def commit(folder: Path) -> None:
    run(folder, "add", ".")
    run(folder, "commit", "-q", "-m", "words")


def events(
    folder: Path, kind: FileChangeKind = "modified", source: FileSource = "watcher"
) -> list[FileEvent]:
    return [FileEvent((folder / "src" / f"{number}.py").as_uri(), kind, source) for number in range(1, 20)]


async def files(client: Client, conversation_id: str) -> dict[str, Any]:
    answer: dict[str, Any] = await client.ask("files", conversationId=conversation_id)
    return answer


async def previews(client: Client, conversation_id: str) -> list[str]:
    nodes = (await client.ask("tree", conversationId=conversation_id))["nodes"]
    return [node["preview"] for node in nodes if node["type"] == "file_activity"]


async def test_a_checkout_is_one_line_and_no_work(client: Client, workspace: Path) -> None:
    talk = await client.conversation("hello")
    run(workspace, "checkout", "-q", "feature-x")
    gone = FileEvent((workspace / "src" / "0.py").as_uri(), "deleted", "watcher")
    client.service.tracking.feed([gone, *events(workspace)])
    tracked = await files(client, talk)
    assert (tracked["modifiedFiles"], tracked["deletedFiles"], tracked["records"]) == ([], [], [])
    (update,) = tracked["gitUpdates"]
    assert (update["action"], update["target"], update["files"]) == ("checkout", "feature-x", 20)
    assert await previews(client, talk) == ["git checkout feature-x, 20 files"]


async def test_what_changes_after_a_checkout_is_work(client: Client, workspace: Path) -> None:
    talk = await client.conversation("hello")
    run(workspace, "checkout", "-q", "feature-x")
    changed = workspace / "src" / "1.py"
    after(workspace, changed)
    client.service.tracking.feed(events(workspace))
    tracked = await files(client, talk)
    assert tracked["modifiedFiles"] == ["src/1.py"]
    assert [update["files"] for update in tracked["gitUpdates"]] == [18]


def after(workspace: Path, file: Path) -> None:
    """Writes `file` until its time is later than that of the log of HEAD."""
    log = (workspace / ".git" / "logs" / "HEAD").stat().st_mtime_ns
    while True:
        file.write_text("later", encoding="utf-8")
        if file.stat().st_mtime_ns > log:
            return


async def test_what_the_editor_saved_is_work_though_a_checkout_followed(
    client: Client, workspace: Path
) -> None:
    talk = await client.conversation("hello")
    saved = workspace / "notes.md"
    saved.write_text("text", encoding="utf-8")
    client.service.tracking.feed([FileEvent(saved.as_uri(), "modified", "editor")])
    run(workspace, "checkout", "-q", "feature-x")
    client.service.tracking.feed([*events(workspace), FileEvent(saved.as_uri(), "modified", "watcher")])
    tracked = await files(client, talk)
    assert tracked["modifiedFiles"] == ["notes.md"]
    assert [update["files"] for update in tracked["gitUpdates"]] == [19]


async def test_what_a_tool_wrote_stays_work_also_when_git_replaces_it(
    client: Client, workspace: Path
) -> None:
    talk = await client.conversation("hello")
    write_it = tool("1", "write", {"path": "src/3.py", "content": "x"}, "done")
    await client.ask("append", conversationId=talk, entries=write_it)
    run(workspace, "checkout", "-q", "feature-x")
    client.service.tracking.feed(events(workspace))
    tracked = await files(client, talk)
    assert tracked["modifiedFiles"] == ["src/3.py"]
    assert [update["files"] for update in tracked["gitUpdates"]] == [18]


async def test_a_commit_and_a_new_branch_leave_the_files_as_work(client: Client, workspace: Path) -> None:
    talk = await client.conversation("hello")
    write(workspace, "work")
    run(workspace, "checkout", "-q", "-b", "another")
    commit(workspace)
    client.service.tracking.feed(events(workspace))
    tracked = await files(client, talk)
    assert len(tracked["modifiedFiles"]) == 19
    assert "gitUpdates" not in tracked


async def test_a_checkout_whose_events_come_in_parts_is_one(client: Client, workspace: Path) -> None:
    talk = await client.conversation("hello")
    run(workspace, "checkout", "-q", "feature-x")
    for part in (events(workspace)[:7], events(workspace)[5:]):
        client.service.tracking.feed(part)
        await files(client, talk)
    tracked = await files(client, talk)
    assert [update["files"] for update in tracked["gitUpdates"]] == [19]


async def test_a_checkout_in_a_linked_worktree_is_seen(
    client: Client, workspace: Path, tmp_path: Path
) -> None:
    linked = workspace / "linked"
    run(workspace, "worktree", "add", "-q", "-b", "other", str(linked), "main")
    talk = await client.conversation("hello")
    run(linked, "checkout", "-q", "--detach", "feature-x")
    client.service.tracking.feed(events(linked))
    tracked = await files(client, talk)
    assert [(update["target"], update["files"]) for update in tracked["gitUpdates"]] == [("feature-x", 19)]


async def test_a_summary_does_not_name_what_git_replaced_and_the_files_keep_it(
    client: Client, workspace: Path
) -> None:
    talk = await client.conversation("hello")
    run(workspace, "checkout", "-q", "feature-x")
    client.service.tracking.feed(events(workspace))
    await files(client, talk)
    long = "word " * 30_000
    edit = tool("1", "write", {"path": "src/new.py", "content": "x"}, "done")
    await client.ask(
        "append",
        conversationId=talk,
        entries=[*edit, user(long), assistant(long), user("next"), assistant("yes")],
    )
    entry = (await client.ask("compact", conversationId=talk))["entry"]
    assert entry["details"]["modifiedFiles"] == ["src/new.py"]
    assert "src/7.py" not in entry["summary"]
    tracked = await files(client, talk)
    assert [update["target"] for update in tracked["gitUpdates"]] == ["feature-x"]


@pytest.mark.parametrize("hostile", ["link", "log is a link", "log is a pipe", "network", "long", "nothing"])
async def test_a_hostile_repository_is_none(
    client: Client, workspace: Path, tmp_path: Path, hostile: str
) -> None:
    talk = await client.conversation("hello")
    run(workspace, "checkout", "-q", "feature-x")
    git = workspace / ".git"
    log = git / "logs" / "HEAD"
    match hostile:
        case "link":
            git.rename(tmp_path / "elsewhere")
            git.symlink_to(tmp_path / "elsewhere")
        case "log is a link":
            log.rename(tmp_path / "log")
            log.symlink_to(tmp_path / "log")
        case "log is a pipe":
            log.unlink()
            os.mkfifo(log)
        case _:
            shutil.rmtree(git)
            text = {"network": "gitdir: //host/share", "long": "gitdir: " + "x" * 9_000}.get(hostile, "")
            git.write_text(text, encoding="utf-8")
    client.service.tracking.feed(events(workspace))
    tracked = await files(client, talk)
    assert len(tracked["modifiedFiles"]) == 19
    assert "gitUpdates" not in tracked
