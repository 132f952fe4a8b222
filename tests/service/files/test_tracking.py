"""What an editor and a watcher report becomes file activity of the active conversation."""

import asyncio
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from conftest_service import Client, MakeClient, assistant, tool, user
from waiting import PATIENCE

from coppice.protocol.file_events import FileEvent
from coppice.service.files.tracking import MOST_CHANGES
from coppice.tree.entries import FileChangeKind, FileSource


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


def event(
    path: Path, kind: FileChangeKind, source: FileSource = "editor", old: Path | None = None
) -> FileEvent:
    return FileEvent(path.as_uri(), kind, source, old.as_uri() if old is not None else None)


async def activity(client: Client, conversation_id: str) -> list[list[str]]:
    """What is recorded, entry by entry, each change as its kind and path."""
    await client.ask("files", conversationId=conversation_id)
    nodes = (await client.ask("tree", conversationId=conversation_id))["nodes"]
    return [node["preview"].split(", ") for node in nodes if node["type"] == "file_activity"]


async def test_a_saved_file_is_recorded_with_the_newest_message(client: Client, workspace: Path) -> None:
    talk = await client.conversation("hello", "hi")
    leaf = (await client.ask("conversation/get", conversationId=talk))["conversation"]["leafId"]
    client.service.tracking.feed([event(workspace / "src" / "a.py", "modified")] * 3)
    files = await client.ask("files", conversationId=talk)
    assert files["modifiedFiles"] == ["src/a.py"]
    assert [(record["sources"], record["writes"]) for record in files["records"]] == [(["editor"], 1)]
    tree = await client.ask("tree", conversationId=talk)
    assert (tree["leafId"], tree["nodes"][-1]["parentId"]) == (leaf, leaf)
    assert client.notified("conversationChanged")[-1]["changes"] == ["entries"]


async def test_without_an_active_conversation_nothing_is_recorded(client: Client, workspace: Path) -> None:
    client.service.tracking.feed([event(workspace / "a.py", "modified")])
    talk = await client.conversation("hello")
    assert await activity(client, talk) == []


async def test_a_file_is_recorded_once_between_two_messages(client: Client, workspace: Path) -> None:
    talk = await client.conversation("hello")
    for _ in range(3):
        client.service.tracking.feed([event(workspace / "a.py", "modified")])
        await client.ask("files", conversationId=talk)
    await client.ask("append", conversationId=talk, entries=[assistant("yes")])
    client.service.tracking.feed([event(workspace / "a.py", "modified", "watcher")])
    await client.ask("append", conversationId=talk, entries=[user("and now")])
    assert await activity(client, talk) == [["modified a.py"], ["modified a.py"]]


async def test_events_are_recorded_when_it_has_become_quiet(client: Client, workspace: Path) -> None:
    talk = await client.conversation("hello")
    client.service.tracking.feed([event(workspace / "a.py", "modified")])
    before = len(client.notifications)
    async with asyncio.timeout(PATIENCE):
        while len(client.notifications) == before:  # noqa: ASYNC110 - the service's own doing
            await asyncio.sleep(0.05)
    assert client.notifications[before:] == [
        ("coppice/conversationChanged", {"conversationId": talk, "leafId": ANY, "changes": ["entries"]})
    ]


async def test_who_asks_while_events_are_being_recorded_waits_for_them(
    client: Client, workspace: Path
) -> None:
    talk = await client.conversation("hello")
    client.service.tracking.feed([event(workspace / f"{n}.py", "modified") for n in range(3_000)])
    recording = asyncio.create_task(client.service.tracking.record())
    for _ in range(3):  # as far as the thread that folds
        await asyncio.sleep(0)
    assert (await client.ask("files", conversationId=talk))["modifiedFiles"]
    await asyncio.wait_for(recording, PATIENCE)


async def test_the_last_events_are_recorded_when_the_service_closes(
    make_client: MakeClient, workspace: Path
) -> None:
    first: Client = await make_client()
    talk = await first.conversation("hello")
    first.service.tracking.feed([event(workspace / "a.py", "deleted")])
    await first.service.close()
    second: Client = await make_client()
    assert (await second.ask("files", conversationId=talk))["deletedFiles"] == ["a.py"]


