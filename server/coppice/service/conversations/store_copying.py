"""Copies conversations from one store to another, each as a whole."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Final, Literal

from coppice.errors import CoppiceError, StorageFailedError, UnknownConversationError
from coppice.service.core.progress import Progress
from coppice.store.engines.choosing import is_missing, name_of
from coppice.store.reader import StoreReader
from coppice.store.schema.records import ConversationRecord, NewConversation, NewRecord
from coppice.store.store import Store
from coppice.store.tree.location import databases_in, workspace_database

Outcome = Literal["copied", "same", "behind", "ahead", "different"]
"""What became of a conversation.

`same`: it was there already. Not copied, because one of that id is there: `behind`, the target lacks the
source's newest entries; `ahead`, it has more than the source; `different`, they have gone separate ways.
"""

_SERVER_ID: Final = "copy"
_BATCH: Final = 200  # entries copied, or conversations read, at once: some hundred kilobytes


@dataclass(frozen=True, slots=True)
class CopiedConversation:
    """`missing` counts the entries that the source has and the target lacks."""

    id: str
    workspace_uri: str
    outcome: Outcome
    entry_count: int
    missing: int = 0


@dataclass(frozen=True)
class Place:
    """Where conversations are kept: the store at a URL, or a folder with a file for each workspace."""

    url: str | None = None
    folder: Path | None = None

    @property
    def name(self) -> str:
        """For people; it holds no credential."""
        return str(self.folder) if self.url is None else name_of(self.url)

    def same_as(self, other: "Place") -> bool:
        """Whether both are the same database, by URL or by resolved folder."""
        ours, theirs = (each.folder and each.folder.resolve() for each in (self, other))
        return (self.url, ours) == (other.url, theirs)

    def urls(self, workspace_uri: str | None) -> list[str]:
        """The stores there that may hold conversations of a workspace, or of any."""
        if self.folder is not None and workspace_uri is None:
            return databases_in(self.folder)
        one = self.url_for(workspace_uri or "")
        return [] if is_missing(one) else [one]

    def url_for(self, workspace_uri: str) -> str:
        """The store there that keeps a workspace's conversations."""
        return workspace_database(self.folder, workspace_uri) if self.folder is not None else self.url or ""


@dataclass
class StoreCopy:
    """Copies what `source` has of a workspace, or of every one, to `target`.

    A conversation comes with everything: ids, order, tree, leaf, labels, pins, name, metadata, sizes and
    file ledgers. It appears in the target when it is whole. One that is there already is compared, and never
    changed. Memory holds a few hundred entries at a time.
    """

    source: Place
    target: Place
    workspace_uri: str | None = None
    _stores: dict[str, Store] = field(default_factory=dict)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """Lets `run` end soon; the conversation under way leaves nothing. From any thread."""
        self._stopped.set()

    def run(self, progress: Progress) -> Iterator[CopiedConversation]:
        """What became of each conversation, as it is done. Blocks on the stores.

        Raises:
            StorageFailedError: there is nothing at the source, it is the target, or a store failed.
        """
        if self.source.same_as(self.target):
            raise StorageFailedError("The source and the target are one store; name two.")
        urls = self.source.urls(self.workspace_uri)
        if not urls:
            what = "no store" if self.workspace_uri is None else "no store of this workspace"
            raise StorageFailedError(f"There is {what} in {self.source.name}.")
        with ExitStack() as opened:
            listed = [
                (self._open(opened, url), record) for url in urls for record in self._listed(opened, url)
            ]
            total = sum(max(record.entry_count, 1) for _, record in listed)
            done = _Done(progress, self._stopped, total)
            progress.begin("Copying")
            number = 0
            try:
                for store, record in listed:
                    done.stage = f"conversation {number + 1} of {len(listed)}"
                    done.add(0)
                    target = self._open(opened, self.target.url_for(record.workspace_uri))
                    yield _copied(store, target, record, done)
                    number += 1
            except _StoppedError:
                return
            finally:
                progress.end(f"{number:,} of {len(listed):,} conversations")

    def _open(self, opened: ExitStack, url: str) -> Store:
        if url not in self._stores:
            try:
                store = Store.open(url, server_id=_SERVER_ID, index_idle_seconds=None)
            except CoppiceError as error:
                raise StorageFailedError(f"{name_of(url)}: {error}") from error
            self._stores[url] = store
            opened.callback(store.close)
        return self._stores[url]

    def _listed(self, opened: ExitStack, url: str) -> Iterator[ConversationRecord]:
        """The oldest first, so that the target lists them in the same order."""
        store = self._open(opened, url)
        records: list[ConversationRecord] = []
        cursor = None
        while True:
            page, cursor = store.conversations(workspace_uri=self.workspace_uri, limit=_BATCH, cursor=cursor)
            records += page
            if cursor is None:
                return reversed(records)


class _StoppedError(Exception):
    """Raised within the block that makes a conversation, so that it comes to nothing."""


@dataclass
class _Done:
    """How many of all entries have been dealt with."""

    progress: Progress
    stopped: threading.Event
    total: int
    count: int = 0
    stage: str = ""

    def add(self, entries: int) -> None:
        if self.stopped.is_set():
            raise _StoppedError
        self.count += entries
        self.progress.report(
            f"{self.stage}, {self.count:,} entries", min(100 * self.count // self.total, 100)
        )


def _copied(source: Store, target: Store, record: ConversationRecord, done: _Done) -> CopiedConversation:
    there = _stored(target, record.id)
    outcome: Outcome = "copied"
    missing = 0
    if there is None:
        _copy(source, target, record, done)
    else:
        outcome = _compared(source, target, record, there, done)
        if outcome == "behind":
            missing = max(record.entry_count - there.entry_count, 0)
    return CopiedConversation(record.id, record.workspace_uri, outcome, record.entry_count, missing)


def _stored(store: Store, conversation_id: str) -> ConversationRecord | None:
    try:
        return store.conversation(conversation_id)
    except UnknownConversationError:
        return None


def _copy(source: Store, target: Store, record: ConversationRecord, done: _Done) -> None:
    new = NewConversation(
        id=record.id,
        workspace_uri=record.workspace_uri,
        created_at=record.created_at,
        name=record.name,
        parent_conversation_id=record.parent_conversation_id,
        source=record.source,
        choice=record.choice,
    )
    with (
        source.snapshot() as snapshot,
        target.importing(new, modified_at=record.modified_at) as writer,
    ):
        for batch in _batches(_as_of(record, snapshot)):
            writer.add(batch)
            done.add(len(batch))
        writer.leaf(record.leaf_id)


def _as_of(record: ConversationRecord, store: StoreReader) -> Iterator[NewRecord]:
    """The conversation's entries as they were when it was listed, without those that came since."""
    return islice(store.all_records(record.id), record.entry_count)


def _compared(
    source: Store, target: Store, record: ConversationRecord, there: ConversationRecord, done: _Done
) -> Outcome:
    with source.snapshot() as here, target.snapshot() as beyond:
        pairs = zip_longest(_as_of(record, here), _as_of(there, beyond))
        for number, (ours, theirs) in enumerate(pairs, 1):
            if number % _BATCH == 0:
                done.add(_BATCH)
            if ours is None:
                return "ahead"
            if theirs is None:
                return "behind"
            if ours.entry != theirs.entry:
                return "different"
        return "same"


def _batches(records: Iterable[NewRecord]) -> Iterator[list[NewRecord]]:
    iterator = iter(records)
    while batch := list(islice(iterator, _BATCH)):
        yield batch
