"""Messages that append to a conversation tree and look at it."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from coppice.service.messages.base import ConversationParams, WireModel
from coppice.service.messages.conversations import Limit
from coppice.service.messages.usage import TokenSource, UsageState
from coppice.tree.entries import ENTRY, Entry
from coppice.tree.messages import DataModel

EntryType = Literal[
    "message",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "model_change",
    "thinking_level_change",
    "label",
    "pin",
    "session_info",
    "file_activity",
]


class NewEntry(DataModel):
    """An entry to append: an `Entry` whose `id` and `timestamp` may be left to the server."""

    type: EntryType
    id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    timestamp: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _is_an_entry(cls, value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("type"), str):
            ENTRY.validate_python({**value, "id": "new", "parentId": None, "timestamp": ""})
        return value


class AppendParams(ConversationParams):
    """`parentId` defaults to the leaf; null starts a new root. All entries are stored, or none.

    With `expectedLeafId` the append is refused (`stale-leaf`) when the leaf is another by now.
    """

    entries: Annotated[list[NewEntry], Field(min_length=1)]
    parent_id: str | None = None
    expected_leaf_id: str | None = None


class AppendResult(WireModel):
    entry_ids: list[str]
    leaf_id: str | None
    usage: UsageState


class EntriesParams(ConversationParams):
    """A page of the path to `leafId` (default: the current leaf), from behind the entry `after`.

    With `backward` the page that ends in front of the entry `before`, by default the last one.
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


class EntriesResult(WireModel):
    """Root first, whichever way was read. `nextAfter` or `nextBefore` is present while there is more."""

    entries: list[Entry]
    next_after: str | None = None
    next_before: str | None = None


class TreeParams(ConversationParams):
    mode: Literal["all", "branches"] = "all"
    limit: Limit = 100
    after: str | None = None


class TreeNode(WireModel):
    """A node of the listing. In mode `branches` it stands for `runLength` entries that end with `id`.

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

    Nothing is stored of that. `coppice/truncateToolResults` cuts them for good, on a new branch.
    """

    leaf_id: str | None = None
    format: ContextFormat = "entries"
    context_window: Annotated[int, Field(ge=1)] | None = None


class ContextResult(WireModel):
    """What a model sees. The shape of `messages` follows the format that was asked for.

    `firstKeptEntryId` is the first entry that the compaction `compactionId` left in the view.
    """

    messages: list[Any] | str
    system: str | None = None
    tokens: int
    token_source: TokenSource
    compaction_id: str | None = None
    first_kept_entry_id: str | None = None


class FilesParams(ConversationParams):
    leaf_id: str | None = None


class FileRecord(WireModel):
    """One path's history: how often read and written, who saw it, its earlier name, whether it is new."""

    path: str
    reads: int
    writes: int
    sources: list[Literal["editor", "watcher", "tool"]]
    last_entry_id: str | None = None
    renamed_from: str | None = None
    created: bool | None = None


class FilesResult(WireModel):
    """Sorted. A path that was read and modified stands in `modifiedFiles` alone."""

    read_files: list[str]
    modified_files: list[str]
    deleted_files: list[str]
    records: list[FileRecord]
