"""Events about files as a front end hears them, and which conversation each concerns."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from coppice.files.changes import Event
from coppice.files.ignoring import BUILT_IN_PATTERNS, Patterns, ignored, patterns
from coppice.files.paths import is_absolute, normalize_path, path_of_uri, relative_to
from coppice.service.ignore_files import IgnoreFiles
from coppice.service.settings_source import SettingsSource
from coppice.settings import FileSettings
from coppice.tree.entries import FileChange, FileChangeKind, FileSource

LONGEST_PATH: Final = 4_096

Active = dict[str, str]
"""The active conversation of each workspace, by the workspace's URI; the one opened last stands last."""


def opened_last(active: Active) -> str | None:
    return next(reversed(active.values()), None)


@dataclass(frozen=True, slots=True)
class FileEvent:
    """What happened to the file at `uri`. `from_uri` is where a renamed one was."""

    uri: str
    kind: FileChangeKind
    source: FileSource
    from_uri: str | None = None


@dataclass
class _Place:
    """A workspace folder, or with no path everything outside of them."""

    path: str | None
    settings: FileSettings
    ignore_files: IgnoreFiles | None
    conversation_id: str | None

    @cached_property
    def names(self) -> list[str]:
        """The folder's own name, and what it leads to when a link is in it."""
        return [] if self.path is None else [self.path, os.path.realpath(self.path)]

    @cached_property
    def _ignore(self) -> Patterns:
        return patterns(self.settings.ignore)

    def named(self, path: str) -> str | None:
        """`path` as seen from here, or None where it lies elsewhere."""
        inside = (relative_to(path, name) for name in self.names)
        return next((name for name in inside if name is not None), None)

    def tracks(self, name: str, event: FileEvent) -> bool:
        """Whether an event about the file called `name` counts here."""
        if event.kind == "read" and not self.settings.count_open_as_read:
            return False
        rules: Sequence[Patterns] = [BUILT_IN_PATTERNS]
        if event.source == "watcher" and self.ignore_files is not None:
            rules = [*rules, *self.ignore_files.above(name)]
        return not ignored(name.lstrip("/"), [*rules, self._ignore], gone=event.kind == "deleted")


@dataclass
class Sorter:
    """Gives each event to its conversation. Blocks on the disk; for one thread at a time."""

    source: SettingsSource
    _ignore_files: dict[str, IgnoreFiles] = field(default_factory=dict)

    def sort(
        self, folders: Iterable[str], heard: Iterable[tuple[Active, FileEvent]]
    ) -> Iterator[tuple[str, Event]]:
        """The events that count, in their order, each with the conversation that it concerns."""
        folders = list(folders)
        for files in self._ignore_files.values():
            files.look_again()
        places: list[_Place] = []
        placed_for: Active | None = None
        for active, event in heard:
            if active is not placed_for:
                places, placed_for = self._places(folders, active), active
            yield from _placed(places, event)

    def _places(self, folders: Sequence[str], active: Active) -> list[_Place]:
        """Inner folders first; at last what lies outside, which concerns the conversation opened last."""
        found: dict[str, _Place] = {}
        for uri in [*folders, *active]:
            named = path_of_uri(uri)
            if named is None:
                continue
            path = normalize_path(named, None)
            if path not in found:
                files = self._ignore_files.setdefault(path, IgnoreFiles(path))
                found[path] = _Place(path, self.source.of(uri).files, files, None)
            found[path].conversation_id = active.get(uri, found[path].conversation_id)
        inner_first = sorted(found.values(), key=lambda place: len(place.path or ""), reverse=True)
        return [*inner_first, _Place(None, self.source.of().files, None, opened_last(active))]


def _placed(places: Sequence[_Place], event: FileEvent) -> Iterator[tuple[str, Event]]:
    found = _found(places, event.uri)
    if found is None:
        return
    place, name, path = found
    if event.kind == "renamed":
        yield from _renamed(places, event, place, name, folder=_is_folder(path))
    elif place.conversation_id is not None and _heard_of(place, event) and place.tracks(name, event):
        yield place.conversation_id, Event(name, event.kind, event.source)


def _renamed(
    places: Sequence[_Place], event: FileEvent, place: _Place, name: str, *, folder: bool
) -> Iterator[tuple[str, Event]]:
    """A file that went to another workspace is gone from the one and new in the other."""
    origin = _found(places, event.from_uri or "")
    if origin is not None and origin[0] is place:
        was_there, is_there = place.tracks(origin[1], event), place.tracks(name, event)
        if place.conversation_id is not None and was_there and is_there:
            renamed = Event(name, "renamed", event.source, from_path=origin[1], folder=folder)
            yield place.conversation_id, renamed
            return
    if origin is not None and origin[0].conversation_id is not None:
        gone = FileEvent(event.from_uri or "", "deleted", event.source)
        if origin[0].tracks(origin[1], gone):
            yield origin[0].conversation_id, Event(origin[1], "deleted", event.source)
    new = FileEvent(event.uri, "created", event.source)
    if place.conversation_id is not None and place.tracks(name, new):
        yield place.conversation_id, Event(name, "created", event.source)


def _found(places: Sequence[_Place], uri: str) -> tuple[_Place, str, str] | None:
    """Where the file at `uri` lies, what it is called there, and its path."""
    path = path_of_uri(uri)
    if path is None or not is_absolute(path) or len(path) > LONGEST_PATH:
        return None
    for seen in (path, os.path.realpath(path)):
        for place in places:
            if (name := place.named(seen)) is not None:
                return None if name == "." else (place, name, path)
    return places[-1], normalize_path(path, None), path


def _heard_of(place: _Place, event: FileEvent) -> bool:
    """A watcher is asked about workspaces only; what it says of other folders is none of ours."""
    return place.path is not None or event.source == "editor"


def without_folders(changes: Iterable[FileChange], root: str | None) -> list[FileChange]:
    """The changes but for folders that were made or touched. Blocks on the disk."""
    return [
        change
        for change in changes
        if change.kind not in {"created", "modified"} or not _is_folder(Path(root or "/", change.path))
    ]


def _is_folder(path: str | Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - `Path.is_dir` raises for a name too long and a closed door
