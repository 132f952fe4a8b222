"""What SOURCE names: a session file, standard input, or a stored conversation."""

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from coppice.cli.exits import CommandError
from coppice.cli.plain import plain_line
from coppice.cli.progress import DelayedProgress, watched
from coppice.cli.running import serving, workspace_uri
from coppice.cli.terminal import console, warn
from coppice.errors import UnknownConversationError
from coppice.operating_system import open_without_waiting
from coppice.protocol.conversations import (
    Conversation,
    ExportFormat,
    ExportParams,
    GetParams,
    ImportFormat,
    ImportParams,
    ImportResult,
)
from coppice.service.core.progress import NoProgress
from coppice.service.core.settings_source import SettingsSource
from coppice.service.core.workspaces import conversations_named, workspace_of
from coppice.service.service import Service
from coppice.settings import Settings, StorageSettings

STDIN: Final = "-"
_CHUNK_BYTES: Final = 1 << 20  # bytes a read: a cancel is noticed between two
MAX_INPUT_BYTES: Final = 1 << 32
"""Of standard input, which may have no end. Half of the largest session file."""


@dataclass(frozen=True)
class Opened:
    """A conversation to work on; one that is not `stored` was read from a session and ends with the command.

    `name` is for a person.
    """

    service: Service
    conversation: Conversation
    name: str
    stored: bool
    warnings: list[str]

    @property
    def id(self) -> str:
        """The conversation's id."""
        return self.conversation.id

    async def export(self, file: Path, format_: ExportFormat, *, overwrite: bool) -> None:
        """Write the conversation to `file`."""
        params = ExportParams(conversation_id=self.id, format=format_, uri=_uri_of(file), overwrite=overwrite)
        await self.service.portability.export(params, NoProgress())


@dataclass
class ScratchSettings(SettingsSource):
    """The user's settings, but with conversations kept in `folder`."""

    folder: Path = field(kw_only=True)

    @override
    def explained(
        self, workspace_uri: str | None = None, request: Mapping[str, Any] | None = None
    ) -> tuple[Settings, list[str]]:
        settings, problems = super().explained(workspace_uri, request)
        return settings.model_copy(update={"storage": StorageSettings(directory=str(self.folder))}), problems


@contextlib.asynccontextmanager
async def opened(
    source: str,
    workspace: Path | None,
    *,
    client_settings: Mapping[str, Any] | None = None,
) -> AsyncIterator[Opened]:
    """The conversation that `source` names; the lines of a session that could not be read are reported.

    A session is taken into a store that ends with the command.
    """
    if not is_file(source):
        conversation_id, uri = await asyncio.to_thread(located, source, workspace)
        async with serving(uri, client_settings) as service:
            yield await _stored(service, conversation_id)
        return
    uri = workspace_uri(workspace)
    with temporary_folder() as folder:
        file = await session_of(source, folder)
        async with serving(uri, client_settings, ScratchSettings(folder=folder / "store")) as service:
            result = await imported(service, file)
            warn(result.warnings)
            name = "standard input" if source == STDIN else file.name
            yield Opened(service, result.conversation, name, stored=False, warnings=result.warnings)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that goes with the command."""
    with tempfile.TemporaryDirectory(prefix="coppice-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def located(name: str, workspace: Path | None) -> tuple[str, str]:
    """The id and the workspace's URI of the stored conversation that `name` is the id of, or its beginning.

    Without `workspace` it may be in any. Where there is none, `name` and the URI of the folder. Raises
    CommandError where several begin so.
    """
    folder = workspace_uri(workspace)
    settings = SettingsSource().of()
    home = workspace_of(settings, name)
    if home is not None:
        return name, home if workspace is None else folder
    matches = conversations_named(settings, name)
    if workspace is not None:
        matches = [each for each in matches if each.workspace_uri == folder]
    if len(matches) > 1:
        raise CommandError(
            f"{len(matches):,} stored conversations have ids that begin with {plain_line(name, 80)!r}; "
            "give more of the id."
        )
    return (matches[0].id, matches[0].workspace_uri) if matches else (name, folder)


async def imported(service: Service, file: Path, format_: ImportFormat = "auto") -> ImportResult:
    """`file` as a new conversation of the service's workspace, with progress when that takes long.

    There is no limit of time. Cancelled, it ends within a second and nothing is stored.
    """
    params = ImportParams(uri=_uri_of(file), format=format_)
    return await service.portability.import_(params, DelayedProgress(watched(console(stderr=True))))


def is_file(source: str) -> bool:
    """Whether `source` names a session file: it exists, or is written like a path."""
    if source == STDIN or not {os.sep, os.altsep}.isdisjoint(source) or source.startswith(("~", ".")):
        return True
    return Path(source).suffix.lower() in {".jsonl", ".json", ".ndjson"} or os.path.lexists(source)


async def session_of(source: str, folder: Path) -> Path:
    """The session file `source`, or standard input as a file in `folder`.

    Raises CommandError in a sentence when it cannot be read.
    """
    return await _read_input(folder) if source == STDIN else _session_file(source)


def _session_file(source: str) -> Path:
    if not source:
        raise CommandError("The name of the session file is empty.")
    file = Path(source)
    shown = plain_line(source, 200)
    try:
        with open(file, "rb", opener=open_without_waiting) as readable:
            if file.is_file():
                readable.read(1)
                return file
    except FileNotFoundError:
        raise CommandError(f"There is no file {shown}.") from None
    except IsADirectoryError:
        raise CommandError(f"{shown} is a folder; name a session file in it.") from None
    except PermissionError:
        raise CommandError(f"{shown} cannot be read: you have no permission to.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise CommandError(f"{shown} cannot be read ({reason}).") from None
    raise CommandError(f"{shown} is no regular file; use - to read a session from standard input.")


async def _read_input(folder: Path) -> Path:
    """Can be cancelled while nothing comes."""
    file = folder / "input.jsonl"

    def copy() -> None:
        size = 0
        with file.open("wb") as written:
            while chunk := sys.stdin.buffer.read(_CHUNK_BYTES):
                size += len(chunk)
                if b"\0" in chunk:
                    raise CommandError("Standard input is binary data, not a session.")
                if size > MAX_INPUT_BYTES:
                    raise CommandError(
                        f"Standard input is longer than {MAX_INPUT_BYTES:,} bytes; name a file instead."
                    )
                written.write(chunk)

    await asyncio.to_thread(copy)
    return file


def _uri_of(file: Path) -> str:
    """Links are not resolved."""
    return file.absolute().as_uri()


async def _stored(service: Service, conversation_id: str) -> Opened:
    try:
        stored = await service.conversations.get(GetParams(conversation_id=conversation_id))
    except UnknownConversationError:
        raise CommandError(
            f"There is neither a file nor a stored conversation {plain_line(conversation_id, 80)!r}; "
            "`coppice list --all` shows what is stored."
        ) from None
    name = plain_line(stored.conversation.name or conversation_id, 60)
    return Opened(service, stored.conversation, name, stored=True, warnings=[])
