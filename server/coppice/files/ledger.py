"""The ledger: which files a path's work has read, changed, deleted and renamed so far.

Reads come from tool calls (an editor opens files that nobody reads; a setting has it count), writes from
both sides; what several sides see in one turn is one write. A tool call counts once its result says that it
succeeded.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from coppice.files.paths import folders_above, normalize_path
from coppice.files.tools import FileTouch, touches_of
from coppice.files.turn import Turn
from coppice.settings import ToolMapping
from coppice.tree.entries import (
    BranchSummaryEntry,
    Entry,
    FileActivityEntry,
    FileChangeKind,
    FileSource,
    MessageEntry,
)
from coppice.tree.messages import AssistantMessage, ToolResultMessage, UserMessage


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
    """File histories by path, in the order of first sight. Feed it entries, oldest first.

    `root` is the folder that paths are relative to, `aliases` are other names of it.
    """

    root: str | None = None
    mappings: Mapping[str, ToolMapping] = field(default_factory=dict)
    histories: dict[str, FileHistory] = field(default_factory=dict)
    aliases: Sequence[str] = ()
    _open_calls: dict[str, list[FileTouch]] = field(default_factory=dict)
    _turn: Turn = field(default_factory=Turn)
    _folders: set[str] = field(default_factory=set)

    @classmethod
    def from_json(
        cls,
        values: Mapping[str, Any] | None,
        root: str | None,
        mappings: Mapping[str, ToolMapping],
        aliases: Sequence[str] = (),
    ) -> Self:
        """The ledger that `to_json` gave; an empty one for None."""
        ledger = cls(root, mappings, aliases=aliases)
        for record in (values or {}).get("records", []):
            ledger._keep(FileHistory(**{**record, "sources": tuple(record["sources"])}))
        return ledger

    def to_json(self) -> dict[str, Any]:
        return {"records": [asdict(history) for history in self.histories.values()]}

    def add(self, entries: Iterable[Entry]) -> Self:
        """Takes in what `entries` did, in order. A call's result may come with a later `add`."""
        for entry in entries:
            match entry:
                case MessageEntry(message=UserMessage()):
                    self._turn = Turn()
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
        path = self._named(touch.path)
        if touch.kind == "renamed" and touch.from_path:
            for moved in self._rename(self._named(touch.from_path), path, folder=touch.path.endswith("/")):
                self._note(moved, "modified", source, entry_id)
        elif touch.kind == "deleted":
            if source == "tool" or path in self.histories or not self._turn.left(path):
                for gone in self._at_or_below(path) or [path]:
                    self._note(gone, "deleted", source, entry_id)
        elif touch.kind != "created" or path in self.histories or not self._turn.arrived(path):
            self._note(path, touch.kind, source, entry_id)

    def _note(self, path: str, kind: FileChangeKind, source: FileSource, entry_id: str | None) -> None:
        known = self.histories.get(path) or FileHistory(path)
        reads = self._turn.count(path, "reads", source) if kind == "read" else 0
        writes = self._turn.count(path, "writes", source) if kind not in {"read", "deleted"} else 0
        sources = known.sources if source in known.sources else (*known.sources, source)
        known = replace(known, sources=sources, reads=known.reads + reads, writes=known.writes + writes)
        if reads or writes or source == "tool" or kind == "deleted":
            known = replace(known, last_entry_id=entry_id)
        match kind:
            case "created":
                known = replace(known, created=True, deleted=False)
            case "modified" | "renamed":
                known = replace(known, deleted=False)
            case "deleted":
                known = replace(known, deleted=True)
            case "read":
                pass
        self._keep(known)

    def _rename(self, old: str, new: str, *, folder: bool) -> list[str]:
        """Moves the histories of `old` and of everything below it to `new`; the new paths come back.

        A file that nothing is known of begins its history; a folder has none.
        """
        self._turn.moved(old, new)
        moved = self._at_or_below(old)
        if not moved and not folder:
            known = self.histories.get(new) or FileHistory(new)
            self._keep(replace(known, renamed_from=known.renamed_from or old))
            return [new]
        return [self._move(path, new + path[len(old) :]) for path in moved]

    def _move(self, path: str, target: str) -> str:
        history = self.histories.pop(path)
        there = self.histories.get(target) or FileHistory(target)
        self._keep(
            replace(
                history,
                path=target,
                reads=history.reads + there.reads - self._turn.merge(path, target, "reads"),
                writes=history.writes + there.writes - self._turn.merge(path, target, "writes"),
                sources=tuple(dict.fromkeys(history.sources + there.sources)),
                renamed_from=history.renamed_from or path,
            )
        )
        return target

    def _at_or_below(self, path: str) -> list[str]:
        """The known paths that `path` names: itself, and those in it where it is a folder."""
        if path not in self._folders:
            return [path] if path in self.histories else []
        return [known for known in self.histories if known == path or known.startswith(f"{path}/")]

    def _keep(self, history: FileHistory) -> None:
        if history.path not in self.histories:
            self._folders.update(folders_above(history.path))
        self.histories[history.path] = history

    def _named(self, path: str) -> str:
        return normalize_path(path, self.root, self.aliases)
