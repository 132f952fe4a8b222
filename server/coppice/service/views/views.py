"""The use cases that show what a model sees, how big that is, and what it was about."""

from collections.abc import Sequence
from typing import Any

from coppice.compaction.facts.ledger import bounded
from coppice.compaction.span.serialization import transcript
from coppice.files.ledger import FileHistory
from coppice.files.ledger import GitUpdateRecord as KnownUpdate
from coppice.protocol.ledger import LedgerParams, LedgerResult, WorkLedger
from coppice.protocol.trees import (
    ContextFormat,
    ContextParams,
    ContextResult,
    FileRecord,
    FilesParams,
    FilesResult,
    GitUpdateRecord,
)
from coppice.protocol.usage import UsageParams, UsageState
from coppice.service.compaction.work_ledger import first_read, ledger_until
from coppice.service.core.context import Context
from coppice.service.core.listed_files import ListedFiles
from coppice.service.core.progress import Progress
from coppice.service.core.summarizers import in_process
from coppice.service.core.thread_work import ThreadWork, run_in_thread
from coppice.service.core.workers import run_long, run_read
from coppice.service.recovery.truncating import fitted_view
from coppice.service.views.files_at_hand import files_at_hand
from coppice.service.window.breakdown import breakdown_of, heaviest_of
from coppice.service.window.spending import spent_on
from coppice.service.window.usage import (
    Counter,
    context_tokens,
    counted_tokens,
    overhead_of,
    usage_state,
)
from coppice.store.tree.paging import fitting
from coppice.tokens.measuring import size_of_entry
from coppice.tree.rendering.anthropic import anthropic_request
from coppice.tree.rendering.openai import openai_messages
from coppice.tree.view import ViewMessage, message_of


