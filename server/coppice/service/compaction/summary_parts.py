"""A request to summarize messages apart from any compaction."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from coppice.compaction.file_blocks import FILES_SHARE, file_blocks
from coppice.compaction.summarizer import Kind, SummaryRequest, WrittenSummary
from coppice.compaction.summary_parser import without_file_blocks
from coppice.errors import SummaryRejectedError
from coppice.files.ledger import FileLedger
from coppice.protocol.ledger import WorkLedger
from coppice.service.window.usage import Counter
from coppice.tree.entries import BranchSummaryEntry, CompactionEntry
from coppice.tree.messages import Message
from coppice.tree.tags import escape_tags


def span_request(
    messages: Sequence[Message],
    ledger: FileLedger,
    *,
    limit: int,
    counter: Counter,
    instructions: str | None = None,
    kind: Kind = "history",
    work: WorkLedger | None = None,
) -> tuple[SummaryRequest, str]:
    """The request, and the file blocks to append to its answer; both together stay within `limit` tokens.

    `work` is the ledger of the messages; without one it is computed from them.
    """
    blocks = file_blocks(
        ledger.read_files,
        ledger.modified_files,
        max_tokens=int(FILES_SHARE * limit),
        count_tokens=counter.count_text,
    )
    request = SummaryRequest(
        history=messages,
        turn_prefix=[],
        kept=[],
        previous_summary=None,
        instructions=instructions,
        max_tokens=max(1, limit - counter.count_text(blocks)),
        count_tokens=counter.count_text,
        modified_files=ledger.modified_files,
        kind=kind,
        ledger=work,
    )
    return request, blocks


Stage = Callable[[str, int], None]
"""Called with what is being done and how far the whole work is, from 0 to 100."""

_BEGUN: Final = 20  # percent when the summarizer begins (guess)
_WRITTEN: Final = 85  # percent when it has written (guess)


def watched(request: SummaryRequest, stage: Stage) -> SummaryRequest:
    """The request, whose progress is the middle part of a job's."""
    stage("Summarizing", _BEGUN)

    def report(doing: str, share: float) -> None:
        stage(doing, _BEGUN + int(share * (_WRITTEN - _BEGUN)))

    return replace(request, report=report)


def with_blocks(prose: str, blocks: str) -> str:
    """A summary's text with its file blocks, if there are any."""
    return "\n\n".join(filter(None, (prose.strip(), blocks)))


def hook_signature(hook: str) -> str:
    """The summarizer of a summary that a hook wrote."""
    return f"hook/{hook}"


def hook_details(details: Any) -> dict[str, Any]:
    """What a hook wants kept in its entry: an object's properties, and any other JSON under `hookDetails`."""
    if details is None:
        return {}
    return details if isinstance(details, dict) else {"hookDetails": details}


def given_text(given: str, request: SummaryRequest) -> str:
    """A summary that a hook wrote, without file blocks of its own and unable to close a tag of ours.

    Raises SummaryRejectedError when it is empty or has more tokens than one of ours may have.
    """
    text = escape_tags(without_file_blocks(given)).strip()
    if not text:
        raise SummaryRejectedError("The summary is empty.")
    tokens = request.count_tokens(text)
    if tokens > request.max_tokens:
        raise SummaryRejectedError(
            f"The summary has {tokens:,} tokens and {request.max_tokens:,} is the most it may have.",
            summaryTokens=tokens,
            maxTokens=request.max_tokens,
        )
    return text


Signed = TypeVar("Signed", CompactionEntry, BranchSummaryEntry)


def by_hook(entry: Signed) -> Signed:
    """The entry, marked as holding a hook's summary."""
    return entry.model_copy(update={"from_hook": True})


def signed(entry: Signed, written: WrittenSummary) -> Signed:
    """The entry with the model that wrote its summary, if one did."""
    model = written.details.get("model")
    return entry if model is None else entry.model_copy(update={"model": model})
