"""`coppice list`, `coppice import` and `coppice export`."""

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.text import Text

from coppice.cli.exits import CommandError
from coppice.cli.output_file import check_output
from coppice.cli.plain import plain, plain_line
from coppice.cli.running import serving, workspace_uri
from coppice.cli.sources import STDIN, imported, is_file, opened, read_input, session_file, uri_of
from coppice.cli.terminal import console, print_row, warn, write_bytes, write_json, write_text
from coppice.files.paths import path_of_uri
from coppice.protocol.conversations import (
    Conversation,
    ExportFormat,
    ExportParams,
    ImportFormat,
    ListParams,
)
from coppice.service.conversations.conversations import conversation_of
from coppice.service.core.progress import NoProgress
from coppice.service.core.settings_source import SettingsSource
from coppice.service.core.workspaces import newest_conversations
from coppice.store.recalling import SHORTEST_PREFIX

_PAGE: Final = 500  # conversations a request (guess)
_TITLE_CHARS: Final = 60  # characters (guess)
_TIME_CHARS: Final = 16  # characters of an ISO time up to the minute
_COUNT_CHARS: Final = 7  # columns of a number of entries, right-aligned up to 999,999
_COPY_BYTES: Final = 1 << 16  # bytes a read (guess)


@dataclass(frozen=True)
class ListCommand:
    """`coppice list`: the conversations of a workspace, or of all."""

    workspace: Path | None = None
    everywhere: bool = False
    limit: int = 50
    as_json: bool = False

    async def __call__(self) -> None:
        """Print them, newest first."""
        if self.everywhere:
            records, problems = newest_conversations(SettingsSource().of(), self.limit)
            warn(problems)
            found = [conversation_of(record) for record in records]
        else:
            found = await self._of_workspace()
        if self.as_json:
            listed = [conversation.model_dump(mode="json", by_alias=True) for conversation in found]
            write_json({"conversations": listed})
        else:
            self._show(found)

    async def _of_workspace(self) -> list[Conversation]:
        found: list[Conversation] = []
        cursor: str | None = None
        async with serving(workspace_uri(self.workspace)) as service:
            while True:
                params = ListParams(limit=min(_PAGE, self.limit - len(found)), cursor=cursor)
                page = await service.conversations.list_all(params)
                found += page.conversations
                cursor = page.next_cursor
                if cursor is None or len(found) >= self.limit:
                    return found

    def _show(self, found: list[Conversation]) -> None:
        out = console()
        if not found:
            where = "" if self.everywhere else " for this workspace; `coppice list --all` shows every one"
            out.print(f"No conversations are stored{where}.")
            return
        if not out.is_terminal:
            for conversation in found:
                write_text("\t".join(_cells(conversation, everywhere=self.everywhere)))
            return
        length = distinct_length([conversation.id for conversation in found])
        workspace = None
        for conversation in found:
            if self.everywhere and conversation.workspace_uri != workspace:
                workspace = conversation.workspace_uri
                out.print(Text(plain_line(path_of_uri(workspace) or workspace), style="bold"))
            id_, modified, _, title = _cells(conversation, everywhere=False)
            count = f"{conversation.entry_count:{_COUNT_CHARS},} entries"
            print_row(out, Text.assemble((id_[:length], "cyan"), f"  {modified}  {count}  {title}"))


def distinct_length(ids: list[str]) -> int:
    """How many characters of each id tell the ids apart, at least as many as a command asks for.

    Two workspaces may hold a conversation of the same id.
    """
    distinct, length = len(set(ids)), SHORTEST_PREFIX
    while len({each[:length] for each in ids}) < distinct:
        length += 1
    return length


def _cells(conversation: Conversation, *, everywhere: bool) -> list[str]:
    title = plain_line(conversation.name or conversation.first_message or "", _TITLE_CHARS)
    modified = conversation.modified_at[:_TIME_CHARS].replace("T", " ")
    cells = [plain_line(conversation.id), plain_line(modified), f"{conversation.entry_count}", title]
    return [*cells, plain_line(conversation.workspace_uri)] if everywhere else cells


@dataclass(frozen=True)
class ImportCommand:
    """`coppice import`: store a session file, or what standard input holds."""

    source: str
    workspace: Path | None = None
    format: ImportFormat = "auto"
    as_json: bool = False

    async def __call__(self) -> None:
        """Import it, and print its new id. Lines that could not be read are warnings."""
        with tempfile.TemporaryDirectory(prefix="coppice-", ignore_cleanup_errors=True) as folder:
            file = await read_input(Path(folder)) if self.source == STDIN else session_file(self.source)
            async with serving(workspace_uri(self.workspace)) as service:
                result = await imported(service, file, self.format)
        warn(result.warnings)
        if self.as_json:
            write_json(result.model_dump(mode="json", by_alias=True))
            return
        count = result.conversation.entry_count
        console().print(f"{plain_line(result.conversation.id)}  {count:,} entries stored")


@dataclass(frozen=True)
class ExportCommand:
    """`coppice export`: a conversation as a file, or on standard output."""

    source: str
    format: ExportFormat
    workspace: Path | None = None
    output: Path | None = None
    force: bool = False

    async def __call__(self) -> None:
        """Write it. An existing file is replaced only with `force`."""
        if self.output is not None:
            origin = self.source if is_file(self.source) else STDIN
            check_output(self.output, origin, force=self.force)
        elif self.force:
            raise CommandError("--force is about --output; there is no file to replace.")
        async with opened(self.source, self.workspace) as conversation:
            warn(conversation.warnings)
            with tempfile.TemporaryDirectory(prefix="coppice-", ignore_cleanup_errors=True) as folder:
                file = self.output or Path(folder) / "export"
                params = ExportParams(
                    conversation_id=conversation.id,
                    format=self.format,
                    uri=uri_of(file),
                    overwrite=self.force,
                )
                await conversation.service.portability.export(params, NoProgress())
                if self.output is None:
                    _show_file(file)


def _show_file(file: Path) -> None:
    """The export byte for byte, but harmless where a terminal shows it."""
    if sys.stdout.isatty():
        with file.open(encoding="utf-8", errors="replace") as text:
            for line in text:
                sys.stdout.write(plain(line))
        return
    sys.stdout.flush()
    with file.open("rb") as data:
        shutil.copyfileobj(data, sys.stdout.buffer, _COPY_BYTES)
    write_bytes(b"")
