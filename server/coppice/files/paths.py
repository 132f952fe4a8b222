"""Paths as Coppice names them: relative to the workspace inside it, absolute outside, `/` between parts."""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final, Generic, TypeVar
from urllib.parse import unquote, urlsplit

T = TypeVar("T")

_DRIVE: Final = re.compile(r"^[A-Za-z]:[\\/]")
_UNPARSED: Final = re.compile(
    r"^[\\/]{2}[?.][\\/](?=[A-Za-z]:[\\/])|^[\\/]{2}[?.][\\/]UNC(?=[\\/])", re.IGNORECASE
)
"""What makes Windows take the rest of a path as it is: `\\\\?\\C:\\a`, and `\\\\?\\UNC\\server\\share\\a`."""


def normalize_path(path: str, root: str | None, aliases: Sequence[str] = ()) -> str:
    """`path` relative to the folder `root` when it lies inside, else absolute; `.` and `..` are resolved.

    A relative path is taken as relative to `root`. `aliases` are other names of the same folder. Nothing on
    disk is looked at: links stay as named.
    """
    if root is None:
        return _plain(path)
    plain = _seen_from(root, path)
    if not is_absolute(plain):
        plain = posixpath.normpath(posixpath.join(_plain(root), plain))
    inside = (relative_to(plain, folder) for folder in (root, *aliases))
    return next((name for name in inside if name is not None), plain)


def relative_to(path: str, folder: str) -> str | None:
    """The absolute `path` as seen from `folder`, `.` for the folder itself, or None where it lies outside.

    Letters compare without case where a drive or a share is named, as that system compares them.
    """
    path, base = _seen_from(folder, path), _plain(folder)
    prefix = base if base.endswith("/") else f"{base}/"
    seen, wanted = (f"{path}/", prefix)
    if _is_of_windows(folder):
        seen, wanted = seen.lower(), wanted.lower()
    if not seen.startswith(wanted):
        return None
    return path[len(prefix) :] or "."


def is_absolute(path: str) -> bool:
    """Whether `path` is absolute on POSIX or begins with a Windows drive."""
    return path.startswith("/") or bool(_DRIVE.match(path))


def folders_above(path: str) -> Iterator[str]:
    """The folders that hold `path` by its name, innermost first."""
    while (cut := path.rfind("/")) > 0:
        path = path[:cut]
        yield path


def is_within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies in it, by its name."""
    return path == folder or path.startswith(f"{folder}/")


class ByPath(dict[str, T], Generic[T]):
    """Values by path. Items are set and deleted one at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._at_or_below: dict[str, dict[str, None]] = {}

    def __setitem__(self, path: str, value: T) -> None:
        if path not in self:
            for above in (path, *folders_above(path)):
                self._at_or_below.setdefault(above, {})[path] = None
        super().__setitem__(path, value)

    def __delitem__(self, path: str) -> None:
        super().__delitem__(path)
        for above in (path, *folders_above(path)):
            del self._at_or_below[above][path]

    def __reduce__(self) -> tuple[Callable[..., "ByPath[T]"], tuple[object, ...]]:
        return _by_path, (dict(self),)

    def at_or_below(self, path: str) -> list[str]:
        """The known paths that are `path`, or lie in it if it is a folder, in the order of their setting."""
        return [*self._at_or_below.get(path, ())]


def _by_path(values: dict[str, T]) -> ByPath[T]:
    made = ByPath[T]()
    for path, value in values.items():
        made[path] = value
    return made


def path_of_uri(uri: str) -> str | None:
    """The path that a `file:` URI names, or None for another kind of URI and for what no file is called."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme != "file" or "\0" in path:
        return None
    if parts.netloc and parts.netloc != "localhost":
        return f"//{unquote(parts.netloc)}{path}"
    if path.startswith("//"):
        path = f"/{path.lstrip('/')}"
    return path[1:] if _DRIVE.match(path[1:]) else path


def _is_of_windows(folder: str) -> bool:
    plain = _plain(folder)
    return plain.startswith("//") or bool(_DRIVE.match(f"{plain}/"))


def _seen_from(folder: str, path: str) -> str:
    """`path` as the system reads it that `folder` is of: `//` begins a share on Windows alone."""
    if _is_of_windows(folder):
        return _plain(path.replace("\\", "/"))
    plain = _plain(path)
    return plain[1:] if plain.startswith("//") else plain


@lru_cache(maxsize=4_096)
def _plain(path: str) -> str:
    if unparsed := _UNPARSED.match(path):
        path = path[unparsed.end() :]
        path = path if _DRIVE.match(path) else path[0] + path
    is_of_windows = _DRIVE.match(path) or path.startswith("\\\\")
    slashed = path.replace("\\", "/") if is_of_windows or "/" not in path else path
    normal = posixpath.normpath(slashed) if slashed else slashed
    return f"{normal[0].upper()}{normal[1:]}" if _DRIVE.match(f"{normal}/") else normal
