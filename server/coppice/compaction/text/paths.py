"""Which paths the work is about, and how many of them read in a summary."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

_NOT_WORK: Final = re.compile(
    r"(?:^|/)(?:\.git|\.hg|\.svn|node_modules|__pycache__|\.venv|venv|site-packages|\.(?:tox|mypy_cache|pytest_cache"
    r"|ruff_cache|next)|_build|target|dist)(?:/|$)"
)
"""Folders of version control, dependencies and build output."""
_SCRATCH: Final = re.compile(r"/?(?:tmp|var/tmp|private/tmp)/|/dev/")
_MOST_IN_FOLDER: Final = 12
"""Paths of one folder that are listed before they fold into its name and their count (guess)."""


def is_about_work(path: str) -> bool:
    """False for version control's own files, dependencies, build output and scratch files."""
    return not _NOT_WORK.search(path[:-1]) and not _SCRATCH.match(path)


def folded(paths: Iterable[str], most: int = _MOST_IN_FOLDER) -> list[str]:
    """`paths`, sorted, where many in or below one folder become `folder/ (N files)`."""
    left = sorted(set(paths))
    depth = max((path.count("/") for path in left), default=0)
    while depth and len(left) > most:
        groups: defaultdict[str, list[str]] = defaultdict(list)
        for path in left:
            if path.count("/") >= depth and not path.endswith(" files)"):
                groups[path.rpartition("/")[0]].append(path)
        full = {folder: members for folder, members in groups.items() if len(members) > most}
        gone = {path for members in full.values() for path in members}
        counted = (f"{folder}/ ({len(members)} files)" for folder, members in full.items())
        left = sorted([*(path for path in left if path not in gone), *counted])
        depth -= 1
    return left
