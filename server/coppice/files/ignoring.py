"""Which paths a watcher reports for nothing: built in, by the setting `files.ignore`, by `.gitignore` files.

All are patterns as git has them; of several that fit, the last decides, so that `!` takes a path back in.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

BUILT_IN: Final = (
    ".git", ".hg", ".svn", ".jj",
    "node_modules", "bower_components",
    "__pycache__", ".venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis",
    ".gradle", ".terraform", ".next", ".turbo",
    ".DS_Store", "Thumbs.db",
    "*.swp", "*.swx", "*~", "4913", ".#*", "#*#", "*.tmp",
)  # fmt: skip
"""Version control, installed packages, caches, and what editors and systems leave for a moment."""

MOST_PATTERNS: Final = 500
LONGEST_PATTERN: Final = 300
_HARMLESS_STARS: Final = 3
_HARMLESS_FOLDER_STARS: Final = 2
_STARS: Final = re.compile(r"\*+")


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of one folder, by default the workspace itself (`""`)."""

    spec: GitIgnoreSpec
    folder: str = ""

    def verdict(self, path: str) -> bool | None:
        """True to ignore the workspace's `path`, False to take it back in, None where nothing fits."""
        inside = path[len(self.folder) + 1 :] if self.folder else path
        return self.spec.check_file(inside).include


def patterns(lines: Iterable[str], folder: str = "") -> Patterns:
    """The `lines` of an ignore file in `folder`. One that is no pattern, or costs too much, counts as absent.

    A checkout is not trusted: stars that follow each other within a name make matching take the time of
    their power, and no file needs many.
    """
    sane = [line for line in lines if _is_sane(line)][:MOST_PATTERNS]
    return Patterns(_spec(tuple(sane)), folder)


def ignored(path: str, rules: Sequence[Patterns], *, gone: bool = False) -> bool:
    """Whether `rules`, weakest first, leave the workspace's `path` out, or a folder that it lies in.

    What is `gone` may have been a folder.
    """
    fitting = [rule for rule in reversed(rules) if not rule.folder or path.startswith(f"{rule.folder}/")]
    names = (path, f"{path}/") if gone else (path,)
    return any(_decided(name, fitting) for name in names)


def _decided(path: str, strongest_first: Sequence[Patterns]) -> bool:
    verdicts = (rule.verdict(path) for rule in strongest_first)
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _is_sane(line: str) -> bool:
    if len(line) > LONGEST_PATTERN:
        return False
    parts = line.strip().split("/")
    stars = max(len(_STARS.findall(part)) for part in parts)
    if stars > _HARMLESS_STARS or parts.count("**") > _HARMLESS_FOLDER_STARS:
        return False
    try:
        GitIgnoreSpec.from_lines((line,))
    except (GitIgnorePatternError, re.error):
        return False
    return True


@lru_cache(maxsize=64)
def _spec(lines: tuple[str, ...]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(lines)


BUILT_IN_PATTERNS: Final = patterns(BUILT_IN)
