"""Leaving a branch: what is left, where the leaf goes, and the summary for the branch that is entered."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from coppice.compaction.asking.summarizer import Summarizer, WrittenSummary
from coppice.compaction.facts.ledger import ledger_details
from coppice.compaction.span.branch_budget import within_budget
from coppice.compaction.span.sizes import SUMMARY_SHARE, fitted_sizes
from coppice.compaction.span.speakers import message_with_author
from coppice.errors import SummaryRejectedError
from coppice.protocol.hooks import HookSummary
from coppice.protocol.navigation import BranchFile, NavigateParams
from coppice.recovery.request_size import LEAST_SUMMARY
from coppice.service.compaction.summary_parts import (
    Stage,
    SummaryTask,
    signature,
    summary_task,
    watched,
    with_parts,
    written_by_hook,
)
from coppice.service.compaction.work_ledger import ledger_of_branch
from coppice.service.core.context import now
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.workers import run_long
from coppice.service.window.usage import Counter
from coppice.store.reader import StoreReader
from coppice.store.schema.records import EntryRow, PathEnd
from coppice.tokens.measuring import size_of_message
from coppice.tree.authorship import written_by_user
from coppice.tree.entries import (
    METADATA_TYPES,
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
)
from coppice.tree.ids import new_entry_id
from coppice.tree.messages import CompactionSummaryRoleMessage, Message, UserMessage, text_of

_CONTENT_TYPES: Final = frozenset({"message", "custom_message", "branch_summary", "compaction"})


@dataclass(frozen=True)
class BranchSwitch:
    """A move of the leaf from the end of `path`.

    `ancestor` is the deepest entry that the old leaf and the target share; what follows it on the old
    path is abandoned. `editor_text` is the target's text if a person wrote it.
    """

    path: ConversationPath
    target_id: str
    new_leaf_id: str | None
    editor_text: str | None
    ancestor: PathEnd | None

    @classmethod
    def plan(cls, path: ConversationPath, target_id: str) -> "BranchSwitch":
        """Raises UnknownEntryError. Reads the store."""
        store, conversation_id = path.store, path.conversation.id
        target = store.entry(conversation_id, target_id)
        target_end = store.end(conversation_id, target_id)
        ancestor = (
            store.common_ancestor(path.end, target_end)
            if path.end is not None and target_end is not None
            else None
        )
        text = editable_text(target)
        leaf_id = leaf_at(store, conversation_id, target) if text is None else target.parent_id
        return cls(path, target_id, leaf_id, text, ancestor)

    @property
    def old_leaf_id(self) -> str | None:
        """The leaf that is left; None in an empty conversation."""
        return self.path.leaf_id

    @property
    def first_depth(self) -> int:
        """The depth of the first entry that the switch leaves."""
        return self.ancestor.depth + 1 if self.ancestor is not None else 0

    def rows(self) -> Sequence[EntryRow]:
        """The abandoned entries, oldest first, without their content."""
        end = self.path.end
        if end is None or self.first_depth > end.depth:
            return []
        return self.path.store.rows(end, self.first_depth, end.depth)

    def newest_entries(self) -> list[Entry]:
        """The newest abandoned entries that fit the model's window, oldest first. Reads the store."""
        counter, rows = Counter(self.path.settings), self.rows()
        left = self.path.settings.model.context_window
        first = len(rows)
        while first > 0 and (left := left - counter.tokens(rows[first - 1].size)) >= 0:
            first -= 1
        return self.path.entries(rows[first].depth) if first < len(rows) else []

    def tokens(self) -> int:
        """The size of the abandoned entries."""
        counter = Counter(self.path.settings)
        return sum(counter.tokens(row.size) for row in self.rows())

    def has_content(self) -> bool:
        """Whether anything of the abandoned entries can be summarized."""
        return any(row.type in _CONTENT_TYPES for row in self.rows())


