"""A workspace taken from one store to another, between all kinds of them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from postgres_server import fresh_schema, postgres
from store.store_kit import (
    NOW,
    WORKSPACE,
    activity,
    assistant,
    compaction,
    label,
    named,
    new_conversation,
    pin,
    record,
    user,
)

from coppice.errors import StorageFailedError
from coppice.service.conversations import store_copying
from coppice.service.conversations.store_copying import CopiedConversation, Place, StoreCopy
from coppice.service.core.progress import NoProgress
from coppice.store.store import Store
from coppice.tree.entries import METADATA_TYPES

__all__ = ["postgres"]

_MODES: Final = ("all", "branches")
OTHER = "file:///home/someone/orchard"


@dataclass
class Places:
    """A source and a target, each a folder or a URL."""

    source: Place
    target: Place
    opened: list[Store] = field(default_factory=list)

    def open(self, place: Place, workspace: str = WORKSPACE) -> Store:
        store = Store.open(place.url_for(workspace), server_id="test", index_idle_seconds=None)
        self.opened.append(store)
        return store

    def copy(self, workspace: str | None = None) -> list[CopiedConversation]:
        return list(StoreCopy(self.source, self.target, workspace).run(NoProgress()))


@pytest.fixture(params=["folder to folder", "folder to server", "server to folder", "server to server"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Places]:
    with ExitStack() as stack:

        def make(kind: str, name: str) -> Place:
            if kind == "folder":
                return Place(folder=tmp_path / name)
            return Place(url=stack.enter_context(fresh_schema(request.getfixturevalue("postgres"))))

        source, _, target = request.param.partition(" to ")
        made = Places(make(source, "source"), make(target, "target"))
        yield made
        for store in made.opened:
            store.close()


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Places]:
    made = Places(Place(folder=tmp_path / "source"), Place(folder=tmp_path / "target"))
    yield made
    for store in made.opened:
        store.close()


def grow(store: Store, conversation: str, workspace: str = WORKSPACE) -> None:
    """A conversation with one of everything, left with its leaf on an inner entry."""
    store.create(
        new_conversation(
            conversation,
            workspace_uri=workspace,
            name="Early name",
            parent_conversation_id="\0parent",
            source={"format": "pi", "木": None},
        )
    )
    call = {"type": "toolCall", "id": "t1", "name": "write", "arguments": {"path": "a.py", "n": 10**30}}
    put = [
        named("Before all"),
        user("Plant an oak.\0", "a", tokens=7, unknownProperty={"kept": None}),
        record("message", "b", message={"role": "assistant", "content": [call]}, tokens=11),
        activity("a.py", "f"),
        assistant("Planted.", "\0odd id", context_tokens=900),
        label("a", "start"),
        pin("\0odd id"),
        compaction("\0odd id", "k", ledger={"histories": {"a.py": [1]}}),
        user("And a beech.", "c"),
    ]
    store.append(conversation, put, modified_at="2025-07-01T00:00:00Z")
    store.append(conversation, [user("A branch.", "x"), named("Late name")], parent_id="a", modified_at=NOW)
    store.append(
        conversation, [record("custom", "m", customType="n", data=1)], parent_id="c", modified_at=NOW
    )
    store.append(conversation, [user("Under metadata.", "y")], parent_id="f", modified_at=NOW)
    store.set_leaf(conversation, "c", modified_at="2025-08-01T00:00:00Z")


def everything(store: Store, conversation: str) -> list[Any]:
    """All that can be read of a conversation."""
    seen: list[Any] = []
    stored = store.conversation(conversation)
    about = {name: getattr(stored, name) for name in stored.__slots__ if name != "key"}
    seen.append(about)
    for new in store.all_records(conversation):
        seen.append(new)
        if new.entry.type in METADATA_TYPES:
            continue
        end = store.end(conversation, new.entry.id)
        assert end is not None
        seen.append((end.depth, end.total, end.usage_tokens, end.since_usage, store.compaction(end)))
        seen.append([store.rows(end, 0, end.depth), store.pins(end), store.labels_and_pins(end)])
        seen.append(store.attached(end, -1, end.depth, sorted(METADATA_TYPES)))
    whole, folded = (store.tree(conversation, mode=mode, limit=500) for mode in _MODES)
    return [*seen, whole, folded]


def outcomes(done: list[CopiedConversation]) -> dict[str, str]:
    return {each.id: each.outcome for each in done}


def test_a_copy_is_the_same_in_everything_and_copied_once(places: Places) -> None:
    source = places.open(places.source)
    for name in ("one", "two"):
        grow(source, name)
    source.create(new_conversation("empty"))
    assert outcomes(places.copy()) == {"one": "copied", "two": "copied", "empty": "copied"}
    target = places.open(places.target)
    for name in ("one", "two", "empty"):
        assert everything(target, name) == everything(source, name)
    assert [hit.entry_id for hit in target.search("oak", conversation_id="one", limit=5)] == ["a"]
    assert set(outcomes(places.copy()).values()) == {"same"}


def test_a_copy_goes_on_like_its_original(places: Places) -> None:
    source = places.open(places.source)
    grow(source, "one")
    places.copy()
    target = places.open(places.target)
    for store in (source, target):
        store.append("one", [user("Later.", "later"), label("later", "now", "l")], modified_at=NOW)
    assert everything(target, "one") == everything(source, "one")


def test_a_conversation_of_several_batches_is_copied(
    folders: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_copying, "_BATCH", 20)
    source = folders.open(folders.source)
    source.create(new_conversation("long"))
    for start in range(0, 150, 50):
        call = [user(f"Number {number}", f"n{number}") for number in range(start, start + 50)]
        source.append("long", call, modified_at=NOW)
    assert outcomes(folders.copy()) == {"long": "copied"}
    assert everything(folders.open(folders.target), "long")[0]["entry_count"] == 150


def test_only_the_workspace_that_is_named_is_copied(places: Places) -> None:
    for workspace, name in ((WORKSPACE, "here"), (OTHER, "there")):
        grow(places.open(places.source, workspace), name, workspace)
    assert outcomes(places.copy(OTHER + "/")) == {"there": "copied"}
    assert outcomes(places.copy()) == {"here": "copied", "there": "same"}
    assert places.open(places.target, OTHER).conversation("there").workspace_uri == OTHER


@pytest.mark.parametrize(
    ("in_source", "in_target", "outcome", "missing"),
    [
        (["x", "y"], [], "behind", 2),
        ([], ["x"], "ahead", 0),
        (["x"], ["y"], "different", 0),
        (["x", "y"], ["z"], "different", 0),
    ],
)
def test_a_conversation_that_is_there_is_compared_and_never_changed(
    folders: Places, in_source: list[str], in_target: list[str], outcome: str, missing: int
) -> None:
    source = folders.open(folders.source)
    grow(source, "one")
    folders.copy()
    target = folders.open(folders.target)
    for store, more in ((source, in_source), (target, in_target)):
        for entry_id in more:
            store.append("one", [user(f"Said {entry_id}", f"later {entry_id}")], modified_at=NOW)
    before = everything(target, "one")
    [done] = folders.copy()
    assert (done.outcome, done.missing) == (outcome, missing)
    assert everything(target, "one") == before


class Stopping(NoProgress):
    """Stops the copy in the middle of a conversation."""

    def __init__(self, copy: Callable[[], None]) -> None:
        self._stop = copy
        self.reported: list[int] = []
        self.ended = ""

    def report(self, stage: str, percentage: int) -> None:
        assert stage
        self.reported.append(percentage)
        if percentage > 60:
            self._stop()

    def end(self, message: str) -> None:
        self.ended = message


def test_a_copy_that_is_stopped_leaves_whole_conversations_and_can_go_on(folders: Places) -> None:
    source = folders.open(folders.source)
    for name in ("first", "second"):
        source.create(new_conversation(name))
        source.append(name, [user() for _ in range(1000)], modified_at=NOW)
    copy = StoreCopy(folders.source, folders.target)
    progress = Stopping(copy.stop)
    assert outcomes(list(copy.run(progress))) == {"first": "copied"}
    assert progress.reported == sorted(progress.reported)
    assert progress.ended == "1 of 2 conversations"
    target = folders.open(folders.target)
    assert [each.id for each in target.conversations(limit=9)[0]] == ["first"]
    assert outcomes(folders.copy()) == {"first": "same", "second": "copied"}


def test_what_is_appended_meanwhile_is_left_for_the_next_time(folders: Places) -> None:
    source = folders.open(folders.source)
    grow(source, "one")
    before = everything(source, "one")

    class Appending(NoProgress):
        def begin(self, title: str) -> None:
            assert title == "Copying"
            source.append("one", [user("Meanwhile.")], modified_at=NOW)

    [done] = StoreCopy(folders.source, folders.target).run(Appending())
    assert done.outcome == "copied"
    assert everything(folders.open(folders.target), "one") == before
    [again] = folders.copy()
    assert (again.outcome, again.missing) == ("behind", 1)


def test_nothing_to_copy_and_one_store_twice_are_reported(tmp_path: Path) -> None:
    empty = Place(folder=tmp_path / "empty")
    missing = Place(url=f"sqlite:///{tmp_path / 'missing.sqlite3'}")
    for place in (empty, missing):
        with pytest.raises(StorageFailedError, match="There is no store"):
            list(StoreCopy(place, Place(folder=tmp_path / "target")).run(NoProgress()))
    with pytest.raises(StorageFailedError, match="one store"):
        list(StoreCopy(empty, Place(folder=tmp_path / "." / "empty")).run(NoProgress()))
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_does_not_open_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.sqlite3").write_bytes(b"no database" * 500)
    with pytest.raises(StorageFailedError, match=r"broken\.sqlite3: ") as refused:
        list(StoreCopy(Place(folder=tmp_path), Place(folder=tmp_path / "target")).run(NoProgress()))
    assert str(tmp_path) not in str(refused.value)
