"""Reading one path: its newest compaction, its kept entries, its files."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from itertools import chain
from typing import Final

from coppice.files.ledger import Ledger
from coppice.files.paths import path_of_uri
from coppice.settings import Settings
from coppice.store.records import LEAF, CompactionRecord, ConversationRecord, PathEnd
from coppice.store.store import Store
from coppice.tree.entries import CompactionEntry, Entry
from coppice.tree.view import ViewMessage, view_of

BEFORE_THE_ROOT: Final = -1
"""The depth of metadata that was recorded before anything was said."""
_RESULTS_LOOKED_PAST: Final = 64
_A_PIECE: Final = 500


@dataclass(frozen=True)
class Path:
    """A path to `end`, which is None for an empty one. All of it blocks on the disk."""

    store: Store
    conversation: ConversationRecord
    end: PathEnd | None
    compaction: CompactionRecord | None
    settings: Settings

    @property
    def first_depth(self) -> int:
        """The depth at which the view begins: that of the first kept entry, or the root's."""
        return self.compaction.kept_depth if self.compaction is not None else 0

    def entries(self, first: int | None = None, last: int | None = None) -> list[Entry]:
        """The entries of the view, oldest first, or those from depth `first` to `last`."""
        if self.end is None:
            return []
        first = self.first_depth if first is None else first
        last = self.end.depth if last is None else last
        return self.store.entries(self.end, first, last) if first <= last else []

    def pieces(self, first: int, last: int, *, newest_first: bool = False) -> Iterator[list[Entry]]:
        """The entries from depth `first` to `last`, some hundreds at a time, each piece oldest first."""
        starts = range(first, last + 1, _A_PIECE)
        for start in reversed(starts) if newest_first else starts:
            yield self.entries(start, min(start + _A_PIECE - 1, last))

    def pinned(self, before: int | None = None) -> list[Entry]:
        """The pinned entries that a view does not show in their places, root first.

        Those are the ones from before the view and every compaction but the one that opens it. With
        `before` the view is the one that a new compaction keeping the entries from that depth on would
        leave.
        """
        if self.end is None:
            return []
        opening = self.compaction.entry_id if self.compaction is not None and before is None else None
        first = self.first_depth if before is None else before
        return [
            entry
            for depth, entry in self.store.pins(self.end)
            if entry.id != opening and (depth < first or isinstance(entry, CompactionEntry))
        ]

    def view(self) -> list[ViewMessage]:
        """What a model sees."""
        return view_of(
            self.entries(), self.compaction_entry(), self.settings.context.summary_role, self.pinned()
        )

    def compaction_entry(self) -> CompactionEntry | None:
        if self.compaction is None:
            return None
        entry = self.store.entry(self.conversation.id, self.compaction.entry_id)
        assert isinstance(entry, CompactionEntry)  # noqa: S101 - the store's own record says so
        return entry

    def ledger(self, last: int | None = None) -> Ledger:
        """The files of the path up to depth `last`, which is not before the view's beginning."""
        known = self.compaction.ledger if self.compaction is not None else None
        ledger = Ledger.from_json(known, self.root, self.settings.files.tools, self.aliases)
        return self._fed(ledger, self.first_depth, last)

    def ledger_of(self, first: int, last: int | None = None) -> Ledger:
        """The files of the entries from depth `first` to `last` alone.

        A result among them counts though its call comes before them.
        """
        ledger = Ledger(self.root, self.settings.files.tools, aliases=self.aliases)
        return self._fed(ledger.add(self._calling_reply(first)), first, last)

    def _calling_reply(self, before: int) -> list[Entry]:
        """The newest reply before a depth, whose calls may be answered from there on."""
        if self.end is None:
            return []
        rows = self.store.rows(self.end, max(0, before - _RESULTS_LOOKED_PAST), before - 1)
        reply = next((row for row in reversed(rows) if row.role == "assistant"), None)
        return self.entries(reply.depth, reply.depth) if reply is not None else []

    def _fed(self, ledger: Ledger, first: int, last: int | None) -> Ledger:
        """Feeds `ledger` the entries on the path, each followed by the file activity recorded beside it."""
        if self.end is None:
            return ledger.add(self.store.beside_root(self.conversation.id, ["file_activity"]))
        last = self.end.depth if last is None else last
        if last < first:
            return ledger
        on_path = enumerate(chain.from_iterable(self.pieces(first, last)), first)
        earliest = first if first > 0 else BEFORE_THE_ROOT
        beside = sorted(
            self.store.attached(self.end, earliest, last, ["file_activity"]), key=lambda pair: pair[0]
        )
        ordered: Iterable[tuple[int, Entry]] = merge(on_path, beside, key=lambda pair: pair[0])
        return ledger.add(entry for _, entry in ordered)

    def again(self) -> "Path":
        """The path to the conversation's leaf as it is now."""
        return read_path(self.store, self.conversation.id, self.settings)

    @property
    def root(self) -> str | None:
        """The folder that paths are relative to: where an imported session ran, else the workspace."""
        source: Mapping[str, object] = self.conversation.source or {}
        cwd = source.get("cwd")
        return cwd if isinstance(cwd, str) else path_of_uri(self.conversation.workspace_uri)

    @property
    def aliases(self) -> list[str]:
        """Other names of that folder: the workspace's, and what a link in it leads to."""
        folder = path_of_uri(self.conversation.workspace_uri)
        return [] if folder is None else [folder, os.path.realpath(folder)]


def read_path(store: Store, conversation_id: str, settings: Settings, leaf_id: str | None = None) -> Path:
    """The path to `leaf_id`, by default to the conversation's leaf."""
    record = store.conversation(conversation_id)
    end = store.end(conversation_id, LEAF if leaf_id is None else leaf_id)
    compaction = store.compaction(end) if end is not None else None
    return Path(store, record, end, compaction, settings)