async def test_two_windows_that_see_the_same_change_record_it_once(
    make_client: MakeClient, workspace: Path
) -> None:
    windows: list[Client] = [await make_client(), await make_client()]
    talk = await windows[0].conversation("hello")
    await windows[1].ask("conversation/get", conversationId=talk)
    for window in windows:
        window.service.tracking.feed([event(workspace / "a.py", "modified", "watcher")])
        await window.ask("files", conversationId=talk)
    assert await activity(windows[0], talk) == [["modified a.py"]]


async def test_a_write_that_tool_editor_and_watcher_see_counts_once(client: Client, workspace: Path) -> None:
    talk = await client.conversation("write it")
    call, result = tool("c1", "write", {"path": str(workspace / "a.py")}, "done")
    await client.ask("append", conversationId=talk, entries=[call])
    client.service.tracking.feed([event(workspace / "a.py", "created", "watcher")])
    await client.ask("append", conversationId=talk, entries=[result])
    client.service.tracking.feed([event(workspace / "a.py", "modified", "editor")])
    (record,) = (await client.ask("files", conversationId=talk))["records"]
    assert (record["path"], record["writes"]) == ("a.py", 1)
    assert sorted(record["sources"]) == ["editor", "tool", "watcher"]


async def test_a_moved_folder_keeps_what_is_known_of_its_files(client: Client, workspace: Path) -> None:
    talk = await client.conversation("read it")
    await client.ask("append", conversationId=talk, entries=tool("c1", "read", {"path": "old/a.py"}, "text"))
    (workspace / "new").mkdir()
    moved = event(workspace / "new", "renamed", old=workspace / "old")
    client.service.tracking.feed([moved, event(workspace / "new", "created", "watcher")])
    files = await client.ask("files", conversationId=talk)
    assert files["modifiedFiles"] == ["new/a.py"]
    assert files["records"][0]["renamedFrom"] == "old/a.py"


async def test_folders_are_no_files(client: Client, workspace: Path) -> None:
    talk = await client.conversation("hello")
    (workspace / "made").mkdir()
    client.service.tracking.feed(
        [event(workspace / "made", "created", source) for source in ("editor", "watcher")]
    )
    assert (await client.ask("files", conversationId=talk))["records"] == []


async def test_a_watcher_is_silent_about_what_is_ignored(make_client: MakeClient, workspace: Path) -> None:
    client: Client = await make_client({"files": {"ignore": ["*.gen.py"]}})
    (workspace / "pkg").mkdir()
    (workspace / ".gitignore").write_text("build/\n*.log\n")
    (workspace / "pkg" / ".gitignore").write_text("/local.py\n!kept.log\n")
    talk = await client.conversation("hello")
    names = ["build/x", "a.log", "pkg/local.py", "pkg/kept.log", "a.gen.py", ".git/index", "src/a.py"]
    client.service.tracking.feed([event(workspace / name, "modified", "watcher") for name in names])
    files = await client.ask("files", conversationId=talk)
    assert files["modifiedFiles"] == ["pkg/kept.log", "src/a.py"]
    client.service.tracking.feed([event(workspace / name, "modified", "editor") for name in names])
    files = await client.ask("files", conversationId=talk)
    assert files["modifiedFiles"] == ["a.log", "build/x", "pkg/kept.log", "pkg/local.py", "src/a.py"]


async def test_a_changed_ignore_file_counts_at_once(client: Client, workspace: Path) -> None:
    talk = await client.conversation("hello")
    for pattern, name in (("a.py", "a.py"), ("b.py", "b.py")):
        (workspace / ".gitignore").write_text(f"{pattern}\n# {pattern * 3}\n")
        client.service.tracking.feed([event(workspace / name, "modified", "watcher")])
    (workspace / ".gitignore").unlink()
    client.service.tracking.feed([event(workspace / "c.py", "modified", "watcher")])
    files = await client.ask("files", conversationId=talk)
    assert "c.py" in files["modifiedFiles"]


