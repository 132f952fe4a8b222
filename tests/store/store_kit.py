"""Entries to store, made short."""

import time
from itertools import count
from typing import Any

from coppice.store.schema.records import NewConversation, NewRecord, StoredChange
from coppice.store.store import Store
from coppice.tokens.size import Size
from coppice.tree.entries import ENTRY

NOW = "2025-06-01T12:00:00.000Z"
WORKSPACE = "file:///home/someone/garden"
_NUMBERS = count(1)


def fresh_id(kind: str = "e") -> str:
    return f"{kind}{next(_NUMBERS)}"


def new_conversation(conversation_id: str | None = None, **more: Any) -> NewConversation:
    return NewConversation(
        **{
            "id": conversation_id or fresh_id("conversation-"),
            "workspace_uri": WORKSPACE,
            "created_at": NOW,
            **more,
        }
    )


def record(
    entry_type: str,
    entry_id: str | None = None,
    *,
    parent: str | None = None,
    tokens: int = 10,
    ledger: dict[str, Any] | None = None,
    timestamp: str = NOW,
    **content: Any,
) -> NewRecord:
    """An entry of any type; `content` holds its own properties, in camel case."""
    values = {
        "id": entry_id or fresh_id(),
        "parentId": parent,
        "timestamp": timestamp,
        "type": entry_type,
        **content,
    }
    return NewRecord(ENTRY.validate_python(values), Size(tokens, tokens + 1), ledger)


def user(text: str = "Plant a tree.", entry_id: str | None = None, **more: Any) -> NewRecord:
    return record("message", entry_id, message={"role": "user", "content": text}, **more)


def assistant(
    text: str = "Planted.",
    entry_id: str | None = None,
    *,
    context_tokens: int | None = None,
    stop_reason: str = "stop",
    **more: Any,
) -> NewRecord:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "stopReason": stop_reason,
    }
    if context_tokens is not None:
        message["usage"] = {"input": context_tokens, "output": 0}
    return record("message", entry_id, message=message, **more)


def label(target: str, text: str | None, entry_id: str | None = None, **more: Any) -> NewRecord:
    named: dict[str, Any] = {} if text is None else {"label": text}
    return record("label", entry_id, targetId=target, **named, tokens=0, **more)


def pin(target: str, *, pinned: bool = True, entry_id: str | None = None, **more: Any) -> NewRecord:
    return record("pin", entry_id, targetId=target, pinned=pinned, tokens=0, **more)


def named(name: str | None, entry_id: str | None = None, **more: Any) -> NewRecord:
    return record("session_info", entry_id, name=name, tokens=0, **more)


def activity(path: str, entry_id: str | None = None, **more: Any) -> NewRecord:
    changes = [{"path": path, "kind": "modified", "source": "editor"}]
    return record("file_activity", entry_id, changes=changes, tokens=0, **more)


def compaction(first_kept: str | None, entry_id: str | None = None, **more: Any) -> NewRecord:
    about: dict[str, Any] = {} if first_kept is None else {"firstKeptEntryId": first_kept}
    return record("compaction", entry_id, summary="What was done so far.", **about, **more)


def ids(records: list[NewRecord]) -> list[str]:
    return [new.entry.id for new in records]


def news(store: Store, *, timeout: float = 100.0) -> list[StoredChange]:
    """What `changes` reports, asked until there is something: a server's announcement takes a moment."""
    deadline = time.monotonic() + timeout
    while not (changes := store.changes()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return changes
