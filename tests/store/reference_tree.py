"""What the store should say, computed the slow and plain way."""

from dataclasses import dataclass, field

from coppice.store.schema.records import NewRecord, TreeRow
from coppice.tokens.size import Size
from coppice.tree.entries import METADATA_TYPES, CompactionEntry, LabelEntry, MessageEntry, PinEntry
from coppice.tree.messages import AssistantMessage
from coppice.tree.preview import preview_of


@dataclass
class ReferenceTree:
    """A conversation as two dicts in append order, and a leaf."""

    records: dict[str, NewRecord] = field(default_factory=dict)
    parents: dict[str, str | None] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    pinned: set[str] = field(default_factory=set)
    leaf: str | None = None

    def put(self, record: NewRecord, parent: str | None) -> None:
        entry = record.entry
        self.records[entry.id], self.parents[entry.id] = record, parent
        if isinstance(entry, LabelEntry):
            self.labels.pop(entry.target_id, None)
            if entry.label:
                self.labels[entry.target_id] = entry.label
        if isinstance(entry, PinEntry):
            (self.pinned.add if entry.pinned else self.pinned.discard)(entry.target_id)

    def append(self, records: list[NewRecord], parent: str | None) -> None:
        for record in records:
            self.put(record, parent)
            if not self.is_metadata(record.entry.id):
                self.leaf = parent = record.entry.id

    def is_metadata(self, entry_id: str) -> bool:
        return self.records[entry_id].entry.type in METADATA_TYPES

    def path(self, entry_id: str | None) -> list[str]:
        ids = []
        while entry_id is not None:
            ids.append(entry_id)
            entry_id = self.parents[entry_id]
        return ids[::-1]

    def total(self, path: list[str]) -> Size:
        records = (self.records[entry_id] for entry_id in path)
        return sum((each.size for each in records if not isinstance(each.entry, CompactionEntry)), Size())

    def usage(self, entry_id: str) -> tuple[int | None, Size]:
        since = Size()
        for above in reversed(self.path(entry_id)):
            entry = self.records[above].entry
            if isinstance(entry, CompactionEntry):
                break
            if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
                usage = entry.message.usage
                if usage is not None and usage.context_tokens > 0 and not entry.message.failed:
                    return usage.context_tokens, since
            since += self.records[above].size
        return None, Size()

    def cut(self, entry_id: str) -> tuple[str, int, Size] | None:
        """The newest compaction on the path, the depth of its first kept entry, what comes before that."""
        path = self.path(entry_id)
        for depth in range(len(path) - 1, -1, -1):
            entry = self.records[path[depth]].entry
            if isinstance(entry, CompactionEntry):
                first_kept = entry.first_kept_entry_id
                if first_kept in path[:depth]:
                    return entry.id, path.index(first_kept), self.total(path[: path.index(first_kept)])
                return entry.id, depth + 1, self.total(path[:depth])
        return None

    def meeting(self, one: str, other: str) -> str | None:
        shared = [a for a, b in zip(self.path(one), self.path(other), strict=False) if a == b]
        return shared[-1] if shared else None

    def attached(self, entry_id: str, types: set[str]) -> list[tuple[int, str]]:
        path = self.path(entry_id)
        depths: dict[str | None, int] = {None: -1} | {above: depth for depth, above in enumerate(path)}
        near = [
            (depths[self.parents[other]], other)
            for other in self.records
            if other not in path and self.parents[other] in depths and self.records[other].entry.type in types
        ]
        return [each for each in near if each[0] < 0] + [each for each in near if each[0] >= 0]

    def solid(self) -> set[str]:
        """What is no metadata, or leads to something that is none."""
        ids: set[str] = set()
        for entry_id in self.records:
            if not self.is_metadata(entry_id):
                ids.update(self.path(entry_id))
        return ids

    def tree(self, *, folded: bool) -> list[TreeRow]:
        nodes, inner = set(self.records), set(self.records)
        if folded:
            inner = self.solid()
            nodes = {node for node in inner if self._is_landmark(node, inner)}
        current = set(self.path(self.leaf))
        rows = []
        for node, record in self.records.items():
            if node not in nodes:
                continue
            path = self.path(node)
            above = next((other for other in reversed(path[:-1]) if other in nodes), None)
            entry = record.entry
            rows.append(
                TreeRow(
                    id=node,
                    parent_id=above,
                    type=entry.type,
                    role=entry.message.role if isinstance(entry, MessageEntry) else None,
                    preview=preview_of(entry),
                    label=self.labels.get(node),
                    pinned=node in self.pinned,
                    timestamp=entry.timestamp,
                    size=record.size,
                    child_count=self._children(node, inner),
                    on_current_path=node in current,
                    run_length=len(path) - (path.index(above) + 1 if above else 0) if folded else None,
                )
            )
        return rows

    def _is_landmark(self, node: str, solid: set[str]) -> bool:
        kind = self.records[node].entry.type
        return self._children(node, solid) != 1 or kind == "compaction" or node in self.labels

    def _children(self, node: str, among: set[str]) -> int:
        return sum(1 for other in among if self.parents[other] == node)
