"""Properties of imported entries that lists show: of a bounded length, whatever a file contains."""

from hashlib import blake2b
from typing import Final

from coppice.tree.entries import MAX_ID_CHARS, MAX_TIME_CHARS, ContextEditEntry, Entry

_ID_FIELDS: Final = ("id", "parent_id", "first_kept_entry_id", "target_id", "from_id")
_MAX_TEXT_CHARS: Final = 4096
"""Characters of a folder or of a session's id: PATH_MAX of Linux."""


def with_short_fields(entry: Entry, time: str) -> Entry:
    """`entry`; where an id of it is too long, with a digest of the id, and with `time` for such a time."""
    changed: dict[str, object] = {}
    for name in _ID_FIELDS:
        text = getattr(entry, name, None)
        if isinstance(text, str) and len(text) > MAX_ID_CHARS:
            changed[name] = short_id(text)
    if isinstance(entry, ContextEditEntry):
        changed["cleared"] = [short_id(each) for each in entry.cleared]
    if short_time(entry.timestamp) is None:
        changed["timestamp"] = time
    return entry.model_copy(update=changed) if changed else entry


def short_id(entry_id: str | None) -> str | None:
    """The id, or a digest of one that is too long: the same for every reference to the entry."""
    if entry_id is None or len(entry_id) <= MAX_ID_CHARS:
        return entry_id
    return blake2b(entry_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def short_time(time: str | None) -> str | None:
    """The time; None for what is too long to be one."""
    return None if time is None or len(time) > MAX_TIME_CHARS else time


def short_text(text: str | None) -> str | None:
    """The beginning of a text."""
    return None if text is None else text[:_MAX_TEXT_CHARS]
