"""What Git excludes below a folder, by the rules of `client-vscode/src/ignoring/`; no Git is run.

Where a rule cannot be read, and so a file may be excluded, it counts as excluded.
"""

import os
import re
from pathlib import Path
from typing import Final

from coppice.files.git_config import git_config_values
from coppice.files.ignoring import Patterns, ignored
from coppice.regular_file import file_type, read_regular_file
from coppice.service.files.ignore_files import MAX_BYTES, IgnoreFiles, parsed_patterns

_MAX_CONFIG_BYTES: Final = 1_000_000
"""Git adds three lines for each branch: those of 10,000 branches."""
_MAX_CONFIGS: Final = 50
"""Configuration files with those they include: a checkout's may include each other."""
_MAX_OWN_FILES: Final = 20
"""A person has one, or one for each of some folders."""
_HEAD: Final = re.compile(rb"ref:\s{0,10}refs/|[0-9a-f]{40}")
"""A branch, or a commit."""
_SYSTEM_CONFIG: Final = Path("/etc/gitconfig")


class GitExcludes:
    """The ignore files of the repository that `folder` lies in, and the user's own. Blocks on the disk.

    `folder` has no link in it. An instance reads each file once.
    """

    def __init__(self, folder: Path) -> None:
        root = repository_of(folder) or folder
        self._below = "" if root == folder else folder.relative_to(root).as_posix()
        self._ignore_files = IgnoreFiles(str(root))
        self._own: list[list[Patterns]] | None
        try:
            directory = _git_directory(root)
            shared = _patterns_in(directory / "info" / "exclude")
            self._own = [[*_patterns_in(file), *shared] for file in _own_files(directory, root)]
        except (OSError, ValueError):
            self._own = None

    def excludes(self, name: str) -> bool:
        """Whether the file `name`, relative to the folder and behind no link, is excluded or may be.

        Of the user's own ignore files any may hold, since some are named under conditions: each is tried.
        """
        if self._own is None:
            return True
        path = f"{self._below}/{name}" if self._below else name
        rules = self._ignore_files.above(path)
        return any(
            any(rule.omitted for rule in all_rules) or ignored(path, all_rules, below=self._below)
            for all_rules in ([*own, *rules] for own in self._own)
        )


def repository_of(folder: Path) -> Path | None:
    """The innermost repository that `folder` lies in."""
    return next((each for each in (folder, *folder.parents) if _is_repository(each / ".git")), None)


def _is_repository(git: Path) -> bool:
    """Whether Git takes it for one: a file that names one, or a folder with what each has."""
    if not os.path.isdir(git):  # noqa: PTH112 - that of a path raises where a folder may not be read
        return file_type(git) is not None
    head = git / "HEAD"
    try:
        names = head.is_symlink() or _HEAD.match(read_regular_file(head, MAX_BYTES)) is not None
    except OSError:
        return False
    return names and all(os.path.isdir(git / name) for name in ("objects", "refs"))  # noqa: PTH112


def _git_directory(root: Path) -> Path:
    """The folder of a repository's own files, which its worktrees share. Raises OSError or ValueError."""
    directory = root / ".git"
    if file_type(directory) is not None and not os.path.isdir(directory):  # noqa: PTH112
        link = read_regular_file(directory, MAX_BYTES).decode()
        directory = _named(link.removeprefix("gitdir:").strip(), root)
    try:
        shared = read_regular_file(directory / "commondir", MAX_BYTES).decode()
    except (FileNotFoundError, NotADirectoryError):
        return directory
    return _named(shared.strip(), directory)


def _own_files(directory: Path, root: Path) -> set[Path]:
    """Where the user's own ignore file may be: by default, and by each `core.excludesFile`. Raises ValueError
    and OSError.
    """
    home = Path.home()
    own = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config", "git")
    files = {own / "ignore"}
    system = Path(os.environ.get("GIT_CONFIG_SYSTEM") or _SYSTEM_CONFIG)
    configs = [system, own / "config", home / ".gitconfig", directory / "config"]
    for number, config in enumerate(configs):
        if number == _MAX_CONFIGS:
            raise ValueError
        try:
            text = read_regular_file(config, _MAX_CONFIG_BYTES, follow_link=True).decode()
        except (FileNotFoundError, NotADirectoryError):
            continue
        for name, value in git_config_values(text):
            if name == "core.excludesfile" and value:
                files.add(_named(value, root))
            elif name in ("include.path", "includeif.path"):
                included = _named(value, config.parent)
                configs += [included] if included not in configs else []
        if len(files) > _MAX_OWN_FILES:
            raise ValueError
    return files


def _named(path: str, base: Path) -> Path:
    """What Git's files name by `path`. Raises ValueError for a name of a host, user or installation."""
    if path.startswith("~/"):
        return Path.home() / path[2:]
    if path.startswith(("~", "%(", "//", "\\\\")):
        raise ValueError
    return base / path


def _patterns_in(file: Path) -> list[Patterns]:
    """The patterns of an ignore file for a whole repository; none where there is no file. Raises OSError."""
    try:
        content = read_regular_file(file, MAX_BYTES, follow_link=True)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [parsed_patterns(content, "")]
