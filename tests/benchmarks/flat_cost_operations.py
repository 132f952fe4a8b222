"""What is measured: each operation as a front end asks for it.

An operation takes an opened `Subject` and does its work once. The table is in the order of measuring: what
changes the conversation comes last.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from coppice.store.schema.records import NewRecord, PathEnd
from coppice.store.store import Store

NOW: Final = "2025-06-01T12:00:00.000Z"
PAGE: Final = 100


@dataclass
class Subject:
    """A conversation in an opened store.

    `far_id` is an entry near the root, on a branch of its own where there are branches; `message` is what
    an append stores. `nodes` is how many nodes the folded tree of the shortest conversation has, at most
    a page: of a longer one, a whole page has more, and costs more for that.
    """

    store: Store
    conversation_id: str
    far_id: str
    message: NewRecord
    nodes: int

    def end(self) -> PathEnd:
        path_end = self.store.end(self.conversation_id)
        assert path_end is not None
        return path_end


def usage(subject: Subject) -> object:
    end = subject.end()
    return subject.store.compaction(end)


def context(subject: Subject) -> object:
    end = subject.end()
    cut = subject.store.compaction(end)
    assert cut is not None
    return (
        subject.store.entry(subject.conversation_id, cut.entry_id),
        subject.store.entries(end, cut.kept_depth, end.depth),
    )


def compact_preview(subject: Subject) -> object:
    end = subject.end()
    cut = subject.store.compaction(end)
    assert cut is not None
    return subject.store.rows(end, cut.kept_depth, end.depth)


def file_activity(subject: Subject) -> object:
    end = subject.end()
    cut = subject.store.compaction(end)
    assert cut is not None
    return subject.store.attached(end, cut.kept_depth, end.depth, ["file_activity"])


def first_entries(subject: Subject) -> object:
    return subject.store.entries(subject.end(), 0, PAGE - 1)


def branches(subject: Subject) -> object:
    return subject.store.tree(subject.conversation_id, mode="branches", limit=PAGE)


def same_branches(subject: Subject) -> object:
    return subject.store.tree(subject.conversation_id, mode="branches", limit=subject.nodes)


def whole_tree(subject: Subject) -> object:
    return subject.store.tree(subject.conversation_id, mode="all", limit=PAGE)


def navigate_preview(subject: Subject) -> object:
    far = subject.store.end(subject.conversation_id, subject.far_id)
    assert far is not None
    return subject.store.common_ancestor(subject.end(), far)


def navigate(subject: Subject) -> object:
    """There and back: two durable writes."""
    here = subject.end()
    subject.store.set_leaf(subject.conversation_id, subject.far_id, modified_at=NOW)
    return subject.store.set_leaf(subject.conversation_id, here.id, modified_at=NOW)


def append(subject: Subject) -> object:
    entry = subject.message.entry.model_copy(update={"id": secrets.token_hex(8)})
    record = NewRecord(entry, subject.message.size)
    return subject.store.append(subject.conversation_id, [record], modified_at=NOW)


OPERATIONS: Final[dict[str, Callable[[Subject], object]]] = {
    "usage": usage,
    "context": context,
    "compactPreview": compact_preview,
    "file activity outside the view": file_activity,
    "entries, first page": first_entries,
    "tree, mode branches, first page": branches,
    "tree, mode branches, as many nodes": same_branches,
    "tree, mode all, first page": whole_tree,
    "navigatePreview to the root's end": navigate_preview,
    "navigate there and back": navigate,
    "append": append,
}
