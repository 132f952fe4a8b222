"""The notes of a workspace: a conversation of their own, on whose path each change of a note is an entry.

So they are durable, searched, copied, exported and deleted like any other conversation.
"""

import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from coppice.errors import IdConflictError, InvalidNoteError, UnknownConversationError, UnknownNoteError
from coppice.protocol.notes import Note
from coppice.redaction import masked, with_marks
from coppice.service.core.context import now
from coppice.store.schema.records import LEAF, NewConversation, NewRecord, PathEnd
from coppice.store.store import Store
from coppice.store.tree.location import canonical_uri
from coppice.tokens.counting import estimate_tokens
from coppice.tokens.measuring import size_of_entry
from coppice.tree.entries import CustomEntry, CustomMessageEntry, Entry
from coppice.tree.ids import new_entry_id
from coppice.tree.messages import text_of
from coppice.tree.tags import attribute, escape_tags

USER: Final = "user"
"""The author of the user's own notes."""
NOTE_TAG: Final = "history-note"
NOTE_TYPE: Final = "coppice.note"
"""The `customType` of a note's entry, and of the entry that removes a note."""
MAX_SHOWN_TOKENS: Final = 2_000
"""Of a list of notes for a model, by estimate: the user's newest that fit, then the newest of others."""
_NAMES_USER: Final = re.compile(rf"\b{USER}\b", re.IGNORECASE)
_DATE_CHARS: Final = 10  # of an ISO time
MOST_OF_AGENTS: Final = 1_000
"""Notes of agents that hold at a time: more than fit a list of the shortest ones."""


def agent_author(name: str) -> str:
    """The author of an agent's notes, which nobody takes for the user: `name` in ASCII, without the word."""
    author = attribute(name.encode("ascii", "replace").decode())
    return "agent" if _NAMES_USER.search(author) else author


def notes_id(workspace_uri: str) -> str:
    """The id of the conversation that holds a workspace's notes."""
    return f"notes-{hashlib.sha256(canonical_uri(workspace_uri).encode()).hexdigest()[:16]}"


class Notebook:
    """The notes of one workspace in its store. Blocks on the disk; several processes may write at once."""

    def __init__(self, store: Store, workspace_uri: str) -> None:
        self.conversation_id = notes_id(workspace_uri)
        self.store = store
        self._workspace_uri = workspace_uri

    def notes(self) -> list[Note]:
        """The notes that hold, oldest first. Reads every change that was ever made of one."""
        end = self._end()
        if end is None:
            return []
        held: dict[str, Note] = {}
        for entry in self.store.entries(end, 0, end.depth):
            _apply(entry, held)
        return list(held.values())

    def leaf_id(self) -> str | None:
        """The id of the newest change; None where there is none."""
        end = self._end()
        return end.id if end is not None else None

    def add(self, text: str, author: str) -> Note:
        """Stores a note, without the secrets in it.

        Raises InvalidNoteError where it is an agent's and there are `MOST_OF_AGENTS` already.
        """
        if author != USER and sum(note.author != USER for note in self.notes()) >= MOST_OF_AGENTS:
            raise InvalidNoteError(
                f"Agents have written {MOST_OF_AGENTS:,} notes in this workspace. Remove some that are of no "
                "use any more: Show Notes in VS Code, or coppice/note/remove."
            )
        return self._write(text, author, {})

    def replace(self, note_id: str, text: str, author: str) -> Note:
        """Stores the note that holds instead of another, and is newer. Raises UnknownNoteError."""
        self._require(note_id)
        return self._write(text, author, {"replaces": note_id})

    def remove(self, note_id: str) -> Note:
        """The note, which holds no longer; its text stays in the history. Raises UnknownNoteError."""
        note = self._require(note_id)
        place: dict[str, Any] = {"id": new_entry_id(), "parent_id": None, "timestamp": now()}
        self._append(CustomEntry(**place, custom_type=NOTE_TYPE, data={"removes": note_id}))
        return note

    def _end(self) -> PathEnd | None:
        try:
            return self.store.end(self.conversation_id, LEAF)
        except UnknownConversationError:
            return None

    def _require(self, note_id: str) -> Note:
        for note in self.notes():
            if note.id == note_id:
                return note
        raise UnknownNoteError("There is no such note. It may have been replaced or removed: list the notes.")

    def _write(self, text: str, author: str, details: dict[str, Any]) -> Note:
        entry = CustomMessageEntry(
            id=new_entry_id(),
            parent_id=None,
            timestamp=now(),
            custom_type=NOTE_TYPE,
            content=with_marks(masked(text.strip())),
            details={"author": author, **details},
        )
        self._append(entry)
        return _note(entry)

    def _append(self, entry: CustomEntry | CustomMessageEntry) -> None:
        with suppress(IdConflictError):
            # Another process may be the first.
            self.store.create(
                NewConversation(self.conversation_id, self._workspace_uri, entry.timestamp, name="Notes")
            )
        record = NewRecord(entry, size_of_entry(entry))
        self.store.append(self.conversation_id, [record], modified_at=entry.timestamp)


def shown_to_model(notes: Sequence[Note], max_tokens: int = MAX_SHOWN_TOKENS) -> list[str]:
    """Those of `notes` that have no more tokens together, by estimate, in their order, oldest first.

    The user's newest come first into it, so that no number of notes by agents takes their place. Each is
    between tags that its text cannot close, without what looks like a secret.
    """
    blocks: dict[str, str] = {}
    newest_first = notes[::-1]
    for note in sorted(newest_first, key=lambda note: note.author != USER):
        if estimate_tokens(note.text) > max_tokens:
            continue  # without looking for secrets in what is not shown
        block = _block(note)
        tokens = estimate_tokens(block)
        if tokens <= max_tokens:
            max_tokens -= tokens
            blocks[note.id] = block
    return [blocks[note.id] for note in notes if note.id in blocks]


def _block(note: Note) -> str:
    date = attribute(note.timestamp[:_DATE_CHARS])
    head = f'id="{attribute(note.id)}" date="{date}" author="{attribute(note.author)}"'
    return f"<{NOTE_TAG} {head}>\n{escape_tags(with_marks(masked(note.text)))}\n</{NOTE_TAG}>"


def _apply(entry: Entry, held: dict[str, Note]) -> None:
    if not isinstance(entry, CustomEntry | CustomMessageEntry) or entry.custom_type != NOTE_TYPE:
        return
    if isinstance(entry, CustomEntry):
        held.pop(str(_property(entry.data, "removes")), None)
    else:
        held.pop(str(_property(entry.details, "replaces")), None)
        held[entry.id] = _note(entry)


def _note(entry: CustomMessageEntry) -> Note:
    author = _property(entry.details, "author")
    return Note(
        id=entry.id,
        timestamp=entry.timestamp,
        author=author if isinstance(author, str) else "unknown",
        text=text_of(entry.content),
    )


def _property(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
