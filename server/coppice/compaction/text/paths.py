"""Which paths the work is about."""

from typing import Final

_NOT_WORK: Final = frozenset([
    ".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", "site-packages", ".tox",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".next", "_build", "target", "dist",
])  # fmt: skip
"""Folders of version control, dependencies and build output."""
_SCRATCH: Final = ("/tmp/", "tmp/", "/var/tmp/", "var/tmp/", "/private/tmp/", "private/tmp/", "/dev/")  # noqa: S108


def is_about_work(path: str) -> bool:
    """False for version control's own files, dependencies, build output and scratch files."""
    return _NOT_WORK.isdisjoint(path.split("/")[:-1]) and not path.startswith(_SCRATCH)
