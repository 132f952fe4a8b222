"""The `.gitignore` files of a workspace, read when they are needed and again when they change."""

import logging
import stat
from dataclasses import replace
from pathlib import Path
from typing import Final

from coppice.files.ignoring import Patterns, patterns, unread
from coppice.files.paths import folders_above
from coppice.operating_system import FILES_HAVE_ONE_CASE
from coppice.regular_file import file_type, read_regular_file

NAME: Final = ".gitignore"

MAX_BYTES: Final = 64 * 1024
"""Of one file. Eight times the longest template of github/gitignore."""

MAX_TOTAL_BYTES: Final = 256 * 1024
"""Of all files of a workspace: matching a path takes time in proportion. Four of the longest files."""

MAX_FOLDERS: Final = 10_000
"""Folders that are remembered, each with a path of some hundred bytes: a megabyte."""

_UNREADABLE: Final = frozenset("\0\N{REPLACEMENT CHARACTER}")
_Stamp = tuple[int, int, int]

_log = logging.getLogger(__name__)


class IgnoreFiles:
    """The ignore files below one workspace folder. Blocks on the disk; for one thread at a time.

    Like git it follows no link: neither one that is an ignore file nor one that is a folder. A file that is
    not read, or only in part, is reported in the log once until it changes.
    """

    def __init__(self, root: str) -> None:
        self._root = Path(root)
        self._read: dict[str, tuple[_Stamp | None, Patterns | None]] = {}
        self._is_folder: dict[str, bool] = {}
        self._bytes: dict[str, int] = {}

    def look_again(self) -> None:
        """From here on each file is checked for changes once more."""
        self._is_folder.clear()
        if len(self._read) > MAX_FOLDERS:
            self._read.clear()
            self._bytes.clear()

    def above(self, path: str) -> list[Patterns]:
        """The patterns of the files in the folders above the workspace's `path`, the outermost first."""
        above: list[Patterns] = []
        for folder in ["", *reversed([*folders_above(path)])]:
            if not self._enters(folder):
                break
            parsed = self._read[folder][1]
            if parsed is not None:
                above.append(parsed)
        return above

    def _enters(self, folder: str) -> bool:
        """Whether `folder` is one and no link. Its ignore file is read when that is asked first."""
        if folder not in self._is_folder:
            is_folder = not folder or file_type(self._root / folder) == stat.S_IFDIR
            self._is_folder[folder] = is_folder
            if is_folder:
                self._look(folder)
        return self._is_folder[folder]

    def _look(self, folder: str) -> None:
        file = self._root / folder / NAME
        now = _stamp(file)
        before, parsed = self._read.get(folder, (None, None))
        if now != before:
            self._bytes.pop(folder, None)
            parsed = self._parsed(file, folder) if now is not None else None
        self._read[folder] = (now, parsed)

    def _parsed(self, file: Path, folder: str) -> Patterns:
        name = f"{folder}/{NAME}" if folder else NAME
        room = MAX_TOTAL_BYTES - sum(self._bytes.values())
        if room <= 0:
            _log.warning("%s is not read: the ignore files of %s are too large.", name, self._root.name)
            return unread(folder)
        try:
            content = read_regular_file(file, min(MAX_BYTES, room))
        except OSError as error:
            _log.warning("%s of %s is not read: %s.", name, self._root.name, error.strerror or error)
            return unread(folder)
        self._bytes[folder] = len(content)
        parsed = parsed_patterns(content, folder)
        if parsed.omitted:
            _log.warning(
                "%s of %s: %s lines are over a limit or no UTF-8.",
                name,
                self._root.name,
                f"{parsed.omitted:,}",
            )
        return parsed


def parsed_patterns(content: bytes, folder: str) -> Patterns:
    """The patterns of an ignore file in `folder`. One that is no UTF-8 has no effect and counts as omitted,
    but for a comment.
    """
    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    lines = [line for line in text.split("\n") if not line.startswith("#")]
    readable = [line for line in lines if not _UNREADABLE & set(line)]
    parsed = patterns(readable, folder, ignores_case=FILES_HAVE_ONE_CASE)
    return replace(parsed, omitted=parsed.omitted + len(lines) - len(readable))


def _stamp(file: Path) -> _Stamp | None:
    """What changes with the file; None where there is none, zeros where that is not to be seen."""
    try:
        status = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return 0, 0, 0
    return status.st_mtime_ns, status.st_size, status.st_ino
