"""A process that closes a descriptor of a database file loses the locks that SQLite holds on it."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attacks.store_attacks import filled_store, locks_of, url_of
from conftest_service import Client, MakeClient, make_client, turns
from store.store_kit import NOW, label, new_conversation, user

from coppice.cli.doctor import check_disk, check_folder, check_permissions, check_stores
from coppice.errors import CoppiceError
from coppice.service.core.workspaces import newest_conversations, workspace_of
from coppice.store.store import Store

__all__ = ["make_client"]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the locks are read from /proc")

Operation = Callable[[Store, Path], Any]


def another_window(store: Store, path: Path) -> None:
    """Opens the store a second time in this process, as a request of another folder does, and closes it."""
    other = Store.open(url_of(path), server_id="two", index_idle_seconds=None)
    other.append("c0", [user()], modified_at=NOW)
    other.close()


def delete(store: Store, _: Path) -> None:
    store.delete("c1")
    store._purger.wait()


OPERATIONS: dict[str, Operation] = {
    "append": lambda store, _: store.append("c0", [user()], modified_at=NOW),
    "label": lambda store, _: store.append("c0", [label("c0-1", "here")], modified_at=NOW),
    "leaf": lambda store, _: store.set_leaf("c0", "c0-2", modified_at=NOW),
    "create": lambda store, _: store.create(new_conversation()),
    "delete": delete,
    "list": lambda store, _: store.conversations(limit=10),
    "entries": lambda store, _: list(store.all_entries("c0")),
    "search": lambda store, _: store.search("plant", limit=5),
    "changes": lambda store, _: store.changes(),
    "damages": lambda store, _: store.damages(),
    "backup": lambda store, _: store._database.back_up(1),
    "another window": another_window,
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_leaves_the_locks_of_the_process_alone(tmp_path: Path, name: str) -> None:
    path = tmp_path / "store" / "trees.sqlite3"
    filled_store(path)
    store = Store.open(url_of(path), server_id="one", index_idle_seconds=None)
    store.changes()
    held = locks_of(path)
    assert len(held) >= 2
    OPERATIONS[name](store, path)
    assert held <= locks_of(path)
    store.close()
    assert locks_of(path) == set()


@pytest.fixture
def opened_files() -> Iterator[list[str]]:
    """The paths that this process opens other than through SQLite, in order."""
    seen: list[str] = []
    watching = True

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event == "open":
            seen.append(str(arguments[0]))

    sys.addaudithook(watch)
    yield seen
    watching = False


async def test_no_request_opens_a_database_file(
    make_client: MakeClient, tmp_path: Path, opened_files: list[str]
) -> None:
    client: Client = await make_client()
    one = await client.conversation(*(f"Turn {number}" for number in range(8)))
    [path] = (tmp_path / "data").glob("*.sqlite3")
    held = locks_of(path)
    assert held
    entries = (await client.ask("entries", conversationId=one, limit=10))["entries"]
    await client.ask("navigate", conversationId=one, targetId=entries[2]["id"])
    await client.ask("append", conversationId=one, entries=turns("Another branch"))
    forked = await client.ask("conversation/fork", conversationId=one, entryId=entries[2]["id"])
    await client.ask("conversation/delete", conversationId=forked["conversation"]["id"])
    await client.ask("conversation/export", conversationId=one, format="coppice")
    for method, params in (
        ("append", {"conversationId": "unknown", "entries": turns("Nowhere")}),
        ("conversation/get", {"conversationId": "unknown"}),
        ("conversation/import", {"uri": path.as_uri(), "format": "auto"}),
        ("conversation/import", {"uri": Path(f"{path}-shm").as_uri(), "format": "auto"}),
        ("conversation/export", {"conversationId": one, "format": "coppice", "uri": path.as_uri()}),
    ):
        with pytest.raises(CoppiceError):
            await client.ask(method, **params)
        assert held <= locks_of(path), method
    settings = client.service.settings.of()
    for check in (check_folder, check_permissions, check_disk):
        await asyncio.to_thread(check, settings)
    await asyncio.to_thread(lambda: list(check_stores(settings)))
    await asyncio.to_thread(newest_conversations, settings, 10)
    await asyncio.to_thread(workspace_of, settings, "unknown")
    assert held <= locks_of(path)
    database_files = {str(path), f"{path}-wal", f"{path}-shm"}
    assert not database_files & set(opened_files)
