"""What events did to files in the end: many events in, at most one change a file out.

The events between two messages of a conversation are folded here. A file is recorded once however often it
was saved; one that was made and deleted again is not recorded; a renamed file keeps its first name.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from coppice.files.paths import ByPath, is_within
from coppice.tree.entries import FileChange, FileChangeKind, FileSource

MOST_FILES: Final = 20_000
"""Files of a watcher that are followed at a time; of what exceeds them only the number is kept."""


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to one path. `folder`: the renamed path is a folder."""

    path: str
    kind: FileChangeKind
    source: FileSource
    from_path: str | None = None
    folder: bool = False


@dataclass(slots=True)
class _File:
    """A file under its present name. `origin` is the name at the beginning, None where there was no file."""

    origin: str | None
    source: FileSource
    exists: bool = True
    modified: bool = False
    read: bool = False


@dataclass(slots=True)
class Changes:
    """The changes since a message. Those that were recorded are kept, so that a late echo is no new change.

    `is_pending`: there may be changes to record; `omitted` counts the files that are not followed.
    """

    is_pending: bool = False
    omitted: int = 0
    _message_id: str | None = None
    _files: ByPath[_File] = field(default_factory=ByPath)
    _moves: list[tuple[str, str]] = field(default_factory=list)
    _moves_recorded: int = 0

    def note(self, event: Event) -> None:
        """Adds the next event."""
        self.is_pending = True
        if event.source == "watcher" and self._echoes(event):
            return
        if event.kind == "renamed":
            self._rename(event)
            return
        file = self._files.get(event.path)
        if file is None:
            if event.source == "watcher" and len(self._files) >= MOST_FILES:
                self.omitted += 1
                return
            file = _File(None if event.kind == "created" else event.path, event.source)
            self._files[event.path] = file
            if event.kind == "created":
                return
        elif event.source == "editor":
            file.source = "editor"
        match event.kind:
            case "deleted":
                for path in self._files.at_or_below(event.path):
                    self._files[path].exists = False
            case "read":
                file.read = True
            case _:
                file.exists = file.modified = True

    def net(self) -> list[FileChange]:
        """The changes to record, renamings first, in an order in which names never collide."""
        moves = [
            FileChange(path=f"{new}/", from_path=f"{old}/", kind="renamed", source="editor")
            for old, new in self._moves[self._moves_recorded :]
        ]
        changes = [change for path, file in self._files.items() if (change := _net(path, file)) is not None]
        changed = _once_each(changes)
        renamed = [change for change in changed if change.kind == "renamed"]
        return [*moves, *_in_order(renamed), *(change for change in changed if change.kind != "renamed")]

    def mark_recorded(self) -> None:
        """What `net` returned is recorded."""
        self.is_pending = False
        self.omitted = 0
        self._moves_recorded = len(self._moves)
        for path, file in self._files.items():
            file.origin = path if file.exists else None
            file.modified = file.read = False

    def start_after(self, message_id: str | None) -> None:
        """Later events belong after this message; what was recorded after another one is forgotten."""
        if message_id == self._message_id:
            return
        self._message_id = message_id
        before, self._files = self._files, ByPath()
        for path, file in before.items():
            if _net(path, file) is not None:
                self._files[path] = file
        del self._moves[: self._moves_recorded]
        self._moves_recorded = 0

    def _rename(self, event: Event) -> None:
        old, new = event.from_path or event.path, event.path
        if event.folder:
            self._move_folder(old, new)
            return
        file = self._files.get(old) or _File(old, event.source)
        self._files[old] = _File(None, event.source, exists=False)
        self._files[new] = replace(file, source=event.source, exists=True)

    def _move_folder(self, old: str, new: str) -> None:
        """The files go with their folder. The watcher's deletions and creations were the move."""
        for path in self._files.at_or_below(new):
            file = self._files[path]
            if file.source == "watcher" and file.exists:
                file.origin = path
        moving = [(path, self._files[path]) for path in self._files.at_or_below(old)]
        for path, file in moving:
            self._files[path] = _File(None, file.source, exists=False)
        for path, file in moving:
            target = new + path[len(old) :]
            moved = replace(file, exists=file.exists or file.source == "watcher")
            self._files[target] = replace(moved, origin=target if file.origin == path else file.origin)
        self._moves.append((old, new))

    def _echoes(self, event: Event) -> bool:
        """Whether a watcher reports of a moved folder's files what the move recorded."""
        if event.path in self._files or event.kind not in {"created", "deleted"}:
            return False
        folders = (old if event.kind == "deleted" else new for old, new in self._moves)
        return any(is_within(event.path, folder) for folder in folders)


def _net(path: str, file: _File) -> FileChange | None:
    if not file.exists:
        if file.origin is None:
            return None
        return FileChange(path=file.origin, kind="deleted", source=file.source)
    if file.origin is None:
        return FileChange(path=path, kind="created", source=file.source)
    if file.origin != path:
        return FileChange(path=path, kind="renamed", from_path=file.origin, source=file.source)
    if file.modified:
        return FileChange(path=path, kind="modified", source=file.source)
    if file.read:
        return FileChange(path=path, kind="read", source=file.source)
    return None


def _once_each(changes: list[FileChange]) -> list[FileChange]:
    """A file that is gone, and another one at its path: the path was modified, or renamed to."""
    there = {change.path for change in changes if change.kind != "deleted"}
    gone = {change.path for change in changes if change.kind == "deleted"}
    return [
        FileChange(path=change.path, kind="modified", source=change.source)
        if change.kind == "created" and change.path in gone
        else change
        for change in changes
        if change.kind != "deleted" or change.path not in there
    ]


def _in_order(renamed: list[FileChange]) -> Iterator[FileChange]:
    """Each renaming once its new name is free; files that exchanged their names were modified."""
    waiting = {change.from_path: change for change in renamed}
    while waiting:
        free = [change for change in waiting.values() if change.path not in waiting]
        for change in free:
            yield change
            del waiting[change.from_path]
        if not free:
            for change in waiting.values():
                yield FileChange(path=change.path, kind="modified", source=change.source)
            return


def unrecorded(changes: Iterable[FileChange], recorded: Iterable[FileChange]) -> list[FileChange]:
    """The changes that add something to those which were `recorded` after the same message.

    Another server that gets events about the same files may have recorded them.
    """
    last: dict[str, FileChangeKind] = {}
    for change in recorded:
        last[change.path] = change.kind
        if change.from_path is not None:
            last[change.from_path] = "deleted"
    return [change for change in changes if _is_news(change.kind, last.get(change.path))]


def _is_news(kind: FileChangeKind, last: FileChangeKind | None) -> bool:
    match kind:
        case "read":
            return last is None
        case "created" | "modified":
            return last not in {"created", "modified", "renamed"}
        case _:
            return kind != last


def chosen(
    changes: list[FileChange], most: int, known_paths: Collection[str]
) -> tuple[list[FileChange], int]:
    """At most `most` of the changes, and how many were left out.

    What an editor did and what concerns `known_paths` goes before the rest of what a watcher saw.
    """
    if len(changes) <= most:
        return changes, 0
    wanted_first = sorted(
        changes, key=lambda change: change.source != "editor" and change.path not in known_paths
    )
    chosen_ids = {id(change) for change in wanted_first[:most]}
    return [change for change in changes if id(change) in chosen_ids], len(changes) - len(chosen_ids)
