"""What every summary is made of: the request, its progress, what is computed, and who wrote it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from coppice.compaction.asking.summarizer import Kind, SummaryRequest, WrittenSummary
from coppice.compaction.facts.ledger import LedgerBuilder, brought_up_to_date
from coppice.compaction.file_blocks import FILES_SHARE, file_blocks
from coppice.compaction.writing.branch_files import branch_files_section
from coppice.compaction.writing.document import Parts, computed_parts, narrative_in
from coppice.compaction.writing.state_lines import without_repeats
from coppice.errors import SummaryRejectedError
from coppice.files.ledger import FileLedger
from coppice.protocol.hooks import HookCompaction, HookSummary
from coppice.protocol.ledger import WorkLedger
from coppice.protocol.navigation import BranchFile
from coppice.service.core.worker_process import call_in_process
from coppice.service.window.usage import Counter
from coppice.tree.entries import Entry
from coppice.tree.messages import Message
from coppice.tree.tags import escape_tags
from coppice.tree.view import message_of

_LEAST_FILES: Final = 128  # tokens: four files of a branch, in half of the shortest summary


@dataclass(frozen=True, slots=True)
class SummaryTask:
    """What a summarizer is asked for, a narrative; the files and the ledger of the span, which the entry
    stores; and the computed parts that follow the narrative.
    """

    request: SummaryRequest
    files: FileLedger
    work: WorkLedger
    parts: Parts


def summary_task(
    messages: Sequence[Message],
    files: FileLedger,
    *,
    limit: int,
    counter: Counter,
    instructions: str | None = None,
    kind: Kind = "history",
    work: WorkLedger | None = None,
    kept_entries: Sequence[Entry] = (),
    target: int | None = None,
    references: bool = False,
    root: str | None = None,
    branch_files: Sequence[BranchFile] = (),
) -> SummaryTask:
    """A request whose answer and computed parts together stay within `limit` tokens, and aim at `target`.

    `work` is the ledger of the messages; without one it is computed from them. The state that is shown is as
    of the end of `kept_entries`, what stays in the view. `branch_files` is what a branch left in the files.
    CPU-bound.
    """
    wanted = min(limit, target or limit)
    blocks = _files(files, branch_files, wanted, counter)
    unread = () if work is not None else messages
    kept_messages = [message for entry in kept_entries if (message := message_of(entry)) is not None]
    stored, now, parts = call_in_process(
        _computed,
        _Source(unread, work, kept_entries, root, kind),
        partial(
            computed_parts,
            files=blocks,
            limit=wanted,
            count_tokens=counter.count_text,
            references=references,
        ),
    )
    used = counter.count_text(parts.text)
    request = SummaryRequest(
        history=messages,
        turn_prefix=[],
        kept_messages=kept_messages,
        previous_summary=None,
        instructions=instructions,
        max_tokens=max(1, limit - used),
        count_tokens=counter.count_text,
        modified_files=files.modified_files,
        target_tokens=max(1, target - used) if target else None,
        references=references,
        root=root,
        kind=kind,
        ledger=now,
    )
    return SummaryTask(request, files, stored, parts)


def _files(files: FileLedger, branch_files: Sequence[BranchFile], tokens: int, counter: Counter) -> str:
    room = int(FILES_SHARE * tokens)
    section = branch_files_section(branch_files, max(room, _LEAST_FILES), counter.count_text)
    stated = {file.path for file in branch_files}
    blocks = file_blocks(
        files.read_files,
        [path for path in files.modified_files if path not in stated],
        max_tokens=max(0, room - counter.count_text(section)),
        count_tokens=counter.count_text,
    )
    return "\n\n".join(filter(None, (section, blocks)))


@dataclass(frozen=True, slots=True)
class _Source:
    """What the facts are computed from: the messages, or their ledger."""

    messages: Sequence[Message]
    work: WorkLedger | None
    kept_entries: Sequence[Entry]
    root: str | None
    kind: Kind


def _computed(source: _Source, parts: Callable[..., Parts]) -> tuple[WorkLedger, WorkLedger, Parts]:
    """The ledger to store, the one as of the end of what is kept, and what is shown of them."""
    stored = source.work or LedgerBuilder(root=source.root).add_messages(source.messages).ledger
    now = brought_up_to_date(stored, source.kept_entries, source.root)
    # The requests of a branch have ended with it.
    shown = stored if source.kind == "history" else stored.model_copy(update={"messages": []})
    return stored, now, parts(shown, now.state)


Stage = Callable[[str, int], None]
"""Called with what is being done and how far the whole work is, from 0 to 100."""

_BEGUN: Final = 20  # percent when the summarizer begins, whose part is the longest
_WRITTEN: Final = 85  # percent when it has written; checking and storing follow


def watched(request: SummaryRequest, stage: Stage) -> SummaryRequest:
    """The request, whose progress is the middle part of a job's."""
    stage("Summarizing", _BEGUN)

    def report(doing: str, share: float) -> None:
        stage(doing, _BEGUN + int(share * (_WRITTEN - _BEGUN)))

    return replace(request, report=report)


def with_parts(narrative: str, parts: str) -> str:
    """A summary's document: the narrative, and what is computed."""
    return "\n\n".join(filter(None, (narrative.strip(), without_repeats(parts, narrative))))


def written_by_hook(
    hook: str, given: HookCompaction | HookSummary, request: SummaryRequest
) -> WrittenSummary:
    """A hook's summary, without file blocks of its own and unable to close a tag of ours.

    What the hook wants kept in its entry are an object's properties, or any other JSON under `hookDetails`.
    CPU-bound. Raises SummaryRejectedError when the text is empty or longer than one of ours may be.
    """
    text = call_in_process(_harmless, given.summary)
    if not text:
        raise SummaryRejectedError("The summary is empty.")
    tokens = request.count_tokens(text)
    if tokens > request.max_tokens:
        raise SummaryRejectedError(
            f"The summary has {tokens:,} tokens and {request.max_tokens:,} is the most it may have.",
            summaryTokens=tokens,
            maxTokens=request.max_tokens,
        )
    details = given.details
    if not isinstance(details, dict):
        details = {} if details is None else {"hookDetails": details}
    return WrittenSummary(text, f"hook/{hook}", details=details)


def _harmless(summary: str) -> str:
    return escape_tags(narrative_in(summary)).strip()


def signature(written: WrittenSummary, *, from_hook: bool) -> dict[str, Any]:
    """The properties of an entry that state who wrote its summary: a hook, or the model if one did."""
    if from_hook:
        return {"from_hook": True}
    model = written.details.get("model")
    return {} if model is None else {"model": model}
