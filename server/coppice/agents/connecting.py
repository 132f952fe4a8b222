"""Connects an agent, and takes that back: its files, what they were before, and what they are now."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeGuard

from coppice.agents import files
from coppice.agents.edits import Edit, OwnFile
from coppice.agents.jsonc import ConfigurationError
from coppice.operating_system import lock_in_turn, open_lock_file

_RECORD: Final = "connections.json"
_LOCK: Final = "connections.lock"
_BACKUP: Final = re.compile(r"[\w-]++\.backup")


class ChangedMeanwhileError(ConfigurationError):
    """A file is no longer what a change of it was computed from."""


@dataclass(frozen=True)
class Change:
    """A file, its text now and afterwards; None for no file. `original` is its text without our part."""

    path: Path
    now: str | None
    after: str | None
    original: str | None

    @property
    def is_needed(self) -> bool:
        """Whether anything is to be written."""
        return self.now != self.after

    def check(self) -> None:
        """Raises ChangedMeanwhileError."""
        if files.read(self.path) != self.now:
            raise ChangedMeanwhileError(f"{self.path} is changed by another program again and again.")

    def write(self) -> None:
        """Writes what is needed, after `check`."""
        if not self.is_needed:
            return
        if self.after is None:
            self.check()
            self.path.resolve().unlink(missing_ok=True)
        else:
            files.write(self.path, self.after, before_replacing=self.check)


class Connections:
    """What is connected, with a backup of each file. `folder` is Coppice's own.

    Every method raises ConfigurationError, with nothing written for the agent that it is about. Agents write
    their files at any time: what was computed before a question may be stale after it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def connecting(self, agent: str, edits: Sequence[Edit]) -> list[Change]:
        """What connecting changes."""
        changes = []
        for path, of_file in _by_file(edits):
            now = files.read(path)
            with _about(path):
                original = self._original(agent, path, now, of_file)
            taken = next((edit for edit in of_file if self._is_taken(agent, edit, now)), None)
            if taken is not None:
                raise ConfigurationError(
                    f"{path}: In the place of {taken.what} is something that `coppice connect` "
                    "did not write. Rename it or take it out, then connect again."
                )
            with _about(path):
                after = _with(of_file, original)
            changes.append(Change(path, now, after, original))
        return changes

    def removing(self, agent: str, edits: Sequence[Edit]) -> list[Change]:
        """What taking it back changes. A script that other connections of the agent run stays."""
        others = {path for path in self._entries(agent) if not _is_gone(path)}
        others -= {str(edit.path) for edit in edits}
        changes = []
        for path, of_file in _by_file(edits):
            if others and self._is_shared(path):
                continue
            now = files.read(path)
            with _about(path):
                original = self._original(agent, path, now, of_file)
            changes.append(Change(path, now, original, original))
        return changes

    def connect(self, agent: str, changes: Sequence[Change]) -> None:
        """Writes what `connecting` gave, after a backup of each file.

        Raises ChangedMeanwhileError: compute the changes again. Of several files, some may be written then.
        """
        with self._alone():
            self._connect(agent, changes)

    def _connect(self, agent: str, changes: Sequence[Change]) -> None:
        for change in changes:
            change.check()
        record = self._record()
        entries = record.setdefault(agent, {})
        earlier = [*entries.values()]
        for change in changes:
            path = str(change.path)
            made = entries.get(path, {}).get("folders", [])
            made = made or [str(each) for each in change.path.parents if not each.exists()]
            entries[path] = {"backup": None, "digest": files.digest(change.after or ""), "folders": made}
            if change.original is not None:
                backup = f"{agent}-{files.digest(path)}.backup"
                files.write(self._folder / backup, change.original)
                entries[path] |= {"backup": backup, "backup_digest": files.digest(change.original)}
        files.write(self._folder / _RECORD, json.dumps(record, indent=2) + "\n")
        self._delete_backups(earlier, entries.values())
        for change in changes:
            change.write()

    def remove(self, agent: str, changes: Sequence[Change], folders: Sequence[Path] = ()) -> None:
        """Writes what `removing` gave, and deletes `folders` and those that connecting made, but for what
        others put there. Raises ChangedMeanwhileError as `connect` does.
        """
        with self._alone():
            self._remove(agent, changes, folders)

    def _remove(self, agent: str, changes: Sequence[Change], folders: Sequence[Path]) -> None:
        for change in changes:
            change.check()
        for change in changes:
            change.write()
        for folder in folders:
            _delete_empty(folder)
        record = self._record()
        recorded = record.get(agent, {})
        removed = {str(change.path) for change in changes}
        paths = [path for path in recorded if path in removed or _is_gone(path)]
        entries = [recorded.pop(path) for path in paths]
        if not recorded:
            record.pop(agent, None)
        made = {folder for entry in entries for folder in entry.get("folders", [])}
        for made_folder in sorted(made, reverse=True):
            with suppress(OSError, ValueError):  # not empty, gone, or no path
                Path(made_folder).rmdir()
        self._delete_backups(entries, recorded.values())
        files.write(self._folder / _RECORD, json.dumps(record, indent=2) + "\n")

    def _delete_backups(
        self, entries: Iterable[Mapping[str, Any]], left: Iterable[Mapping[str, Any]]
    ) -> None:
        """Deletes the backups of `entries`, but for those that an entry in `left` has."""
        for backup in {entry["backup"] for entry in entries} - {entry["backup"] for entry in left}:
            if backup is not None:
                (self._folder / backup).unlink(missing_ok=True)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While no other process connects or removes. On Windows there are no such locks."""
        with ExitStack() as stack:
            with suppress(OSError):
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                descriptor = open_lock_file(self._folder / _LOCK)
                stack.callback(os.close, descriptor)
                lock_in_turn(descriptor, wait=True)
            yield

    def is_connected(self, edits: Sequence[Edit]) -> bool:
        """Whether every change is there."""
        with suppress(ConfigurationError):
            return all(edit.is_in(files.read(edit.path)) for edit in edits)
        return False

    def is_recorded(self, agent: str, edits: Sequence[Edit]) -> bool:
        """Whether a file of `edits` was connected, by this version or another, and not removed since."""
        with suppress(ConfigurationError):
            entries = self._entries(agent)
            return any(str(edit.path) in entries and not self._is_shared(edit.path) for edit in edits)
        return False

    def _original(self, agent: str, path: Path, now: str | None, edits: Sequence[Edit]) -> str | None:
        """The file without our part: byte for byte as it was where nobody else has written to it since."""
        entry = self._entry(agent, path)
        if now is None:
            return None
        edits = [edit for edit in edits if not self._is_taken(agent, edit, now)]
        if not edits:
            return now
        is_made = entry is not None and entry["backup"] is None
        before = None if entry is None else self._backup(entry, now, edits)
        if entry is not None and files.digest(now) == entry["digest"] and (is_made or before is not None):
            return before
        after = _without(edits, now, before)
        return None if (is_made or isinstance(edits[0], OwnFile)) and _is_empty(after) else after

    def _backup(self, entry: Mapping[str, Any], now: str, edits: Sequence[Edit]) -> str | None:
        """The file before it was connected; None where there was none, or the backup is gone or another.

        Earlier versions recorded no digest, and two folders could share a backup: it must lead to `now`.
        """
        text = None if entry["backup"] is None else files.read(self._folder / entry["backup"])
        if text is None or files.digest(text) == entry.get("backup_digest"):
            return text
        if "backup_digest" in entry:
            return None
        with suppress(ConfigurationError):
            again = _with(edits, text) or ""
            return text if _without(edits, again, None) == _without(edits, now, None) else None
        return None

    def _is_taken(self, agent: str, edit: Edit, now: str | None) -> bool:
        return now is not None and self._entry(agent, edit.path) is None and edit.is_taken(now)

    def _is_shared(self, path: Path) -> bool:
        """Whether it is a script that every connection of the agent uses."""
        return path.parent == self._folder

    def _entry(self, agent: str, path: Path) -> dict[str, Any] | None:
        return self._entries(agent).get(str(path))

    def _entries(self, agent: str) -> dict[str, dict[str, Any]]:
        """What is recorded of the agent's files, by their paths: of all folders of its configuration."""
        entries: dict[str, dict[str, Any]] = self._record().get(agent, {})
        return entries

    def _record(self) -> dict[str, Any]:
        text = files.read(self._folder / _RECORD)
        with suppress(ValueError, RecursionError):
            record = {} if text is None else json.loads(text)
            if _is_record(record):
                return record
        raise ConfigurationError(f"{self._folder / _RECORD} is no record of connections. Move it away.")


