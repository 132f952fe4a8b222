"""`coppice list`, `coppice import`, `coppice export` and `coppice forget`."""

import asyncio
import shutil
import sys
from pathlib import Path
from typing import Final

import typer
from rich.text import Text

from coppice.cli.exits import CommandError, UsageError
from coppice.cli.output_file import check_output
from coppice.cli.plain import counted, entries_of, minute_of, plain, plain_line
from coppice.cli.running import serving, workspace_uri
from coppice.cli.sources import STDIN, imported, is_file, located, opened, session_of, temporary_folder
from coppice.cli.terminal import console, print_row, warn, write_bytes, write_json, write_text
from coppice.files.paths import path_of_uri
from coppice.protocol.conversations import Conversation, ExportFormat, ImportFormat, ListParams
from coppice.service.conversations.conversations import conversation_of
from coppice.service.core.settings_source import SettingsSource
from coppice.service.core.workspaces import newest_conversations
from coppice.sources.registry import NAMES
from coppice.store.search.recalling import SHORTEST_PREFIX

_PAGE: Final = 500  # conversations a request: half of what one may ask for
_TITLE_CHARS: Final = 60  # characters: half of a terminal of 120 columns
_COUNT_CHARS: Final = 7  # columns of a number of entries, right-aligned up to 999,999
_STILL_READ: Final = (
    "Another process is using the store. What was deleted can no longer be read through Coppice, but its "
    "text stays in the store's files until all programs that use the store, such as an editor, have ended."
)
_COPY_BYTES: Final = 1 << 16  # bytes a read: what a pipe holds on Linux


async def forget_conversations(
    conversation: str | None, agent: str | None, *, everything: bool, yes: bool, as_json: bool
) -> None:
    """Delete what is named, after a question at a terminal unless `yes`; print how many they were."""
    if sum((conversation is not None, agent is not None, everything)) != 1:
        raise UsageError("Name one thing to forget: a conversation, --source AGENT or --all.")
    if agent is not None and agent not in NAMES:
        raise UsageError(f"{plain_line(agent, 80)!r} is no source; there are {', '.join(NAMES)}.")
    if not yes:
        _confirm(conversation, agent)
    uri, conversation_id = workspace_uri(None), None
    if conversation is not None:
        conversation_id, uri = await asyncio.to_thread(located, conversation, None)
    async with serving(uri) as service:
        forgotten = await service.following.forget(agent=agent, conversation_id=conversation_id)
    if not forgotten.is_erased:
        warn([_STILL_READ])
    if as_json:
        write_json({"forgotten": forgotten.count, "erased": forgotten.is_erased})
        return
    deleted = counted(forgotten.count, "conversation")
    console().print(f"{deleted} deleted. The agents' own files are as they were.")
    if conversation is None:
        console().print(
            f"New sessions of {agent or 'all agents'} will be read, unless sources.agents in your settings "
            f"leaves {'it' if agent else 'them'} out."
        )


def _confirm(conversation: str | None, agent: str | None) -> None:
    if not sys.stdin.isatty():
        raise UsageError("Nothing was deleted. Give --yes: it cannot be undone.")
    what = (
        "this conversation" if conversation is not None else f"all that was stored of {agent or 'all agents'}"
    )
    typer.confirm(f"Delete {what}? It cannot be undone.", abort=True)


async def list_conversations(workspace: Path | None, limit: int, *, everywhere: bool, as_json: bool) -> None:
    """Print the newest conversations of a workspace, or of all."""
    if everywhere:
        records, problems = newest_conversations(SettingsSource().of(), limit)
        warn(problems)
        conversations = [conversation_of(record) for record in records]
    else:
        conversations = await _of_workspace(workspace, limit)
    if as_json:
        write_json({"conversations": conversations})
    else:
        _show(conversations, everywhere=everywhere)


async def _of_workspace(workspace: Path | None, limit: int) -> list[Conversation]:
    conversations: list[Conversation] = []
    cursor: str | None = None
    async with serving(workspace_uri(workspace)) as service:
        while True:
            params = ListParams(limit=min(_PAGE, limit - len(conversations)), cursor=cursor)
            page = await service.conversations.list_all(params)
            conversations += page.conversations
            cursor = page.next_cursor
            if cursor is None or len(conversations) >= limit:
                return conversations


def _show(conversations: list[Conversation], *, everywhere: bool) -> None:
    out = console()
    if not conversations:
        where = "" if everywhere else " for this workspace; `coppice list --all` shows every one"
        out.print(f"No conversations are stored{where}.")
        return
    if not out.is_terminal:
        for conversation in conversations:
            write_text("\t".join(_cells(conversation, everywhere=everywhere)))
        return
    length = distinct_length([conversation.id for conversation in conversations])
    workspace = None
    for conversation in conversations:
        if everywhere and conversation.workspace_uri != workspace:
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
    modified = minute_of(conversation.modified_at)
    cells = [plain_line(conversation.id), modified, f"{conversation.entry_count}", title]
    return [*cells, plain_line(conversation.workspace_uri)] if everywhere else cells


async def import_session(
    source: str, workspace: Path | None, format_: ImportFormat, *, as_json: bool
) -> None:
    """Store a session, and print its new id. Lines that could not be read are warnings."""
    with temporary_folder() as folder:
        file = await session_of(source, folder)
        async with serving(workspace_uri(workspace)) as service:
            result = await imported(service, file, format_)
    warn(result.warnings)
    if as_json:
        write_json(result)
        return
    count = result.conversation.entry_count
    console().print(f"{plain_line(result.conversation.id)}  {entries_of(count)} stored")


async def export_conversation(
    source: str, workspace: Path | None, format_: ExportFormat, output: Path | None, *, force: bool
) -> None:
    """Write a conversation to `output` or standard output. A file is replaced only with `force`."""
    if output is not None:
        check_output(output, source if is_file(source) else STDIN, force=force)
    elif force:
        raise CommandError("--force is about --output; there is no file to replace.")
    async with opened(source, workspace) as conversation:
        with temporary_folder() as folder:
            file = output or folder / "export"
            await conversation.export(file, format_, overwrite=force)
            if output is None:
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
