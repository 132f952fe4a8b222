"""Whether a conversation still stands where it stood, and whether a model has worked since."""

from coppice.service.path_reading import Path
from coppice.tree.entries import MessageEntry
from coppice.tree.messages import AssistantMessage


def stands_behind(path: Path, entry_id: str) -> bool:
    """Whether the entry is on the path: nobody has gone to another branch since it was the leaf."""
    return path.end is not None and path.store.ancestor_depth(path.end, entry_id) is not None


def replied_since(path: Path, entry_id: str) -> bool:
    """Whether a model has replied behind the entry, and did not fail. Reads what lies behind it."""
    depth = path.store.ancestor_depth(path.end, entry_id) if path.end is not None else None
    if depth is None:
        return False
    return any(
        isinstance(entry, MessageEntry)
        and isinstance(entry.message, AssistantMessage)
        and not entry.message.failed
        for entry in path.entries(depth + 1)
    )
