"""Which paths the work is about, and how they are named."""

import posixpath
from collections.abc import Iterator
from typing import Final

_NOT_WORK: Final = frozenset([
    ".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", "site-packages", ".tox",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".next", "_build", "target", "dist",
])  # fmt: skip
"""Folders of version control, dependencies and build output."""
_SCRATCH: Final = ("/tmp/", "tmp/", "/var/tmp/", "var/tmp/", "/private/tmp/", "private/tmp/", "/dev/")  # noqa: S108


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


def is_about_work(path: str) -> bool:
    """False for version control's own files, dependencies, build output and scratch files."""
    return _NOT_WORK.isdisjoint(path.split("/")[:-1]) and not path.startswith(_SCRATCH)
