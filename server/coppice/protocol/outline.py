"""Messages about the shape of a path: what a client shows around its messages."""

from coppice.protocol.base import ConversationParams, WireModel


class OutlineParams(ConversationParams):
    """The path to `leafId`, by default the current leaf."""

    leaf_id: str | None = None


class OutlineCompaction(WireModel):
    """A compaction of the path. `depth` counts entries from 0 at the root.

    `firstKeptEntryId` is absent where nothing before the compaction was kept.
    """

    entry_id: str
    depth: int
    first_kept_entry_id: str | None = None


class OutlineMark(WireModel):
    """An entry of the path with a label, a pin or both."""

    entry_id: str
    label: str | None = None
    pinned: bool | None = None


class OutlineFork(WireModel):
    """`alternatives` are the entries at which the branches of a branch point begin, oldest first.

    `entryId` is the one of them that is on the path. Of more than 1,000 it and the newest others are listed.
    Metadata that is on no path makes no branch.
    """

    entry_id: str
    alternatives: list[str]


class OutlineResult(WireModel):
    """Root first. Of each list the newest 1,000. `length` is the number of entries on the path.

    No older `forks` are listed where the newer ones have 10,000 alternatives together.
    """

    leaf_id: str | None
    length: int
    compactions: list[OutlineCompaction]
    marks: list[OutlineMark]
    forks: list[OutlineFork]


class BranchEndParams(ConversationParams):
    """Any entry of the conversation."""

    entry_id: str


class BranchEndResult(WireModel):
    """The leaf that was stored last below the entry; the entry itself where nothing is below it."""

    leaf_id: str
