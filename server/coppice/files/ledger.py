"""The file ledger: which files the work on a path has read, changed, deleted and renamed so far.

Reads come from tool calls (an editor also opens files that nobody reads; a setting counts those as reads
too). Writes come from tool calls, the editor and the watcher; one that several of these sources report in the
same turn is counted once. A tool call counts when its result is not an error.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, Self

from coppice.files.paths import ByPath, folders_above, normalize_path
from coppice.files.tools import FileTouch, touches_of
from coppice.settings import ToolMapping
from coppice.tree.entries import (
    BranchSummaryEntry,
    Entry,
    FileActivityEntry,
    FileChangeKind,
    FileSource,
    GitUpdate,
    MessageEntry,
)
from coppice.tree.messages import AssistantMessage, ToolResultMessage, UserMessage

Touch = Literal["reads", "writes"]

MAX_GIT_UPDATES: Final = 100
"""Updates by git that a compaction hands on, the newest. A summary names none of them, a person looks
through the last ones."""


@dataclass(slots=True)
class TouchCounter:
    """The reads and writes of each path that each source has reported since the last user message.

    The count of a path is the largest count of any one source. So a write that several sources report is
    counted once, in whatever order the reports come.
    """

    _reported: dict[tuple[str, Touch], Counter[FileSource]] = field(default_factory=dict)
    _moved_from: set[str] = field(default_factory=set)
    _moved_to: set[str] = field(default_factory=set)

    def count(self, path: str, touch: Touch, source: FileSource) -> int:
        """Counts one report of `source`; returns the increase of the path's count, 1 or 0."""
        reports = self._reported.setdefault((path, touch), Counter())
        before = _most(reports)
        reports[source] += 1
        return _most(reports) - before

    def merge(self, old: str, new: str, touch: Touch) -> int:
        """Adds the reports of `old` to those of `new`; returns the counts' sum minus the joint count."""
        counts = [self._reported.pop((path, touch), Counter()) for path in (old, new)]
        both = self._reported[new, touch] = counts[0] + counts[1]
        return sum(map(_most, counts)) - _most(both)

    def note_move(self, old: str, new: str) -> None:
        """Records that the file or folder `old` was renamed to `new`."""
        self._moved_from.add(old)
        self._moved_to.add(new)

    def was_moved_from(self, path: str) -> bool:
        """Whether `path` was renamed, alone or with its folder; its deletion is part of that."""
        return _is_within_any(path, self._moved_from)

    def was_moved_to(self, path: str) -> bool:
        """Whether `path` is the target of a rename, its own or its folder's; its creation is part of that."""
        return _is_within_any(path, self._moved_to)


def _is_within_any(path: str, names: Container[str]) -> bool:
    return path in names or any(folder in names for folder in folders_above(path))


def _most(reports: Counter[FileSource]) -> int:
    return max(reports.values(), default=0)


@dataclass(frozen=True, slots=True)
class FileHistory:
    """One path: `created` and `deleted` are its present state, `renamed_from` is its first name."""

    path: str
    reads: int = 0
    writes: int = 0
    sources: tuple[FileSource, ...] = ()
    created: bool = False
    deleted: bool = False
    last_entry_id: str | None = None
    renamed_from: str | None = None


@dataclass(frozen=True, slots=True)
class GitUpdateRecord:
    """`files` that git replaced at once. They are in no list of files."""

    update: GitUpdate
    files: int
    last_entry_id: str | None = None


