"""Assigns the file events of a client to the conversations that they concern."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from coppice.files.changes import Event
from coppice.files.ignoring import BUILT_IN_PATTERNS, Patterns, ignored, patterns
from coppice.files.paths import is_absolute, normalize_path, path_of_uri, relative_to
from coppice.protocol.file_events import FileEvent
from coppice.service.core.settings_source import SettingsSource
from coppice.service.files.ignore_files import IgnoreFiles
from coppice.settings import FileSettings
from coppice.tree.entries import FileChange

LONGEST_PATH: Final = 4_096  # characters; Linux has PATH_MAX of 4,096 bytes

Active = dict[str, str]
"""The active conversation of each workspace, by the workspace's URI; in the order of opening."""


def opened_last(active: Active) -> str | None:
    """The conversation that was opened last; None before the first."""
    return next(reversed(active.values()), None)


@dataclass
class _Root:
    """A workspace folder; with no path, everything outside of all workspace folders."""

    path: str | None
    settings: FileSettings
    ignore_files: IgnoreFiles | None
    conversation_id: str | None

    @cached_property
    def names(self) -> list[str]:
        """The folder's path, and its real path where links are resolved."""
        return [] if self.path is None else [self.path, os.path.realpath(self.path)]

    @cached_property
    def _ignore(self) -> Patterns:
        return patterns(self.settings.ignore)

    def named(self, path: str) -> str | None:
        """`path` relative to this folder, or None if it lies outside."""
        inside = (relative_to(path, name) for name in self.names)
        return next((name for name in inside if name is not None), None)

    def tracks(self, name: str, event: FileEvent) -> bool:
        """Whether an event about the file `name` is recorded; a watcher's only within workspace folders."""
        if self.path is None and event.source == "watcher":
            return False
        if event.kind == "read" and not self.settings.count_open_as_read:
            return False
        rules: Sequence[Patterns] = [BUILT_IN_PATTERNS]
        if event.source == "watcher" and self.ignore_files is not None:
            rules = [*rules, *self.ignore_files.above(name)]
        return not ignored(name.lstrip("/"), [*rules, self._ignore], gone=event.kind == "deleted")

    def recorded(self, name: str, event: FileEvent) -> Iterator[tuple[str, Event]]:
        """The event as it is recorded, if it is."""
        if self.conversation_id is not None and self.tracks(name, event):
            yield self.conversation_id, Event(name, event.kind, event.source)


@dataclass
class Sorter:
    """Assigns each event to a conversation. Reads the disk; not for concurrent use."""

    source: SettingsSource
    _ignore_files: dict[str, IgnoreFiles] = field(default_factory=dict)

    def sort(
        self, folders: Iterable[str], events: Iterable[tuple[Active, FileEvent]]
    ) -> Iterator[tuple[str, Event]]:
        """The events to record, in their order, each with the id of its conversation."""
        folders = list(folders)
        for files in self._ignore_files.values():
            files.look_again()
        roots: list[_Root] = []
        active_of_roots: Active | None = None
        for active, event in events:
            if active is not active_of_roots:
                roots, active_of_roots = self._roots(folders, active), active
            yield from _assigned(roots, event)

    def _roots(self, folders: Sequence[str], active: Active) -> list[_Root]:
        """Inner folders first; the last one is for files outside, for the conversation opened last."""
        roots: dict[str, _Root] = {}
        for uri in [*folders, *active]:
            named = path_of_uri(uri)
            if named is None:
                continue
            path = normalize_path(named, None)
            if path not in roots:
                files = self._ignore_files.setdefault(path, IgnoreFiles(path))
                roots[path] = _Root(path, self.source.of(uri).files, files, None)
            roots[path].conversation_id = active.get(uri, roots[path].conversation_id)
        inner_first = sorted(roots.values(), key=lambda root: len(root.path or ""), reverse=True)
        return [*inner_first, _Root(None, self.source.of().files, None, opened_last(active))]


def _assigned(roots: Sequence[_Root], event: FileEvent) -> Iterator[tuple[str, Event]]:
    location = _found(roots, event.uri)
    if location is None:
        return
    root, name, path = location
    if event.kind == "renamed":
        yield from _renamed(roots, event, root, name, folder=_is_folder(path))
    else:
        yield from root.recorded(name, event)


def _renamed(
    roots: Sequence[_Root], event: FileEvent, root: _Root, name: str, *, folder: bool
) -> Iterator[tuple[str, Event]]:
    """A file renamed into another workspace is deleted in the first and created in the second."""
    origin = _found(roots, event.from_uri or "")
    if (
        origin is not None
        and origin[0] is root
        and root.conversation_id is not None
        and root.tracks(origin[1], event)
        and root.tracks(name, event)
    ):
        yield root.conversation_id, Event(name, "renamed", event.source, origin[1], folder=folder)
        return
    if origin is not None:
        yield from origin[0].recorded(origin[1], replace(event, kind="deleted"))
    yield from root.recorded(name, replace(event, kind="created"))


def _found(roots: Sequence[_Root], uri: str) -> tuple[_Root, str, str] | None:
    """The folder of the file at `uri`, its path relative to it, and its absolute path."""
    path = path_of_uri(uri)
    if path is None or not is_absolute(path) or len(path) > LONGEST_PATH:
        return None
    for seen in (path, os.path.realpath(path)):
        for root in roots:
            if (name := root.named(seen)) is not None:
                return None if name == "." else (root, name, path)
    return roots[-1], normalize_path(path, None), path


def without_folders(changes: Iterable[FileChange], root: str | None) -> list[FileChange]:
    """The changes without those that created or modified a folder. Reads the disk."""
    return [
        change
        for change in changes
        if change.kind not in {"created", "modified"} or not _is_folder(Path(root or "/", change.path))
    ]


def _is_folder(path: str | Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - `Path.is_dir` raises for a name too long and for a lack of permission
