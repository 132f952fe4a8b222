"""Which paths the work is about."""

import re
from typing import Final

_NOT_WORK: Final = re.compile(
    r"(?:^|/)(?:\.git|\.hg|\.svn|node_modules|__pycache__|\.venv|venv|site-packages|\.(?:tox|mypy_cache|pytest_cache"
    r"|ruff_cache|next)|_build|target|dist)(?:/|$)"
)
"""Folders of version control, dependencies and build output."""
_SCRATCH: Final = re.compile(r"/?(?:tmp|var/tmp|private/tmp)/|/dev/")


def is_about_work(path: str) -> bool:
    """False for version control's own files, dependencies, build output and scratch files."""
    return not _NOT_WORK.search(path[:-1]) and not _SCRATCH.match(path)