@pytest.mark.parametrize(("counts", "read"), [("counts", ["a.py"]), ("does not", [])])
async def test_opening_a_file_is_reading_it_where_the_setting_says_so(
    make_client: MakeClient,
    workspace: Path,
    counts: str,
    read: list[str],
) -> None:
    client: Client = await make_client({"files": {"countOpenAsRead": counts == "counts"}})
    talk = await client.conversation("hello")
    client.service.tracking.feed([event(workspace / "a.py", "read")] * 2)
    files = await client.ask("files", conversationId=talk)
    assert files["readFiles"] == read
    assert [record["reads"] for record in files["records"]] == [1] * len(read)


async def test_the_conversation_that_was_worked_in_last_gets_the_events(
    client: Client, workspace: Path
) -> None:
    first, second = await client.conversation("one"), await client.conversation("two")
    client.service.tracking.feed([event(workspace / "second.py", "modified")])
    await client.ask("conversation/get", conversationId=first)
    client.service.tracking.feed([event(workspace / "first.py", "modified")])
    await client.ask("context", conversationId=second)
    await client.ask("conversation/rename", conversationId=second, name="not opened by that")
    client.service.tracking.feed([event(workspace / "more.py", "modified")])
    assert (await client.ask("files", conversationId=second))["modifiedFiles"] == ["second.py"]
    assert (await client.ask("files", conversationId=first))["modifiedFiles"] == ["first.py", "more.py"]


async def test_a_deleted_conversation_takes_no_events(client: Client, workspace: Path) -> None:
    first = await client.conversation("one")
    client.service.tracking.feed([event(workspace / "a.py", "modified")])
    await client.ask("conversation/delete", conversationId=first)
    client.service.tracking.feed([event(workspace / "a.py", "modified")])
    second = await client.conversation("two")
    assert await activity(client, second) == []


async def test_each_workspace_folder_has_its_own_active_conversation(
    client: Client, workspace: Path, tmp_path: Path
) -> None:
    other, third = tmp_path / "other", workspace / "inner"
    folders = [folder.as_uri() for folder in (workspace, other, third)]
    await client.service.set_workspace_folders(folders)
    talk = await client.conversation("one")
    made = await client.ask("conversation/create", workspaceUri=other.as_uri())
    elsewhere = made["conversation"]["id"]
    outside = tmp_path / "notes.md"
    events = [event(path, "modified") for path in (workspace / "a", other / "b", third / "c", outside)]
    client.service.tracking.feed([*events, event(tmp_path / "watched", "modified", "watcher")])
    assert (await client.ask("files", conversationId=talk))["modifiedFiles"] == ["a"]
    tracked = await client.ask("files", conversationId=elsewhere)
    assert tracked["modifiedFiles"] == [str(outside), "b"]
    await client.service.set_workspace_folders(folders[:1])
    client.service.tracking.feed([event(other / "late", "modified"), event(workspace / "on", "modified")])
    assert (await client.ask("files", conversationId=elsewhere))["modifiedFiles"] == [str(outside), "b"]
    files = (await client.ask("files", conversationId=talk))["modifiedFiles"]
    assert files == [str(other / "late"), "a", "on"]


async def test_a_folder_is_the_same_however_its_uri_is_spelled(client: Client, workspace: Path) -> None:
    made = await client.ask("conversation/create", workspaceUri=f"{workspace.as_uri()}/")
    talk = made["conversation"]["id"]
    client.service.tracking.feed([event(workspace / "a.py", "modified")])
    assert (await client.ask("files", conversationId=talk))["modifiedFiles"] == ["a.py"]