def _is_record(record: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(record, dict) and all(
        isinstance(entries, dict) and all(_is_entry(entry) for entry in entries.values())
        for entries in record.values()
    )


def _is_entry(entry: object) -> bool:
    """Whether it is as connecting writes it, of this version or an earlier one; a backup lies beside it."""
    match entry:
        case {"backup": None | str() as backup, "digest": str(), **others}:
            made = others.get("folders", [])
            return (
                (backup is None or _BACKUP.fullmatch(backup) is not None)
                and isinstance(made, list)
                and all(isinstance(folder, str) for folder in made)
            )
    return False


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Has an error begin with the file that it is about."""
    try:
        yield
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error


def _with(edits: Sequence[Edit], text: str | None) -> str | None:
    for edit in edits:
        text = edit.applied(text)
    return text


def _without(edits: Sequence[Edit], text: str, before: str | None) -> str:
    for edit in reversed(edits):
        text = edit.removed(text, before)
    return text


def _is_gone(path: str) -> bool:
    """Whether neither a file nor a link is there. One that cannot be looked at may be."""
    try:
        Path(path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _delete_empty(folder: Path) -> None:
    """Deletes a folder of programs with what they were compiled to, where nothing else is left in it."""
    if folder.is_symlink():
        return
    for compiled in [*folder.rglob("*.pyc")]:
        if compiled.parent.name == "__pycache__":
            with suppress(OSError):
                compiled.unlink()
    for path in sorted([folder, *folder.rglob("*")], reverse=True):
        with suppress(OSError):  # not empty, or no folder
            path.rmdir()


def _is_empty(text: str) -> bool:
    """Whether it has nothing, or an object without a member or a comment."""
    return "".join(text.split()) in ("", "{}")


def _by_file(edits: Iterable[Edit]) -> list[tuple[Path, list[Edit]]]:
    edits_of: dict[Path, list[Edit]] = {}
    for edit in edits:
        edits_of.setdefault(edit.path, []).append(edit)
    return list(edits_of.items())
