"""The files of a working tree that have changes which no commit took."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from coppice.compaction.text.paths import is_about_work
from coppice.protocol.state import ChangedFile, ChangeKind

MOST_FILES: Final = 500
"""Files that are followed. It bounds the cost of an operation on a folder."""


class Workspace:
    """Names paths relative to the folder `root`; None leaves them as they are written."""

    def __init__(self, root: str | None) -> None:
        self.root = root.rstrip("/") if root else ""
        self.foreign: set[str] = set()
        """Folders of other repositories, as far as commands showed them."""

    def path(self, path: str, directory: str = "") -> str | None:
        """`path`, written in `directory`, relative to the root; None for one outside, or of no work."""
        whole = posixpath.normpath(posixpath.join(self.root or "", directory, path.strip('"')))
        inside = whole.removeprefix(f"{self.root}/") if self.root else whole
        if inside.startswith(("/", "..", "~", "$")) and (self.root or not inside.startswith("/")):
            return "." if whole == self.root else None
        if self.foreign and any(folder in self.foreign for folder in _folders(inside)):
            return None
        return inside if is_about_work(inside) else None


def _folders(path: str) -> Iterator[str]:
    """The path, and the folders that it is in."""
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


class WorkingTree:
    """Follows the changed files. Each version of a file has a number: a commit takes the staged one."""

    def __init__(self, files: Sequence[ChangedFile] = (), tracked: Iterable[str] = ()) -> None:
        self._files = {file.path: file for file in files}
        self._versions: dict[str, int] = {}
        self._staged: dict[str, int] = {}
        self._edits: dict[str, list[tuple[int, int]]] = {}
        self._tracked = set(tracked)
        """Files that git has, as far as a commit or a status showed it."""
        self._absent: set[str] = set()
        """Files that were deleted from git."""
        self._stashes: list[dict[str, ChangedFile]] = []
        self._clock = 0

    @property
    def files(self) -> list[ChangedFile]:
        """The changed files, in the order of their first change."""
        return list(self._files.values())

    @property
    def paths(self) -> list[str]:
        """Their paths."""
        return list(self._files)

    @property
    def clock(self) -> int:
        """The number of changes so far."""
        return self._clock

    def changed_since(self, clock: int) -> list[str]:
        """The paths that were changed after `clock`, the newest last."""
        newest = sorted((version, path) for path, version in self._versions.items() if version > clock)
        return [path for _, path in newest]

    def change(
        self, path: str, entry: str, kind: ChangeKind = "changed", edit: tuple[str, str] | None = None
    ) -> None:
        """A change of one file. An `edit`, the old and the new text, that takes the one before back undoes
        it.
        """
        before = self._files.get(path)
        if before is None and len(self._files) >= MOST_FILES:
            return
        self._clock += 1
        self._versions[path] = self._clock
        edits = self._edits.setdefault(path, [])
        if before is None and kind == "changed" and path in self._absent:
            kind = "created"
        pair = (hash(edit[0]), hash(edit[1])) if edit else (0, self._clock)
        if edit and edits and edits[-1] == pair[::-1]:
            edits.pop()
            if not edits and before is not None and before.kind == "changed":
                del self._files[path]
                return
        else:
            edits.append(pair)
        lasting: ChangeKind = kind if before is None else "created" if before.kind == "created" else "changed"
        self._files[path] = ChangedFile(entry_id=entry, path=path, kind=lasting)

    def delete(self, path: str, entry: str, *, tracked: bool = False) -> None:
        """A file or a folder is gone. What was created and deleted is no change."""
        was_new = path in self._files and self._files[path].kind in ("created", "renamed")
        for each in self._below(path):
            before = self._files.pop(each)
            self._edits.pop(each, None)
            self._versions[each] = self._clock = self._clock + 1
            if before.kind not in ("created", "renamed") or each in self._tracked:
                self._files[each] = ChangedFile(entry_id=entry, path=each, kind="deleted")
        if ((tracked and not was_new) or path in self._tracked) and path not in self._files:
            self._follow([ChangedFile(entry_id=entry, path=path, kind="deleted")])

    def rename(self, old: str, new: str, entry: str, *, tracked: bool = False) -> None:
        """A file has another name: for git the old one is gone and the new one is new."""
        self.delete(old, entry, tracked=tracked)
        self.change(new, entry, "created")

    def stage(self, specs: Sequence[str], *, everything: bool = False, tracked_only: bool = False) -> None:
        """What `git add` with these path specifications takes into the index."""
        for path in self.paths if everything else self._matching(specs):
            if not (tracked_only and self._is_untracked(path)):
                self._staged[path] = self._versions.get(path, 0)

    def unstage(self, specs: Sequence[str]) -> None:
        """What `git reset` or `git restore --staged` takes out of the index; everything without `specs`."""
        for path in self._matching(specs) if specs else list(self._staged):
            self._staged.pop(path, None)

    def commit(self, specs: Sequence[str] = (), *, everything: bool = False) -> list[ChangedFile]:
        """The files that a commit took, which are changed no more.

        Of a file that may be new, `everything` (`git commit -a`) takes it only where it is tracked: it is
        then not known to have changes, and left out.
        """
        if everything:
            taken = [p for p in self.paths if p in self._staged or self._files[p].kind != "created"]
            self._staged.clear()
        else:
            for path in self._matching(specs):
                self._staged[path] = self._versions.get(path, 0)
            taken = [path for path, version in self._staged.items() if version == self._versions.get(path, 0)]
            for path in set(self._staged) - set(taken):
                if path in self._files:
                    self._files[path] = self._files[path].model_copy(update={"kind": "changed"})
            self._staged.clear()
        files = [self._files[path] for path in taken if path in self._files]
        self._tracked.update(file.path for file in files if file.kind != "deleted")
        for file in files:
            self._take(file.path)
        return files

    def followed(self, path: str) -> bool:
        """Whether a change of the file was seen."""
        return path in self._versions

    def bring_back(self, file: ChangedFile, *, staged: bool) -> None:
        """A file of a commit that was taken back has its change again."""
        now = self._files.get(file.path)
        self._absent.discard(file.path)
        if file.kind == "created":
            self._tracked.discard(file.path)
            if now is not None and now.kind == "deleted":
                self._forget(file.path)
                return
            if now is not None:
                self._files[file.path] = now.model_copy(update={"kind": "created"})
        if now is None:
            self._clock += 1
            self._versions[file.path] = self._clock
            self._follow([file])
        if staged:
            self.stage([file.path])

    def note(self, path: str, kind: ChangeKind, entry: str) -> None:
        """A command listed one file among those with changes."""
        if path not in self._files:
            self.change(path, entry, kind)
        elif self._files[path].kind != kind:
            self._files[path] = self._files[path].model_copy(update={"kind": kind})

    def restore(self, specs: Sequence[str]) -> None:
        """What `git restore` takes back: a file is as it is in the index."""
        for path in self._matching(specs):
            if path in self._staged:
                self._versions[path] = self._staged[path]
            elif not self._is_untracked(path):
                self._forget(path)

    def reset_hard(self) -> None:
        """`git reset --hard`: what is not new, or was staged, is as it was committed."""
        self._absent.clear()
        for path in self.paths:
            if self._files[path].kind != "created" or path in self._staged:
                self._forget(path)

    def clean(self) -> None:
        """`git clean`: files that git does not have are gone."""
        for path in self.paths:
            if self._is_untracked(path):
                self._forget(path)

    def stash(self, *, untracked: bool) -> None:
        """`git stash`: changes are put away; new files stay unless `untracked`."""
        taken = [path for path in self.paths if untracked or not self._is_untracked(path)]
        self._stashes.append({path: self._files[path] for path in taken})
        for path in taken:
            self._forget(path)

    def unstash(self, *, keep: bool = False) -> None:
        """`git stash pop`, or `apply` to `keep` the stash."""
        if self._stashes:
            self._follow((self._stashes[-1] if keep else self._stashes.pop()).values())

    def drop_stash(self) -> None:
        """`git stash drop`."""
        self._stashes[-1:] = []

    def show(self, listed: dict[str, ChangeKind], entry: str, folders: Sequence[str] = ()) -> None:
        """All that `git status` listed: nothing else has changes, but files in the new `folders`."""
        for path in self.paths:
            if path not in listed and not path.startswith(tuple(f"{each.rstrip('/')}/" for each in folders)):
                self._take(path)
        for path, kind in listed.items():
            self.note(path, kind, entry)

    def clear(self) -> None:
        """Nothing has changes, or nothing is known of them."""
        for path in self.paths:
            self._take(path)
        self._staged.clear()

    def _is_untracked(self, path: str) -> bool:
        return self._files[path].kind == "created" and path not in self._staged

    def _take(self, path: str) -> None:
        """A commit has the file as it is."""
        if self._files[path].kind == "deleted":
            self._absent.add(path)
        self._forget(path)

    def _forget(self, path: str) -> bool:
        self._edits.pop(path, None)
        self._staged.pop(path, None)
        return self._files.pop(path, None) is not None

    def _follow(self, files: Iterable[ChangedFile]) -> None:
        """Only as many as are followed: each operation on a folder looks at all."""
        for file in files:
            if file.path in self._files or len(self._files) < MOST_FILES:
                self._files[file.path] = file

    def _below(self, path: str) -> list[str]:
        if path in self._files:
            return [path]
        folder = f"{path.rstrip('/')}/"
        return [each for each in self._files if path == "." or each.startswith(folder)]

    def _matching(self, specs: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(path for spec in specs for path in self._below(spec)))
