"""`note_add` and `note_list`: lasting notes of a workspace.

They are a conversation of their own: searched, copied, exported, repaired and deleted like any other.
"""

import hashlib
from contextlib import suppress
from typing import Final

from coppice.errors import IdConflictError, UnknownConversationError
from coppice.mcp.project import Project
from coppice.mcp.rendering import attribute, safe
from coppice.redaction import masked, with_marks
from coppice.service.core.context import now
from coppice.store.schema.records import NewConversation, NewRecord
from coppice.store.search.indexing import Scope
from coppice.store.search.recalling import RecallRow, Where
from coppice.store.tree.location import canonical_uri
from coppice.tokens.counting import estimate_tokens
from coppice.tokens.measuring import size_of_entry
from coppice.tree.entries import CustomMessageEntry
from coppice.tree.ids import new_entry_id

NOTE_TAG: Final = "history-note"
NOTE_TYPE: Final = "coppice.note"
"""The `customType` of a note's entry."""
MAX_SHOWN_TOKENS: Final = 2000
"""Tokens of a list: the newest notes that fit."""
_MOST: Final = 500  # notes that are looked at (guess)


def notes_id(workspace: str) -> str:
    """The id of the conversation that holds a workspace's notes."""
    return f"notes-{hashlib.sha256(canonical_uri(workspace).encode()).hexdigest()[:16]}"


def add_note(project: Project, text: str, author: str) -> str:
    """Store a note, without the secrets in it."""
    store, conversation_id, at = project.store, notes_id(project.workspace), now()
    text = with_marks(masked(text))
    with suppress(IdConflictError):
        # Another process may be the first.
        store.create(NewConversation(conversation_id, project.workspace, at, name="Notes"))
    entry = CustomMessageEntry(
        id=new_entry_id(),
        parent_id=None,
        timestamp=at,
        custom_type=NOTE_TYPE,
        content=text,
        details={"author": attribute(author)},
    )
    store.append(conversation_id, [NewRecord(entry, size_of_entry(entry))], modified_at=at)
    return f"Noted for this project. It is shown by note_list and found by history_search (id {entry.id})."


def list_notes(project: Project) -> str:
    """The newest notes, oldest first, each with its author and date."""
    store, conversation_id = project.store, notes_id(project.workspace)
    try:
        store.conversation(conversation_id)
    except UnknownConversationError:
        return "This project has no notes yet. note_add adds one."
    keys = store.recall_newest(Where(Scope(conversation_id=conversation_id)), _MOST)
    shown: list[str] = []
    left = MAX_SHOWN_TOKENS
    rows = store.recall_rows(keys)
    for row in rows:
        note = _shown(row)
        left -= estimate_tokens(note)
        if left < 0 and shown:
            break
        shown.append(note)
    lines = [*reversed(shown)]
    if len(shown) < len(rows):
        lines.insert(0, f"The newest {len(shown)} of {len(rows)} notes; history_search finds the others.")
    return "\n".join(lines)


def _shown(row: RecallRow) -> str:
    details = row.body.get("details")
    author = details.get("author") if isinstance(details, dict) else None
    head = f'date="{attribute(row.timestamp[:10])}" author="{attribute(author or "unknown")}"'
    return f"<{NOTE_TAG} {head}>\n{safe(str(row.body.get('content')))}\n</{NOTE_TAG}>"
