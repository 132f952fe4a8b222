"""The `.gitignore` files of a workspace, read where they are needed and again when they change."""

import stat
from pathlib import Path
from typing import Final

from coppice.files.ignoring import Patterns, patterns
from coppice.files.paths import folders_above

NAME: Final = ".gitignore"
LONGEST: Final = 64 * 1024
"""Bytes that are read of one; a checkout is not trusted to stop."""

MOST_FOLDERS: Final = 10_000

_Stamp = tuple[int, int]


class IgnoreFiles:
    """The ignore files below one workspace folder. Blocks on the disk; for one thread at a time.

    Links are not followed, as git does not follow them.
    """

    def __init__(self, root: str) -> None:
        self._root = Path(root)
        self._read: dict[str, tuple[_Stamp | None, Patterns | None]] = {}
        self._looked: set[str] = set()

    def look_again(self) -> None:
        """From here on each file is looked at once more."""
        self._looked.clear()
        if len(self._read) > MOST_FOLDERS:
            self._read.clear()

    def above(self, path: str) -> list[Patterns]:
        """What the files in the folders above the workspace's `path` say, the outermost first."""
        folders = [*folders_above(path), ""]
        return [found for folder in reversed(folders) if (found := self._patterns(folder)) is not None]

    def _patterns(self, folder: str) -> Patterns | None:
        stamp, known = self._read.get(folder, (None, None))
        if folder in self._looked:
            return known
        self._looked.add(folder)
        file = self._root / folder / NAME
        now = _stamp(file)
        if now != stamp:
            known = _read(file, folder) if now is not None else None
        self._read[folder] = (now, known)
        return known


def _stamp(file: Path) -> _Stamp | None:
    try:
        found = file.lstat()
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else None


def _read(file: Path, folder: str) -> Patterns | None:
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            return patterns(lines.read(LONGEST).splitlines(), folder)
    except OSError:
        return None
