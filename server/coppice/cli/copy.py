"""`coppice copy`: conversations taken from one store to another."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from coppice.cli.exits import CommandError, ExitCode, UsageError
from coppice.cli.progress import watched
from coppice.cli.terminal import console, print_error, warn, write_json
from coppice.service.conversations.store_copying import CopiedConversation, Outcome, Place, StoreCopy
from coppice.service.core.settings_source import SettingsSource
from coppice.settings import Settings, data_directory
from coppice.store.tree.location import canonical_uri

_NOT_COPIED: Final[dict[Outcome, str]] = {
    "behind": "the target lacks its newest {missing:,} entries, and was left as it is",
    "different": "the target has another conversation of this id, and was left as it is",
    "ahead": "the target has more entries than the source",
}
_FAILURES: Final = ("behind", "different")


async def copy_conversations(
    source: str | None, target: str | None, workspace: str | None, *, as_json: bool
) -> ExitCode:
    """Copy, and report what was left. FAILED where a conversation could not be copied.

    `source` and `target` are URLs or folders; without one, what the settings name is meant.
    """
    if source is None and target is None:
        raise UsageError("Name what to copy from with --from, or where to with --to.")
    settings = SettingsSource().of()
    copying = StoreCopy(
        _place(source, settings, must_exist=True),
        _place(target, settings, must_exist=False),
        None if workspace is None else _workspace(workspace),
    )
    work = asyncio.create_task(asyncio.to_thread(lambda: list(copying.run(watched(console(stderr=True))))))
    try:
        done = await asyncio.shield(work)
    except asyncio.CancelledError:
        copying.stop()
        done = await work
        print_error(f"coppice: interrupted; {_counted(done)}. Give the command again to go on.")
        return ExitCode.INTERRUPTED
    if as_json:
        write_json({"conversations": [_to_json(each) for each in done]})
    else:
        warn(
            f"{each.id}: {_NOT_COPIED[each.outcome].format(missing=each.missing)}"
            for each in done
            if each.outcome in _NOT_COPIED
        )
        console().print(_counted(done))
    return ExitCode.FAILED if any(each.outcome in _FAILURES for each in done) else ExitCode.OK


def _place(text: str | None, settings: Settings, *, must_exist: bool) -> Place:
    if text is None:
        url = settings.storage.url
        return Place(url=url) if url is not None else Place(folder=data_directory(settings))
    if "://" in text:
        return Place(url=text)
    folder = Path(text).expanduser().absolute()
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder} is a file; name its folder, or the store as sqlite:///{folder}.")
    if must_exist and not folder.exists():
        raise CommandError(f"There is no folder {folder}.")
    return Place(folder=folder)


def _workspace(text: str) -> str:
    """A URI as it is, a folder as its URI; the folder need not be on this machine."""
    return canonical_uri(text) if ":" in text else Path(text).absolute().resolve().as_uri()


def _counted(done: Iterable[CopiedConversation]) -> str:
    counts = Counter(each.outcome for each in done)
    there = counts["same"] + counts["ahead"]
    left = counts["behind"] + counts["different"]
    more = f", {left:,} were left as they are" if left else ""
    return f"{counts['copied']:,} conversations copied, {there:,} were there already{more}"


def _to_json(each: CopiedConversation) -> dict[str, Any]:
    return {
        "id": each.id,
        "workspaceUri": each.workspace_uri,
        "outcome": each.outcome,
        "entryCount": each.entry_count,
        "missing": each.missing,
    }
