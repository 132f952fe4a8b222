"""Paths as Coppice names them: relative to the workspace inside it, absolute outside, `/` between parts."""

import posixpath
import re
from typing import Final
from urllib.parse import unquote, urlsplit

_DRIVE: Final = re.compile(r"^[A-Za-z]:[\\/]")


def normalize_path(path: str, root: str | None) -> str:
    """`path` relative to the folder `root` when it lies inside, else absolute; `.` and `..` are resolved.

    A relative path is taken as relative to `root`. Nothing on disk is looked at: links stay as named.
    """
    plain = _plain(path)
    if root is None:
        return plain
    base = _plain(root).rstrip("/") or "/"
    if not is_absolute(plain):
        plain = posixpath.normpath(posixpath.join(base, plain))
    if plain == base:
        return "."
    prefix = base if base.endswith("/") else f"{base}/"
    return plain.removeprefix(prefix)


def is_absolute(path: str) -> bool:
    return path.startswith("/") or bool(_DRIVE.match(path))


def path_of_uri(uri: str) -> str | None:
    """The path that a `file:` URI names, or None for another kind of URI."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    path = unquote(parts.path)
    if parts.netloc and parts.netloc != "localhost":
        return f"//{parts.netloc}{path}"
    return path[1:] if _DRIVE.match(path[1:]) else path


def _plain(path: str) -> str:
    slashed = path.replace("\\", "/") if _DRIVE.match(path) or "/" not in path else path
    normal = posixpath.normpath(slashed) if slashed else slashed
    return normal[1:] if normal.startswith("//") else normal
