"""Checkouts that try to freeze whoever opens them: a function for each makes it in an empty folder."""

import os
from collections.abc import Callable
from pathlib import Path

STARS = "/".join(["*a*a*"] * 6) + "/*c"


def _settings(content: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / ".coppice").mkdir()
        (folder / ".coppice" / "settings.toml").write_text(content, encoding="utf-8")

    return make


def _settings_link(target: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / ".coppice").mkdir()
        (folder / ".coppice" / "settings.toml").symlink_to(target)

    return make


def _settings_fifo(folder: Path) -> None:
    (folder / ".coppice").mkdir()
    os.mkfifo(folder / ".coppice" / "settings.toml")


def _settings_folder_link(folder: Path) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "settings.toml").write_text("[compaction]\nreserveTokens = 4321\n", encoding="utf-8")
    (folder / ".coppice").symlink_to(elsewhere)


def _ignore(content: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / ".gitignore").write_text(content, encoding="utf-8")

    return make


def _ignore_fifo(folder: Path) -> None:
    os.mkfifo(folder / ".gitignore")


def _ignore_link(folder: Path) -> None:
    (folder / ".gitignore").symlink_to("/dev/zero")


SETTINGS: dict[str, Callable[[Path], None]] = {
    "nested arrays": _settings(f"a = {'[' * 20_000}{']' * 20_000}"),
    "nested tables": _settings("a = " + "{a = " * 8_000),
    "a key of thousands of dots": _settings(".".join(["a"] * 30_000) + " = 1"),
    "a table of thousands of dots": _settings("[" + ".".join(["a"] * 900) + "]\nb = 1"),
    "an integer of 5,000 digits": _settings(f"compaction.reserveTokens = {'9' * 5_000}"),
    "a link to /dev/zero": _settings_link("/dev/zero"),
    "a link to itself": _settings_link("settings.toml"),
    "a FIFO": _settings_fifo,
    "a linked folder": _settings_folder_link,
    "a large file": _settings("#" * 1_000_000),
    "a folder": lambda folder: (folder / ".coppice" / "settings.toml").mkdir(parents=True),
}
"""Each is a problem that is reported."""

PATTERNS: dict[str, Callable[[Path], None]] = {
    "stars in a setting": _settings(f'[files]\nignore = ["{STARS}"]'),
    "stars in .gitignore": _ignore(STARS),
    "many stars": _ignore("\n".join(["*a" * 140 + "b"] * 200)),
    "folders of stars": _ignore("\n".join(["**/a/" * 50 + "b"] * 200)),
    "many sets": _ignore("\n".join(["[a-b][!c]" * 30] * 200)),
    "200,000 patterns": _ignore("\n".join(f"*{number}*" for number in range(200_000))),
    "200,000 short patterns": _ignore("a\n" * 200_000),
    "a FIFO": _ignore_fifo,
    "a link to /dev/zero": _ignore_link,
}
"""Each may only cost what a path of 4,000 characters times its patterns costs."""