class Views:
    """The use cases `coppice/context`, `coppice/usage`, `coppice/files` and `coppice/ledger`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def context(self, params: ContextParams) -> ContextResult:
        """What a model is sent for a path, in the format that is asked for. Raises WorkTooLongError."""
        run = run_long if params.files_at_hand else run_read
        result, view = await run(self._view, params)
        if params.format != "text":
            return result
        text = await in_process(transcript, [item.message for item in view])
        return result.model_copy(update={"messages": text})

    async def usage(self, params: UsageParams) -> UsageState:
        """How full the window is, with the parts that are sent besides the view."""

        def read() -> UsageState:
            path = self._context.path(params.conversation_id)
            counter = Counter(path.settings)
            overhead = overhead_of(counter, params.system, params.tools, params.skills)
            usage = usage_state(path, params.context_window, overhead.total)
            if params.spent:
                unused = self._context.unused_summaries.get(params.conversation_id, ())
                spent = spent_on(path.entries_of_all_branches(), path.ids(), unused)
                usage = usage.model_copy(update={"spent": spent})
            if not params.detail:
                return usage
            view = path.view()
            pinned = [entry.id for entry in path.pinned()]
            return usage.model_copy(
                update={
                    "breakdown": breakdown_of(view, counter, path.compaction, pinned, overhead),
                    "heaviest": heaviest_of(view, counter),
                    "overhead": list(overhead.parts) or None,
                }
            )

        return await run_read(read)

    async def files(self, params: FilesParams) -> FilesResult:
        """A page of the files of a path, read and changed. Raises WorkTooLongError."""

        def read() -> FilesResult:
            ledger = self._context.path(params.conversation_id, params.leaf_id).ledger()
            left = sorted(path for path in ledger.histories if params.cursor is None or path > params.cursor)
            here = left[: fitting(_chars(_record(ledger.histories[path])) for path in left)]
            listed = frozenset(here)
            updates = [_git_update(update) for update in ledger.git_updates] if params.cursor is None else []
            return FilesResult(
                read_files=[path for path in ledger.read_files if path in listed],
                modified_files=[path for path in ledger.modified_files if path in listed],
                deleted_files=[path for path in ledger.deleted_files if path in listed],
                records=[_record(each) for each in ledger.histories.values() if each.path in listed],
                git_updates=updates[-fitting(map(_chars, reversed(updates))) :] or None,
                next_cursor=here[-1] if len(here) < len(left) else None,
            )

        return await run_long(read)

    async def ledger(self, params: LedgerParams, progress: Progress | None = None) -> LedgerResult:
        """Continues from the ledger of the last compaction; before the first it reads the path."""

        def read(thread: ThreadWork) -> LedgerResult:
            path = self._context.path(params.conversation_id, params.leaf_id)
            work, not_read = WorkLedger(), 0
            last = path.end.depth if path.end is not None else 0
            if path.end is not None:
                first = first_read(path, last)
                thread.report(f"Reading {last + 1 - first:,} entries", 5)
                work = ledger_until(path, last)
                not_read = first - path.first_depth
            thread.report("Reading the files", 50)
            ledger = path.ledger()
            files = ListedFiles.of(ledger.read_files, ledger.modified_files, ledger.deleted_files)
            return LedgerResult(
                leaf_id=path.leaf_id,
                ledger=bounded(work),
                read_files=files.read,
                modified_files=files.modified,
                deleted_files=files.deleted,
                not_read=not_read or None,
                files_left_out=files.left_out or None,
            )

        result = await run_in_thread(read, progress, title="Computing the facts")
        if progress is not None:
            progress.end("Done")
        return result

    def _view(self, params: ContextParams) -> tuple[ContextResult, Sequence[ViewMessage]]:
        path = self._context.path(params.conversation_id, params.leaf_id)
        counter = Counter(path.settings)
        tokens, source = context_tokens(path, counter)
        if params.context_window is None:
            view = path.view()
        else:
            view, saved = fitted_view(path, params.context_window)
            if saved:
                tokens, source = counted_tokens(path, counter) - saved, counter.source
        if params.files_at_hand:
            window = params.context_window or path.settings.model.context_window
            entry = files_at_hand(path, window, overhead_tokens=0)
            if entry is not None and (message := message_of(entry)) is not None:
                view = [*view, ViewMessage(None, message)]
                tokens += counter.tokens(size_of_entry(entry))
        messages, system = _rendered(view, params.format)
        compaction = path.compaction
        result = ContextResult(
            messages=messages,
            system=system,
            tokens=tokens,
            token_source=source,
            compaction_id=compaction.entry_id if compaction else None,
            first_kept_entry_id=compaction.first_kept_entry_id if compaction else None,
        )
        return result, view


def _rendered(view: Sequence[ViewMessage], format_: ContextFormat) -> tuple[list[Any] | str, str | None]:
    """The view's messages in a format, and the system prompt where the format keeps it apart. None as text,
    which looks for patterns in them: that is done in another process.
    """
    match format_:
        case "openai":
            return openai_messages(view), None
        case "anthropic":
            request = anthropic_request(view)
            return request.messages, request.system
        case "text":
            return "", None
        case "entries":
            return [_entry_message(item) for item in view], None


def _entry_message(item: ViewMessage) -> dict[str, Any]:
    """A message with the id of its entry; one that no entry holds has none."""
    message = item.message.model_dump(mode="json", by_alias=True)
    return message if item.entry_id is None else {"entryId": item.entry_id, **message}


def _record(history: FileHistory) -> FileRecord:
    return FileRecord(
        path=history.path,
        reads=history.reads,
        writes=history.writes,
        sources=list(history.sources),
        last_entry_id=history.last_entry_id,
        renamed_from=history.renamed_from,
        created=history.created or None,
    )


def _chars(part: FileRecord | GitUpdateRecord) -> int:
    """Characters of JSON. A path is counted twice: it is in one of the lists too."""
    return len(part.model_dump_json(by_alias=True)) + (len(part.path) if isinstance(part, FileRecord) else 0)


def _git_update(record: KnownUpdate) -> GitUpdateRecord:
    return GitUpdateRecord(
        action=record.update.action,
        target=record.update.target,
        commit=record.update.commit,
        files=record.files,
        last_entry_id=record.last_entry_id,
    )
