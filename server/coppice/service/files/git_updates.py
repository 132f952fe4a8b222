"""Which of the changes that a watcher saw were made by git when it replaced files of the working tree.

No git command is run. The rule: git writes the files first and the log of HEAD last. So a file belongs to the
last update that the log names if it has not changed since the log was written.
"""

import stat
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from coppice.files.git_log import last_update
from coppice.regular_file import file_type, read_end, read_regular_file
from coppice.tree.entries import FileChange, GitUpdate

MAX_LINE_BYTES: Final = 4_096
"""Of the last line of a log. Two hashes, a name and what was done take some 200."""

MAX_POINTER_BYTES: Final = 4_200
"""Of the file `.git` of a worktree or a submodule: the longest path of Linux and a word."""

MAX_LEVELS: Final = 64
"""Folders above a file that are looked at for `.git`. Real paths have ten."""

_Moved = tuple[GitUpdate, int]
"""An update, and when the log named it, in nanoseconds of the epoch."""


def with_updates(
    changes: Iterable[FileChange], root: str | None
) -> list[tuple[GitUpdate | None, FileChange]]:
    """Each change with the update that made it, None for one that no update made. Reads the disk.

    `root` is the folder that paths are relative to. What an editor reported is never an update's.
    """
    logs = _Logs()
    return [
        (logs.update_of(Path(root or "/", change.path)) if change.source == "watcher" else None, change)
        for change in changes
    ]


class _Logs:
    """The logs of the repositories that files lie in, each read once."""

    def __init__(self) -> None:
        self._type_of = cache(file_type)
        self._moved = cache(_moved)
        self._of_folder = cache(self._innermost)

    def update_of(self, file: Path) -> GitUpdate | None:
        """The update that changed `file` last."""
        moved = self._of_folder(file.parent)
        if moved is None:
            return None
        changed = _last_changed(file)
        return moved[0] if changed is not None and changed <= moved[1] else None

    def _innermost(self, folder: Path) -> _Moved | None:
        """The last update of the innermost repository that holds `folder`."""
        gits = (level / ".git" for level in _with_parents(folder))
        git = next((each for each in gits if self._type_of(each) is not None), None)
        return None if git is None else self._moved(git)


def _with_parents(folder: Path) -> Iterator[Path]:
    yield folder
    yield from list(folder.parents)[:MAX_LEVELS]


def _moved(git: Path) -> _Moved | None:
    """What the log of the repository at `git` says: a folder, or a file that names one."""
    try:
        folder = git if file_type(git) == stat.S_IFDIR else _pointed_to(git)
        logs = folder / "logs"
        if any(file_type(each) != stat.S_IFDIR for each in (folder, logs)):
            return None
        end, written = read_end(logs / "HEAD", MAX_LINE_BYTES)
    except OSError:
        return None
    update = last_update(end)
    return None if update is None else (update, written)


def _pointed_to(git: Path) -> Path:
    """The folder that the file `.git` of a worktree or a submodule names. Raises OSError.

    A network path is refused: to look at it would tell its server who looks.
    """
    content = read_regular_file(git, MAX_POINTER_BYTES).decode("utf-8", "surrogateescape")
    name, _, target = content.strip().partition(": ")
    if name != "gitdir" or not target or target.startswith(("//", "\\")) or "\0" in target:
        raise OSError(0, "it names no folder")
    return git.parent / target


def _last_changed(path: Path) -> int | None:
    """When a file last changed, in nanoseconds of the epoch; for a deleted one, the folder that it was in.

    The time of its inode counts too: a copied or unpacked file keeps the other one.
    """
    for level in _with_parents(path):
        try:
            status = level.lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError):
            return None
        return max(status.st_mtime_ns, status.st_ctime_ns)
    return None
