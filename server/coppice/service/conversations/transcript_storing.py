"""Takes a transcript of another agent into a store, or what it has grown by since the last time."""

import contextlib
import json
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from typing_extensions import override

from coppice.errors import (
    IdConflictError,
    ImportFailedError,
    ImportPausedError,
    StaleLeafError,
    UnknownConversationError,
)
from coppice.formats.reading import open_growing
from coppice.formats.session import SessionReader, time_of
from coppice.formats.source import Checkpoint, NoMessageYetError, NotResumableError
from coppice.service.conversations.importing import (
    Intake,
    ReadingProgress,
    conversation_of_session,
    ledger_at,
    short_id,
    short_text,
    taken_over,
)
from coppice.service.core.context import now
from coppice.service.core.thread_work import ThreadWork
from coppice.settings import Settings
from coppice.sources.agent import Transcript, conversation_id_of
from coppice.store.schema.records import NewConversation, NewRecord
from coppice.store.store import Store
from coppice.store.transcript_catalog import Reading
from coppice.store.tree.extending import ExtendWriter
from coppice.tokens.measuring import size_of_entry
from coppice.tree.entries import CompactionEntry, Entry

SETTLED_SECONDS: Final = 600.0
"""A transcript that has not changed for so long is taken whole. Claude Code lets no command run longer."""

HEADER_ID: Final = "headerId"
"""Of a conversation's source: the agent's own id of the session, where the key is the name of its file.
What earlier versions stored lacks it until it is read again."""

_BATCH: Final = 50  # entries a transaction: those of a few steps


_LEAST_SECONDS: Final = 30.0
"""Of processor time, for a short transcript: what 140 MB of recorded sessions take."""
_BYTES_PER_SECOND: Final = 200_000
"""A reading is given a second more for so many bytes: some twenty times what recorded sessions take."""


class _Limited(ReadingProgress):
    """Ends a reading that takes too long. The update reports how far it is, not each of its imports."""

    def __init__(self, thread: ThreadWork, size: int) -> None:
        super().__init__(thread)
        self._seconds = _LEAST_SECONDS + size / _BYTES_PER_SECOND
        self._end = time.thread_time() + self._seconds

    def check(self) -> None:
        """Raises StoppedError, and ImportFailedError when the time is over."""
        self.thread.check()
        if time.thread_time() > self._end:
            raise ImportFailedError(
                f"Reading it took longer than {self._seconds:,.0f} seconds and was stopped. It is read again "
                "when it has changed."
            )

    @override
    def on_read(self, read: int, size: int) -> None:
        self.check()

    @override
    def report(self, stage: str) -> None:
        self.check()

    def entries(self, reader: SessionReader) -> Iterator[Entry]:
        """Those of `reader`, with a check before each."""
        with _unforeseen():
            for entry in reader:
                self.check()
                yield entry