def editable_text(entry: Entry) -> str | None:
    """What can be edited and sent again: what the user wrote in a message of theirs, without what was
    attached, or the text of an extension's message; else None.
    """
    match entry:
        case MessageEntry(message=UserMessage(content=content)):
            text, own = text_of(content), written_by_user(content)
            return text if text.strip() == own else own
        case CustomMessageEntry():
            return text_of(entry.content)
        case _:
            return None


def leaf_at(store: StoreReader, conversation_id: str, entry: Entry) -> str | None:
    """The leaf for whoever goes to `entry`: itself, or for metadata the next entry above that is none."""
    while entry.type in METADATA_TYPES:
        if entry.parent_id is None:
            return None
        entry = store.entry(conversation_id, entry.parent_id)
    return entry.id


async def summarize_branch(
    branch_switch: BranchSwitch,
    summarizer: Summarizer,
    params: NavigateParams,
    stage: Stage,
) -> tuple[BranchSummaryEntry, tuple[str, ...]]:
    """The branch summary, stored nowhere yet, and the warnings of whoever wrote it. Cancellable."""
    stage("Reading the branch", 5)
    task = await run_long(_branch_task, branch_switch, params.branch_files or ())
    request = replace(
        task.request,
        instructions=params.instructions,
        replace_instructions=params.replace_instructions,
    )
    written = await summarizer.summarize(watched(request, stage))
    if not written.text.strip():
        raise SummaryRejectedError("The branch summary came out empty; nothing was changed.")
    stage("Saving", 95)
    return _entry(branch_switch, task, written), written.warnings


def adopt_branch(
    branch_switch: BranchSwitch, files: Sequence[BranchFile], hook: str, given: HookSummary
) -> BranchSummaryEntry:
    """The branch summary that a hook gave, stored nowhere yet. Reads the store.

    Raises SummaryRejectedError when the branch has no messages, and for a text that is empty or too long.
    """
    if not branch_switch.has_content():
        raise SummaryRejectedError("No branch was left.")
    task = _branch_task(branch_switch, files)
    return _entry(branch_switch, task, written_by_hook(hook, given, task.request), from_hook=True)


def _entry(
    branch_switch: BranchSwitch, task: SummaryTask, written: WrittenSummary, *, from_hook: bool = False
) -> BranchSummaryEntry:
    assert branch_switch.old_leaf_id is not None  # noqa: S101 - an empty path has nothing to summarize
    return BranchSummaryEntry(
        id=new_entry_id(),
        parent_id=branch_switch.new_leaf_id,
        timestamp=now(),
        summary=with_parts(written.text, task.parts.files if from_hook else task.parts.text),
        from_id=branch_switch.old_leaf_id,
        details={
            **written.details,
            **task.files.details(),
            "summarizer": written.summarizer,
            "ledger": ledger_details(task.work),
        },
        **signature(written, from_hook=from_hook),
    )


def _branch_task(branch_switch: BranchSwitch, files: Sequence[BranchFile]) -> SummaryTask:
    path, first_depth = branch_switch.path, branch_switch.first_depth
    settings = path.settings
    counter = Counter(settings)
    sizes = fitted_sizes(
        settings.compaction.model_copy(update={"reserve_tokens": settings.branch_summary.reserve_tokens}),
        settings.model.context_window,
    )
    all_messages = map(message_to_summarize, path.newest_first(first_depth))
    chosen = within_budget(
        (message for message in all_messages if message is not None),
        sizes.threshold,
        lambda message: counter.tokens(size_of_message(message)),
    )
    return summary_task(
        chosen,
        path.ledger_of(first_depth),
        limit=min(int(SUMMARY_SHARE * sizes.reserve), max(LEAST_SUMMARY, branch_switch.tokens() // 2)),
        counter=counter,
        kind="branch",
        work=ledger_of_branch(path, first_depth),
        branch_files=files,
    )


def message_to_summarize(entry: Entry) -> Message | None:
    """The message of an entry for a summarizer, which is given compactions too."""
    if isinstance(entry, CompactionEntry):
        return CompactionSummaryRoleMessage(summary=entry.summary, tokens_before=entry.tokens_before)
    return message_with_author(entry)
