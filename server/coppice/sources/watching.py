"""Which files below some folders are new or have changed since the last look."""

import os
import time
from collections.abc import Callable, Iterator
from typing import Final

SETTLED_SECONDS: Final = 2.0
"""A folder that changed so shortly before it was listed may change again without another time of change: the
clock of FAT has steps of two seconds.
"""

_UNLISTED: Final = -1
"""In place of a folder's time of change."""

_UNSEEN: Final = (0, 0, 0)


class FolderWatch:
    """The files below `folders` whose names are `wanted`, at most `most` of them, `depth` folders deep.

    A look costs a status of each folder and file; a folder is listed only when its time of change is another.
    Links are not followed. What cannot be read is not there.
    """

    def __init__(self, folders: list[str], wanted: Callable[[str], object], depth: int, most: int) -> None:
        self._wanted = wanted
        self._most = most
        self._roots = dict.fromkeys(folders, depth)
        self._folders = dict.fromkeys(folders, (_UNLISTED, depth))
        self._files: dict[str, tuple[int, int, int]] = {}
        self._ignored: set[str] = set()

    def changed(self) -> Iterator[tuple[str, os.stat_result]]:
        """At the first look all files that are not empty, then those that are new or have changed."""
        self._list_changed()
        for path, before in [*self._files.items()]:
            try:
                status = os.stat(path)  # noqa: PTH116 - there are thousands, and a Path costs more
            except OSError:
                del self._files[path]
                continue
            now = (status.st_size, status.st_mtime_ns, status.st_ino)
            if now != before:
                self._files[path] = now
                if status.st_size:
                    yield path, status

    def ignore(self, path: str) -> None:
        """Looks at a file no more."""
        self._files.pop(path, None)
        self._ignored.add(path)

    def _list_changed(self) -> None:
        left = [*self._folders.items()]
        while left:
            folder, (listed_at, depth) = left.pop()
            try:
                status = os.stat(folder)  # noqa: PTH116 - as above
                if status.st_mtime_ns == listed_at:
                    continue
                is_settled = time.time() - status.st_mtime > SETTLED_SECONDS
                self._folders[folder] = (status.st_mtime_ns if is_settled else _UNLISTED, depth)
                left += self._new_folders(folder, depth)
            except OSError:
                if folder not in self._roots:
                    self._folders.pop(folder, None)

    def _new_folders(self, folder: str, depth: int) -> list[tuple[str, tuple[int, int]]]:
        """Takes the files of a folder up; the folders in it that are not watched yet."""
        new: dict[str, tuple[int, int]] = {}
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if depth > 0 and entry.path not in self._folders:
                        new[entry.path] = (_UNLISTED, depth - 1)
                elif self._is_wanted(entry):
                    self._files.setdefault(entry.path, _UNSEEN)
        self._folders |= new
        return [*new.items()]

    def _is_wanted(self, entry: os.DirEntry[str]) -> bool:
        if not self._wanted(entry.name) or entry.path in self._ignored or len(self._files) >= self._most:
            return False
        try:
            entry.path.encode()
        except UnicodeEncodeError:
            return False
        return entry.is_file(follow_symlinks=False)
