"""Messages that append to a conversation tree and look at it."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, PrivateAttr, model_validator

from coppice.protocol.base import ConversationParams, WireModel
from coppice.protocol.conversations import Limit
from coppice.protocol.usage import TokenSource, UsageState
from coppice.settings import Tokens
from coppice.tree.entries import (
    ENTRY,
    MAX_ID_CHARS,
    MAX_TIME_CHARS,
    Entry,
    GitAction,
)
from coppice.tree.messages import DataModel

EntryType = Literal[
    "message",
    "compaction",
    "branch_summary",
    "context_edit",
    "custom",
    "custom_message",
    "model_change",
    "thinking_level_change",
    "label",
    "pin",
    "session_info",
    "file_activity",
]


APPENDED_BY: Final = {
    "label": "coppice/label",
    "pin": "coppice/pin",
    "session_info": "coppice/conversation/rename",
}
"""The types of entries that have a method of their own, which checks what they say."""


class NewEntry(DataModel):
    """An entry to append: an `Entry` whose `id` and `timestamp` may be left to the server.

    Labels, pins and names have methods of their own and are refused.

    Its `parentId` may be absent and is ignored: the first entry follows the params' `parentId`, each other
    one the entry before it.
    """

    type: EntryType
    id: Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS)] | None = None
    timestamp: Annotated[str, Field(max_length=MAX_TIME_CHARS)] | None = None
    _entry: Entry = PrivateAttr()

    @model_validator(mode="wrap")
    @classmethod
    def _is_an_entry(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            return handler(value)
        if (method := APPENDED_BY.get(value["type"])) is not None:
            raise ValueError(f"an entry of the type {value['type']} is appended by {method}")
        entry = ENTRY.validate_python({**value, "id": "new", "parentId": None, "timestamp": ""})
        new = handler(value)
        new._entry = entry  # noqa: SLF001 - of this very class
        return new

    def completed(self, new_id: str, at: str) -> Entry:
        """The entry, with the id and the time that it has to get where it came without."""
        values = {"id": self.id or new_id, "timestamp": self.timestamp or at}
        return self._entry.model_copy(update=values)


class AppendParams(ConversationParams):
    """`parentId` defaults to the leaf; null starts a new root. All entries are stored, or none.

    With `expectedLeafId` the append is refused (`stale-leaf`) when the leaf is another by now.
    """

    entries: Annotated[list[NewEntry], Field(min_length=1)]
    parent_id: str | None = None
    expected_leaf_id: str | None = None


class AppendResult(WireModel):
    """The ids of the entries, in their order, and the leaf and the usage after them."""

    entry_ids: list[str]
    leaf_id: str | None
    usage: UsageState


class EntriesParams(ConversationParams):
    """A page of the path to `leafId` (default: the current leaf), from the one after the entry `after`.

    With `backward` the page that ends in front of the entry `before`, by default the last one. A page has
    less than `limit` entries where they would exceed 4,194,304 characters of JSON, but one at least.
    """

    leaf_id: str | None = None
    after: str | None = None
    backward: bool = False
    before: str | None = None
    limit: Limit = 100

    @model_validator(mode="after")
    def _goes_one_way(self) -> Self:
        if (self.after if self.backward else self.before) is not None:
            raise ValueError("`after` is for reading forward, `before` for reading with `backward`")
        return self


class AttachedRange(WireModel):
    """A part of a user's message that an application put into it: a file, a selection, a reminder.

    `block` counts the texts of the message from 0; a content that is one string is the first. The part goes
    from `start` to before `end`, in UTF-16 code units.
    """

    block: int
    start: int
    end: int


class EntriesResult(WireModel):
    """Root first, whichever way was read. `nextAfter` or `nextBefore` is present while there is more.

    `attached` has, by the id of an entry, what of a user's message is not the user's, where there is some.
    """

    entries: list[Entry]
    attached: dict[str, list[AttachedRange]] | None = None
    next_after: str | None = None
    next_before: str | None = None


class TreeParams(ConversationParams):
    """A page of the tree, after the node `after`. Mode `branches` folds unbranched runs into one node."""

    mode: Literal["all", "branches"] = "all"
    limit: Limit = 100
    after: str | None = None


class TreeNode(WireModel):
    """A node of the listing. In mode `branches` it represents `runLength` entries that end with `id`.

    `parentId` is the node above: the parent entry in mode `all`, the end of the run above in mode
    `branches`.
    """

    id: str
    parent_id: str | None
    type: EntryType
    role: str | None = None
    preview: str
    label: str | None = None
    pinned: bool | None = None
    timestamp: str
    tokens: int
    child_count: int
    on_current_path: bool
    run_length: int | None = None


class TreeResult(WireModel):
    """Parents come before their children. `nextAfter` is present while there is more."""

    nodes: list[TreeNode]
    leaf_id: str | None
    next_after: str | None = None


ContextFormat = Literal["entries", "openai", "anthropic", "text"]


class ContextParams(ConversationParams):
    """For a model of that `contextWindow` tool results that are too long, alone or together, are cut.

    Nothing is stored of that. `coppice/truncateToolResults` cuts them for good, on a new branch. The format
    `text` is a transcript for people: nothing in it is escaped for a program that puts it between tags.
    With `filesAtHand` the messages end with one that has the current text of up to three files that tools
    changed on the path, as a turn of the server's shows them after a compaction. It is not stored either.
    """

    leaf_id: str | None = None
    format: ContextFormat = "entries"
    context_window: Tokens | None = None
    files_at_hand: bool = False


class ContextResult(WireModel):
    """What a model sees. The shape of `messages` follows the format that was asked for.

    `entries`: a list of `Message`, each with the `entryId` it is from, where it is from one. `openai`: those
    of Chat Completions. `anthropic`: those of the Messages API, with its `system` apart. `text`: one string.

    `firstKeptEntryId` is the first entry that the compaction `compactionId` left in the view.
    """

    messages: list[Any] | str
    system: str | None = None
    tokens: int
    token_source: TokenSource
    compaction_id: str | None = None
    first_kept_entry_id: str | None = None


class FilesParams(ConversationParams):
    """A page of the files of the path to `leafId`, by default the current one; `cursor` is a `nextCursor`."""

    leaf_id: str | None = None
    cursor: str | None = None


class FileRecord(WireModel):
    """One path's history: how often read and written, who saw it, its earlier name, whether it is new."""

    path: str
    reads: int
    writes: int
    sources: list[Literal["editor", "watcher", "tool"]]
    last_entry_id: str | None = None
    renamed_from: str | None = None
    created: bool | None = None


class GitUpdateRecord(WireModel):
    """Git replaced `files` files: `target` is what the command named, `commit` is where it ended."""

    action: GitAction
    target: str | None = None
    commit: str
    files: int
    last_entry_id: str | None = None


class FilesResult(WireModel):
    """Sorted. A path that was read and modified is in `modifiedFiles` alone.

    What git replaced is in `gitUpdates` of the first page, the oldest first, and in no list of files.
    `nextCursor` is present while there is more: where the files, or the updates, would exceed 4,194,304
    characters of JSON, a page has the first files in the order of their paths, one at least, and the newest
    updates.
    """

    read_files: list[str]
    modified_files: list[str]
    deleted_files: list[str]
    records: list[FileRecord]
    git_updates: list[GitUpdateRecord] | None = None
    next_cursor: str | None = None
