"""A tool, an editor and a watcher see the same work; it counts once."""

from typing import Any

import pytest
from files.test_ledger import activity, called

from coppice.files.ledger import FileHistory, FileLedger
from coppice.tree.entries import ENTRY, Entry


def user() -> Entry:
    message = {"role": "user", "content": "go on"}
    return ENTRY.validate_python(
        {"type": "message", "id": "u", "parentId": None, "timestamp": "", "message": message}
    )


def seen(kind: str, path: str, source: str = "watcher", **more: Any) -> Entry:
    return activity({"path": path, "kind": kind, "source": source, **more})


def history(path: str, *entries: Entry) -> FileHistory:
    return FileLedger(root="/w").add(entries).histories[path]


WRITE = called("write", {"path": "a"})
MOVE = called("move_file", {"source": "a", "destination": "b"})
SEEN = seen("modified", "a")


@pytest.mark.parametrize(
    ("entries", "writes"),
    [
        ([WRITE[0], SEEN, WRITE[1]], 1),
        ([*WRITE, SEEN], 1),
        ([SEEN, *WRITE], 1),
        ([*WRITE, seen("created", "a"), seen("modified", "a", "editor")], 1),
        ([seen("modified", "a", "editor"), SEEN], 1),
        ([*WRITE, *WRITE, SEEN], 2),
        ([SEEN, SEEN], 2),
        ([*WRITE, SEEN, user(), SEEN], 2),
        ([SEEN, user(), *WRITE], 2),
        ([SEEN, *called("read", {"path": "a"})], 1),
    ],
)
def test_what_several_sides_see_in_one_turn_is_one_write(entries: list[Entry], writes: int) -> None:
    assert history("a", *entries).writes == writes


def test_every_side_is_in_the_sources_and_the_call_is_what_is_shown() -> None:
    file = history("a", WRITE[0], SEEN, WRITE[1], seen("modified", "a", "editor"))
    assert file.sources == ("watcher", "tool", "editor")
    assert file.last_entry_id == "result"


@pytest.mark.parametrize(
    "entries",
    [
        [*MOVE, seen("deleted", "a"), seen("created", "b")],
        [MOVE[0], seen("deleted", "a"), seen("created", "b"), MOVE[1]],
        [MOVE[0], seen("created", "b"), seen("deleted", "a"), MOVE[1]],
        [MOVE[0], seen("renamed", "b", "editor", **{"from": "a"}), MOVE[1]],
    ],
)
def test_a_move_that_a_watcher_saw_as_two_things_is_one(entries: list[Entry]) -> None:
    ledger = FileLedger(root="/w").add([*called("read", {"path": "a"}), *entries])
    assert (ledger.modified_files, ledger.deleted_files) == (["b"], [])
    assert (ledger.histories["b"].renamed_from, ledger.histories["b"].reads) == ("a", 1)
    assert ledger.histories["b"].writes == 1


def test_a_folder_that_moved_takes_its_files_along_whatever_a_watcher_says() -> None:
    move = seen("renamed", "new/", "editor", **{"from": "old/"})
    echoes = [seen("deleted", "old/x"), seen("created", "new/x"), seen("created", "new/unknown")]
    ledger = FileLedger(root="/w").add([*called("edit", {"path": "old/x"}), move, *echoes])
    assert (ledger.modified_files, ledger.deleted_files) == (["new/x"], [])


def test_what_happens_in_a_moved_folder_afterwards_is_news() -> None:
    move = seen("renamed", "new/", "editor", **{"from": "old/"})
    later = [seen("modified", "new/other", "editor"), seen("created", "old/x"), seen("deleted", "old/x")]
    ledger = FileLedger(root="/w").add([*called("edit", {"path": "old/x"}), move, *later])
    assert (ledger.modified_files, ledger.deleted_files) == (["new/other", "new/x"], ["old/x"])


def test_a_folder_of_which_nothing_is_known_has_no_history() -> None:
    assert FileLedger(root="/w").add([seen("renamed", "new/", "editor", **{"from": "old/"})]).histories == {}


def test_a_deleted_folder_takes_its_files_along() -> None:
    ledger = FileLedger(root="/w").add(
        [*called("edit", {"path": "d/x"}), seen("modified", "dd"), seen("deleted", "d")]
    )
    assert (ledger.modified_files, ledger.deleted_files) == (["dd"], ["d/x"])


def test_the_workspace_s_other_names_lead_to_the_same_file() -> None:
    ledger = FileLedger(root="/home/me/app", aliases=["/w/link", "/real/app"])
    ledger.add(called("edit", {"path": "/real/app/a"})).add(called("edit", {"path": "a"}))
    assert list(ledger.histories) == ["a"]
