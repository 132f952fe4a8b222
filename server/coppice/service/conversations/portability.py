"""The use cases that bring conversations in and out."""

import errno
import os
import secrets
import stat
import uuid
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from coppice.errors import ImportFailedError, ResultTooLargeError, StorageFailedError
from coppice.files.paths import path_of_uri
from coppice.formats.reading import open_session
from coppice.formats.registry import format_named
from coppice.formats.session import SessionHeader
from coppice.operating_system import create_file
from coppice.protocol.conversations import (
    ExportFormat,
    ExportParams,
    ExportResult,
    ImportParams,
    ImportResult,
)
from coppice.service.conversations.conversations import conversation_of
from coppice.service.conversations.importing import (
    Intake,
    ReadingProgress,
    conversation_of_session,
    short_id,
    short_text,
)
from coppice.service.core.context import Context, now
from coppice.service.core.progress import Progress
from coppice.service.core.thread_work import ThreadWork, run_in_thread
from coppice.store.engines.opened_files import is_opened
from coppice.store.reader import StoreReader
from coppice.store.schema.records import ConversationRecord, NewConversation, PathEnd
from coppice.store.tree import paging
from coppice.tree.entries import Entry

_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What `link` fails with on file systems without hard links."""

_A_PIECE: Final = 500  # entries that are read at once: some hundred kilobytes


def write_export(path: Path, lines: Iterable[str], *, overwrite: bool) -> None:
    """Writes `lines` to `path`, readable by its owner alone. A failure leaves `path` as it was.

    A link is never followed. An existing file is replaced only when `overwrite` is set, and something that
    is no regular file never. Raises StorageFailedError.
    """
    try:
        _refuse_existing(path, overwrite=overwrite)
        temporary = path.with_name(f".coppice-{secrets.token_hex(8)}.tmp")
        try:
            with os.fdopen(create_file(temporary), "w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)
            if overwrite:
                _refuse_existing(path, overwrite=True)
                temporary.replace(path)
            else:
                _put_in_place(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except FileExistsError:
        raise _exists(path) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise StorageFailedError(
            f"The export could not be written ({reason}). Choose a folder you may write to."
        ) from error


def _refuse_existing(path: Path, *, overwrite: bool) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = "a link" if stat.S_ISLNK(mode) else "no regular file"
        raise StorageFailedError(f"{path.name} is {kind}, which is never replaced. Choose another name.")
    if not overwrite:
        raise _exists(path)


def _put_in_place(temporary: Path, path: Path) -> None:
    """Gives the file its name. Raises FileExistsError when another file has it by now."""
    try:
        os.link(temporary, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(create_file(path))
        temporary.replace(path)


def _exists(path: Path) -> StorageFailedError:
    return StorageFailedError(
        f"{path.name} exists already. Choose another name, or ask for it to be replaced (`overwrite`)."
    )


class Portability:
    """Imports session files and exports conversations."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def import_(self, params: ImportParams, progress: Progress) -> ImportResult:
        """The whole session becomes a new conversation, or nothing does; its file is only read."""
        record, warnings = await run_in_thread(partial(self._import, params), progress, title="Importing")
        self._context.announce(record.id, record.leaf_id, "created")
        progress.end(f"{record.entry_count:,} entries")
        return ImportResult(conversation=conversation_of(record), warnings=warnings)

    async def export(self, params: ExportParams, progress: Progress) -> ExportResult:
        """The conversation as a file, or as text: all of one state of it, or an error."""
        result = await run_in_thread(partial(self._export, params), progress, title="Exporting")
        progress.end("Exported")
        return result

    def _import(self, params: ImportParams, thread: ThreadWork) -> tuple[ConversationRecord, list[str]]:
        reading = ReadingProgress(thread)
        reader = open_session(_source(params), params.format, reading.on_read)
        workspace = params.workspace_uri or self._context.stores.default_workspace()
        store = self._context.stores.of_workspace(workspace)
        new = _conversation(reader.header, workspace, params.uri)
        with store.importing(new, modified_at=now()) as writer:
            intake = Intake(store, writer, new, self._context.settings.of(workspace), reading)
            intake.take(reader)
            writer.leaf(short_id(reader.leaf_id))
            thread.finish()
        return store.conversation(new.id), reader.warnings

    def _export(self, params: ExportParams, thread: ThreadWork) -> ExportResult:
        store = self._context.stores.of_conversation(params.conversation_id)
        with store.snapshot() as snapshot:
            lines = _until_cancelled(_lines(snapshot, params.conversation_id, params.format), thread)
            if params.uri is None:
                return ExportResult(content="".join(_of_one_answer(lines)))
            write_export(_path(params.uri, StorageFailedError), lines, overwrite=params.overwrite)
            return ExportResult(uri=params.uri)


def _until_cancelled(lines: Iterable[str], thread: ThreadWork) -> Iterator[str]:
    for line in lines:
        thread.check()
        yield line


def _of_one_answer(lines: Iterable[str]) -> Iterator[str]:
    left = paging.PAGE_CHARS
    for line in lines:
        left -= len(line)
        if left < 0:
            raise ResultTooLargeError(
                f"The export is longer than the {paging.PAGE_CHARS:,} characters that an answer may have. "
                "Name a file with `uri`.",
                limit=paging.PAGE_CHARS,
            )
        yield line


def _lines(source: StoreReader, conversation_id: str, name: ExportFormat) -> Iterator[str]:
    format_ = format_named(name)
    record = source.conversation(conversation_id)
    entries: Iterable[Entry] = source.all_entries(record.id)
    if format_.writes_path:
        end = source.end(record.id)
        entries = [] if end is None else _in_pieces(source, end)
    return format_.write(_header(record), entries, leaf_id=record.leaf_id)


def _in_pieces(source: StoreReader, end: PathEnd) -> Iterator[Entry]:
    for start in range(0, end.depth + 1, _A_PIECE):
        yield from source.entries(end, start, min(start + _A_PIECE - 1, end.depth))


def _source(params: ImportParams) -> Path | str:
    if (params.uri is None) == (params.content is None):
        raise ImportFailedError("Give either `uri`, a file: URI, or `content`, the session's text.")
    return params.content if params.content is not None else _path(params.uri or "", ImportFailedError)


def _path(uri: str, refusal: type[ImportFailedError | StorageFailedError]) -> Path:
    path = path_of_uri(uri)
    if path is None or "\0" in path:
        raise refusal("Only file: URIs can be read and written.")
    if is_opened(Path(path)):
        raise refusal("That file is a conversation store in use. Give the URI of a session file.")
    return Path(path)


def _conversation(header: SessionHeader, workspace_uri: str, uri: str | None) -> NewConversation:
    path = path_of_uri(uri) if uri else None
    origin = {"name": Path(path).name if path else None, "sessionId": short_text(header.session_id)}
    return conversation_of_session(header, uuid.uuid4().hex, workspace_uri, **origin)


def _header(record: ConversationRecord) -> SessionHeader:
    source = record.source or {}
    return SessionHeader(
        format=source.get("format", "coppice"),
        session_id=source.get("sessionId") or record.id,
        name=record.name,
        cwd=source.get("cwd") or path_of_uri(record.workspace_uri),
        created_at=record.created_at,
        extra=source.get("header") or {},
    )
