"""The ledger: which files a path's work has read, changed, deleted and renamed so far.

Reads come from tool calls alone (an editor opens files that nobody reads); writes from both sides. A tool
call counts once its result says that it succeeded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from coppice.files.paths import normalize_path
from coppice.files.tools import FileTouch, touches_of
from coppice.settings import ToolMapping
from coppice.tree.entries import (
    BranchSummaryEntry,
    Entry,
    FileActivityEntry,
    FileChangeKind,
    FileSource,
    MessageEntry,
)
from coppice.tree.messages import AssistantMessage, ToolResultMessage


@dataclass(frozen=True, slots=True)
class FileHistory:
    """One path: `created` and `deleted` say how it stands now, `renamed_from` what it was called first."""

    path: str
    reads: int = 0
    writes: int = 0
    sources: tuple[FileSource, ...] = ()
    created: bool = False
    deleted: bool = False
    last_entry_id: str | None = None
    renamed_from: str | None = None


@dataclass(slots=True)
class Ledger:
    """File histories by path, in the order of first sight. Feed it entries, oldest first."""

    root: str | None = None
    mappings: Mapping[str, ToolMapping] = field(default_factory=dict)
    histories: dict[str, FileHistory] = field(default_factory=dict)
    _open_calls: dict[str, list[FileTouch]] = field(default_factory=dict)

    @classmethod
    def from_json(
        cls, values: Mapping[str, Any] | None, root: str | None, mappings: Mapping[str, ToolMapping]
    ) -> Self:
        """The ledger that `to_json` gave; an empty one for None."""
        records = (values or {}).get("records", [])
        histories = {
            record["path"]: FileHistory(**{**record, "sources": tuple(record["sources"])})
            for record in records
        }
        return cls(root, mappings, histories)

    def to_json(self) -> dict[str, Any]:
        return {"records": [asdict(history) for history in self.histories.values()]}

    def add(self, entries: Iterable[Entry]) -> Self:
        """Takes in what `entries` did, in order. A call's result may come with a later `add`."""
        for entry in entries:
            match entry:
                case MessageEntry(message=AssistantMessage() as reply):
                    for call in reply.tool_calls:
                        self._open_calls[call.id] = touches_of(call, self.mappings)
                case MessageEntry(message=ToolResultMessage() as result):
                    touches = self._open_calls.pop(result.tool_call_id, [])
                    if not result.is_error:
                        for touch in touches:
                            self._record(touch, "tool", entry.id)
                case FileActivityEntry():
                    for change in entry.changes:
                        touch = FileTouch(change.path, change.kind, change.from_path)
                        self._record(touch, change.source, entry.id)
                case BranchSummaryEntry():
                    self.add_lists(entry.details, entry.id)
                case _:
                    pass
        return self

    def add_lists(self, details: object, entry_id: str | None) -> None:
        """Takes in the file lists of a summary's `details`, for paths that are not known better."""
        if not isinstance(details, Mapping):
            return
        kinds: Mapping[str, FileChangeKind] = {
            "readFiles": "read",
            "modifiedFiles": "modified",
            "deletedFiles": "deleted",
        }
        for name, kind in kinds.items():
            listed = details.get(name)
            for path in listed if isinstance(listed, list) else []:
                if isinstance(path, str):
                    self._record(FileTouch(path, kind), "tool", entry_id)

    @property
    def read_files(self) -> list[str]:
        """Sorted paths that were read and neither changed nor deleted."""
        return sorted(h.path for h in self.histories.values() if h.reads and not h.writes and not h.deleted)

    @property
    def modified_files(self) -> list[str]:
        """Sorted paths that were written, created ones included, and are still there."""
        return sorted(h.path for h in self.histories.values() if h.writes and not h.deleted)

    @property
    def deleted_files(self) -> list[str]:
        return sorted(h.path for h in self.histories.values() if h.deleted)

    def details(self) -> dict[str, Any]:
        """The lists as a summary's `details` hold them."""
        lists: dict[str, Any] = {"readFiles": self.read_files, "modifiedFiles": self.modified_files}
        if self.deleted_files:
            lists["deletedFiles"] = self.deleted_files
        return lists

    def _record(self, touch: FileTouch, source: FileSource, entry_id: str | None) -> None:
        path = normalize_path(touch.path, self.root)
        if touch.kind == "renamed" and touch.from_path:
            for moved in self._rename(normalize_path(touch.from_path, self.root), path):
                self._note(moved, "modified", source, entry_id)
        else:
            self._note(path, touch.kind, source, entry_id)

    def _note(self, path: str, kind: FileChangeKind, source: FileSource, entry_id: str | None) -> None:
        known = self.histories.get(path) or FileHistory(path)
        sources = known.sources if source in known.sources else (*known.sources, source)
        known = replace(known, sources=sources, last_entry_id=entry_id)
        match kind:
            case "read":
                known = replace(known, reads=known.reads + 1)
            case "created":
                known = replace(known, writes=known.writes + 1, created=True, deleted=False)
            case "modified" | "renamed":
                known = replace(known, writes=known.writes + 1, deleted=False)
            case "deleted":
                known = replace(known, deleted=True)
        self.histories[path] = known

    def _rename(self, old: str, new: str) -> list[str]:
        """Moves the histories of `old` and of everything below it to `new`; the new paths come back."""
        moved = [path for path in self.histories if path == old or path.startswith(f"{old}/")]
        if not moved:
            self.histories[new] = FileHistory(new, renamed_from=old)
            return [new]
        targets = []
        for path in moved:
            history = self.histories.pop(path)
            target = new + path[len(old) :]
            self.histories[target] = replace(history, path=target, renamed_from=history.renamed_from or path)
            targets.append(target)
        return targets