@contextlib.contextmanager
def _unforeseen() -> Iterator[None]:
    """What a reader did not foresee is a fault of its transcript: it keeps no others from being read."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        (frame,) = traceback.extract_tb(error.__traceback__, limit=-1)
        place = f"{type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}"
        raise ImportFailedError(
            f"Reading it failed unexpectedly ({place}). It is read again when it has changed."
        ) from error


@dataclass(frozen=True)
class TranscriptStorer:
    """Stores the transcripts of one workspace. `is_new`: nothing of it can have been stored before."""

    store: Store
    workspace: str
    settings: Settings
    thread: ThreadWork
    is_new: bool = False

    def stored(self, transcript: Transcript, format_: str, last: Reading) -> Reading:
        """Reads what is new since `last`; the reading that results, also where the transcript is unusable."""
        growing = time.time() - transcript.modified < SETTLED_SECONDS
        base = replace(last, stamp=transcript.stamp, store=self.store.url, read_at=now(), problem=None)
        limit = _Limited(self.thread, transcript.size)
        opened = partial(
            _unforeseen()(open_growing),
            Path(transcript.path),
            format_,
            growing=growing,
            part=transcript.part,
            places=transcript.places,
            on_read=limit.on_read,
        )
        try:
            if last.checkpoint is not None and last.store == self.store.url and not self.is_new:
                with contextlib.suppress(NotResumableError):
                    try:
                        reader = opened(_checkpoint(last.checkpoint))
                    except ImportFailedError as error:
                        # Of a rotten checkpoint; what is wrong with the file is met from its start too.
                        raise NotResumableError from error
                    return self._taken(reader, limit, transcript, base, last)
            reader = opened()
            reading = self._taken(reader, limit, transcript, base, replace(last, checkpoint=None))
            return replace(reading, skipped=reader.skipped.total())
        except ImportPausedError as error:
            return replace(base, problem=str(error), stamp="", read_at=None, checkpoint=None)
        except ImportFailedError as error:
            problem = None if isinstance(error, NoMessageYetError) else str(error)
            if last.store != self.store.url or self.is_new:
                return replace(base, problem=problem, read_at=None, checkpoint=None)
            return replace(base, problem=problem, read_at=last.read_at)
        except UnknownConversationError:
            if last.read_at is None:
                return replace(base, problem="It was deleted while it was stored.", stamp="")
            # It was stored, and somebody deleted it since: it is not brought back.
            return replace(base, forgotten=True, checkpoint=None)

    def _taken(
        self, reader: SessionReader, limit: _Limited, transcript: Transcript, base: Reading, last: Reading
    ) -> Reading:
        was_stored = last.read_at is not None and last.store == self.store.url and not self.is_new
        new = self._conversation(reader, transcript, last)
        if not was_stored and not self._exists(new.id):
            try:
                return self._imported(reader, limit, new, transcript, base)
            except IdConflictError:
                pass  # another process was faster
        # A reading that goes on from a checkpoint does not know the header.
        if last.checkpoint is None and transcript.id_in_header:
            self._add_header_id(new.id, _header_id(reader, transcript))
        return self._extended(reader, limit, new, base, last)

    def _add_header_id(self, conversation_id: str, header_id: str) -> None:
        source = self.store.conversation(conversation_id).source or {}
        if HEADER_ID not in source:
            self.store.set_source(conversation_id, {**source, HEADER_ID: header_id})

    def _exists(self, conversation_id: str) -> bool:
        try:
            self.store.conversation(conversation_id)
        except UnknownConversationError:
            return False
        return True

    def _imported(
        self,
        reader: SessionReader,
        limit: _Limited,
        new: NewConversation,
        transcript: Transcript,
        base: Reading,
    ) -> Reading:
        with self.store.importing(new, modified_at=time_of(transcript.modified)) as writer:
            intake = Intake(self.store, writer, new, self.settings, limit)
            intake.take(limit.entries(reader))
            leaf = short_id(reader.leaf_id)
            writer.leaf(leaf)
        return _after(base, reader, intake.count, leaf, {})

    def _extended(
        self, reader: SessionReader, limit: _Limited, new: NewConversation, base: Reading, last: Reading
    ) -> Reading:
        writer = self.store.extending(new.id)
        record = self.store.conversation(new.id)
        given: set[str | None] = set()
        time_ = record.modified_at
        for batch in _batches(taken_over(entry, new.created_at) for entry in limit.entries(reader)):
            given |= {entry.id for entry in batch}
            time_ = batch[-1].timestamp
            writer.add([self._measured(entry, writer, new) for entry in writer.fresh(batch)])
        leaf = short_id(reader.leaf_id)
        leaf = None if leaf is None else writer.renamed.get(leaf, leaf)
        # After the user has gone on elsewhere, the leaf is the user's.
        if leaf != record.leaf_id and record.leaf_id in {last.leaf, *given}:
            with contextlib.suppress(StaleLeafError):
                writer.move_leaf(leaf, expected=record.leaf_id, modified_at=time_)
        if writer.stored:
            self.store.note_entries()
        return _after(base, reader, last.entries + writer.stored, leaf, writer.renamed)

    def _measured(self, entry: Entry, writer: ExtendWriter, new: NewConversation) -> NewRecord:
        ledger = None
        if isinstance(entry, CompactionEntry):
            ledger = ledger_at(self.store, writer, new, entry, self.settings)
        return NewRecord(entry, size_of_entry(entry), ledger)

    def _conversation(self, reader: SessionReader, transcript: Transcript, last: Reading) -> NewConversation:
        new = conversation_of_session(
            reader.header,
            transcript.conversation_id,
            self.workspace,
            agent=transcript.agent,
            name=transcript.name,
            path=transcript.path,
            sessionId=transcript.key,
            **({HEADER_ID: _header_id(reader, transcript)} if transcript.id_in_header else {}),
        )
        parent = None if last.parent is None else conversation_id_of(transcript.agent, last.parent)
        return replace(new, parent_conversation_id=parent)


def _header_id(reader: SessionReader, transcript: Transcript) -> str:
    return short_text(reader.header.session_id) or transcript.key


def _after(
    base: Reading, reader: SessionReader, entries: int, leaf: str | None, renamed: dict[str, str]
) -> Reading:
    checkpoint = reader.checkpoint
    # Entries that were stored under other ids: the checkpoint's parents have the old ones.
    following = None if checkpoint is None or renamed else json.dumps(checkpoint.to_json())
    return replace(base, entries=entries, leaf=leaf, held=reader.held, checkpoint=following)


def _checkpoint(recorded: str) -> Checkpoint:
    """Raises NotResumableError where it is none."""
    try:
        return Checkpoint.of_json(json.loads(recorded))
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        raise NotResumableError from error


def _batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """`entries` in lists of at most `_BATCH`, each compaction first in its own."""
    batch: list[Entry] = []
    for entry in entries:
        if batch and (len(batch) == _BATCH or isinstance(entry, CompactionEntry)):
            yield batch
            batch = []
        batch.append(entry)
    if batch:
        yield batch