@dataclass(slots=True)
class FileLedger:
    """File histories by path, in the order of their first event. Entries are added oldest first.

    `root` is the folder that paths are relative to, `aliases` are other paths of the same folder.
    """

    root: str | None = None
    mappings: Mapping[str, ToolMapping] = field(default_factory=dict)
    histories: ByPath[FileHistory] = field(default_factory=ByPath)
    aliases: Sequence[str] = ()
    git_updates: list[GitUpdateRecord] = field(default_factory=list)
    _open_calls: dict[str, list[FileTouch]] = field(default_factory=dict)
    _turn: TouchCounter = field(default_factory=TouchCounter)

    @classmethod
    def from_json(
        cls,
        values: Mapping[str, Any] | None,
        root: str | None,
        mappings: Mapping[str, ToolMapping],
        aliases: Sequence[str] = (),
    ) -> Self:
        """The ledger whose `to_json` returned `values`; an empty one for None."""
        ledger = cls(root, mappings, aliases=aliases)
        for record in (values or {}).get("records", []):
            history = FileHistory(**{**record, "sources": tuple(record["sources"])})
            ledger.histories[history.path] = history
        for each in (values or {}).get("git_updates", []):
            ledger.git_updates.append(
                GitUpdateRecord(**{**each, "update": GitUpdate.model_validate(each["update"])})
            )
        return ledger

    def to_json(self) -> dict[str, Any]:
        """The ledger as a compaction's details store it; `from_json` reads it."""
        records = [asdict(history) for history in self.histories.values()]
        if not self.git_updates:
            return {"records": records}
        newest = self.git_updates[-MAX_GIT_UPDATES:]
        updates = [{**asdict(each), "update": each.update.model_dump()} for each in newest]
        return {"records": records, "git_updates": updates}

    def add(self, entries: Iterable[Entry]) -> Self:
        """Adds the file events of `entries`, in order. A result may come in a later `add` than its call."""
        for entry in entries:
            match entry:
                case MessageEntry(message=UserMessage()):
                    self._turn = TouchCounter()
                case MessageEntry(message=AssistantMessage() as reply):
                    for call in reply.tool_calls:
                        self._open_calls[call.id] = touches_of(call, self.mappings)
                case MessageEntry(message=ToolResultMessage() as result):
                    touches = self._open_calls.pop(result.tool_call_id, [])
                    if not result.is_error:
                        for touch in touches:
                            self._record(touch, "tool", entry.id)
                case FileActivityEntry(git_update=GitUpdate() as update):
                    self._note_update(update, len(entry.changes) + (entry.omitted or 0), entry.id)
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
        """Adds the file lists of a summary's `details`. Values of another type are ignored."""
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
        """Paths that do not exist any more as far as the conversation knows, sorted."""
        return sorted(h.path for h in self.histories.values() if h.deleted)

    def details(self) -> dict[str, Any]:
        """The lists as a summary's `details` hold them."""
        lists: dict[str, Any] = {"readFiles": self.read_files, "modifiedFiles": self.modified_files}
        if self.deleted_files:
            lists["deletedFiles"] = self.deleted_files
        return lists

    def _record(self, touch: FileTouch, source: FileSource, entry_id: str | None) -> None:
        path = self._normalized(touch.path)
        if touch.kind == "renamed" and touch.from_path:
            for moved in self._rename(
                self._normalized(touch.from_path), path, folder=touch.path.endswith("/")
            ):
                self._note(moved, "modified", source, entry_id)
        elif touch.kind == "deleted":
            if source == "tool" or path in self.histories or not self._turn.was_moved_from(path):
                for gone in self.histories.at_or_below(path) or [path]:
                    self._note(gone, "deleted", source, entry_id)
        elif touch.kind != "created" or path in self.histories or not self._turn.was_moved_to(path):
            self._note(path, touch.kind, source, entry_id)

    def _note(self, path: str, kind: FileChangeKind, source: FileSource, entry_id: str | None) -> None:
        history = self.histories.get(path) or FileHistory(path)
        reads = self._turn.count(path, "reads", source) if kind == "read" else 0
        writes = self._turn.count(path, "writes", source) if kind not in {"read", "deleted"} else 0
        sources = history.sources if source in history.sources else (*history.sources, source)
        is_news = reads or writes or source == "tool" or kind == "deleted"
        self.histories[path] = replace(
            history,
            reads=history.reads + reads,
            writes=history.writes + writes,
            sources=sources,
            created=history.created or kind == "created",
            deleted=history.deleted if kind == "read" else kind == "deleted",
            last_entry_id=entry_id if is_news else history.last_entry_id,
        )

    def _note_update(self, update: GitUpdate, files: int, entry_id: str) -> None:
        """An update whose events came in several parts is one."""
        if self.git_updates and self.git_updates[-1].update == update:
            files += self.git_updates.pop().files
        self.git_updates.append(GitUpdateRecord(update, files, entry_id))

    def _rename(self, old: str, new: str, *, folder: bool) -> list[str]:
        """Moves the histories of `old` and of everything below it to `new`, and returns the new paths.

        A file without a history gets one; a folder has none.
        """
        self._turn.note_move(old, new)
        moved = self.histories.at_or_below(old)
        if not moved and not folder:
            history = self.histories.get(new) or FileHistory(new)
            self.histories[new] = replace(history, renamed_from=history.renamed_from or old)
            return [new]
        return [self._move(path, new + path[len(old) :]) for path in moved]

    def _move(self, path: str, target: str) -> str:
        history = self.histories[path]
        del self.histories[path]
        existing = self.histories.get(target) or FileHistory(target)
        self.histories[target] = replace(
            history,
            path=target,
            reads=history.reads + existing.reads - self._turn.merge(path, target, "reads"),
            writes=history.writes + existing.writes - self._turn.merge(path, target, "writes"),
            sources=tuple(dict.fromkeys(history.sources + existing.sources)),
            renamed_from=history.renamed_from or path,
        )
        return target

    def _normalized(self, path: str) -> str:
        return normalize_path(path, self.root, self.aliases)