async def test_a_file_that_goes_to_another_workspace_is_gone_here_and_new_there(
    client: Client, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    await client.service.set_workspace_folders([workspace.as_uri(), other.as_uri()])
    here = await client.conversation("one")
    made = await client.ask("conversation/create", workspaceUri=other.as_uri())
    client.service.tracking.feed([event(other / "b.py", "renamed", old=workspace / "a.py")])
    assert await activity(client, here) == [["deleted a.py"]]
    assert await activity(client, made["conversation"]["id"]) == [["created b.py"]]


async def test_a_link_to_the_workspace_is_the_workspace(
    client: Client, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(workspace)
    (workspace / "a.py").touch()
    talk = await client.conversation("hello")
    client.service.tracking.feed([event(tmp_path / "link" / "a.py", "modified")])
    assert (await client.ask("files", conversationId=talk))["modifiedFiles"] == ["a.py"]


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:Untitled-1",
        "git:/w/a.py",
        "file://[",
        "file:///a%00b",
        "",
        "file:///" + "x" * 10_000,
        "file:a",
    ],
)
async def test_what_names_no_file_is_passed_over(client: Client, workspace: Path, uri: str) -> None:
    talk = await client.conversation("hello")
    client.service.tracking.feed(
        [
            FileEvent(uri, "modified", "editor"),
            FileEvent(uri, "renamed", "editor", uri),
            FileEvent((workspace / "ü b.py").as_uri(), "modified", "editor"),
        ]
    )
    assert (await client.ask("files", conversationId=talk))["modifiedFiles"] == ["ü b.py"]


async def test_a_name_that_no_disk_takes_keeps_nothing_from_being_recorded(
    client: Client, workspace: Path
) -> None:
    talk = await client.conversation("hello")
    long = workspace / ("x" * 300)
    client.service.tracking.feed(
        [
            event(long, "created"),
            event(long / "y", "renamed", old=workspace / "a"),
            event(workspace / "b.py", "modified"),
        ]
    )
    assert "b.py" in (await client.ask("files", conversationId=talk))["modifiedFiles"]


async def test_the_workspace_itself_is_no_file(client: Client, workspace: Path) -> None:
    talk = await client.conversation("hello")
    client.service.tracking.feed([event(workspace, "deleted", "watcher"), event(workspace, "modified")])
    assert (await client.ask("files", conversationId=talk))["records"] == []


async def test_compaction_and_branch_summary_carry_what_the_editor_did(
    make_client: MakeClient, workspace: Path
) -> None:
    small = {"compaction": {"keepRecentTokens": 50}, "tokens": {"counter": "estimate"}}
    client: Client = await make_client(small)
    talk = await client.conversation(*[f"part {number} " + "word " * 60 for number in range(6)])
    client.service.tracking.feed([event(workspace / "branch.py", "modified")])
    entries = (await client.ask("entries", conversationId=talk))["entries"]
    left = await client.ask("navigate", conversationId=talk, targetId=entries[1]["id"], summarize=True)
    assert left["summaryEntry"]["details"]["modifiedFiles"] == ["branch.py"]
    client.service.tracking.feed([event(workspace / "kept.py", "modified")])
    texts = [f"more {number} " + "word " * 60 for number in range(4)]
    await client.ask("append", conversationId=talk, entries=[user(text) for text in texts])
    compacted = await client.ask("compact", conversationId=talk)
    assert compacted["entry"]["details"]["modifiedFiles"] == ["branch.py", "kept.py"]
    assert "<modified-files>\nbranch.py\nkept.py\n</modified-files>" in compacted["entry"]["summary"]


async def test_a_branch_checkout_is_one_entry_that_remembers_what_matters(
    client: Client, workspace: Path
) -> None:
    talk = await client.conversation("read it")
    await client.ask("append", conversationId=talk, entries=tool("c", "read", {"path": "z/known.py"}, "text"))
    flood: list[Any] = [
        event(workspace / f"m{n % 50}" / f"f{n}.py", "modified", "watcher") for n in range(10_000)
    ]
    client.service.tracking.feed([*flood, event(workspace / "z" / "known.py", "deleted", "watcher")])
    files = await client.ask("files", conversationId=talk)
    assert files["deletedFiles"] == ["z/known.py"]
    assert len(files["modifiedFiles"]) == MOST_CHANGES - 1
    (entry,) = await activity(client, talk)
    assert len(entry) == 5
    exported = (await client.ask("conversation/export", conversationId=talk, format="coppice"))["content"]
    assert f'"omitted":{10_001 - MOST_CHANGES}' in exported.replace(" ", "")
