"""Entries: the nodes of a conversation tree.

An entry never changes once it is stored. `parent_id` is None at a root; a conversation may have several.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from coppice.tree.messages import AssistantMessage, DataModel, Message, UserContent

MAX_NAME_CHARS: Final = 1000
"""Characters of a conversation's name; a list shows many of them. More than a line of any window."""

MAX_ID_CHARS: Final = 200
"""Characters of an entry's id. A UUID has 36."""

MAX_TIME_CHARS: Final = 100
"""Characters of a time. One with microseconds and an offset has 32."""


class EntryBase(DataModel):
    """What every entry has. `timestamp` is an ISO 8601 UTC string."""

    id: str
    parent_id: str | None
    timestamp: str


class MessageEntry(EntryBase):
    """A message of a user, a model or a tool."""

    type: Literal["message"] = "message"
    message: Message


class CompactionEntry(EntryBase):
    """From here on a model sees `summary` in place of everything before `first_kept_entry_id`.

    In `details` our own have `readFiles` and `modifiedFiles`, `deletedFiles` where there are any,
    `summarizer`, the name of who wrote the summary, and `ledger`, whose shape is for us and changes. Others'
    have what their authors put there.
    """

    type: Literal["compaction"] = "compaction"
    summary: str
    first_kept_entry_id: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    reason: str | None = None
    details: Any = None
    from_hook: bool | None = None
    model: str | None = None


class BranchSummaryEntry(EntryBase):
    """A summary of the branch that ended at `from_id`, for the branch that goes on here.

    `details` are those of a compaction.
    """

    type: Literal["branch_summary"] = "branch_summary"
    summary: str
    from_id: str
    details: Any = None
    from_hook: bool | None = None
    model: str | None = None


class CustomEntry(EntryBase):
    """An extension's own record; a model never sees it."""

    type: Literal["custom"] = "custom"
    custom_type: str
    data: Any = None


HARNESS_TYPE: Final = "harness"
"""The `customType` of what an agent's harness wrote: instructions, reminders, catalogues, environment."""

MEMORY_TYPE: Final = "memory"
"""The `customType` of a memory file (CLAUDE.md, AGENTS.md) that the harness put before the model."""


class CustomMessageEntry(EntryBase):
    """An extension's message; a model sees it as a user message.

    With the `customType` `harness` or `memory` an agent put it there, another one or a turn of the server:
    not the words of the user, and not searched. `details` are the extension's own.
    """

    type: Literal["custom_message"] = "custom_message"
    custom_type: str
    content: str | list[UserContent]
    display: bool = True
    details: Any = None


class ModelChangeEntry(EntryBase):
    """Another model answers from here on."""

    type: Literal["model_change"] = "model_change"
    provider: str
    model_id: str


class ThinkingLevelChangeEntry(EntryBase):
    """Another level of thinking is used from here on."""

    type: Literal["thinking_level_change"] = "thinking_level_change"
    thinking_level: str


class LabelEntry(EntryBase):
    """Names an entry; without `label` it takes the name away."""

    type: Literal["label"] = "label"
    target_id: str
    label: str | None = None


class PinEntry(EntryBase):
    """`targetId` is pinned, or is no longer."""

    type: Literal["pin"] = "pin"
    target_id: str
    pinned: bool


class SessionInfoEntry(EntryBase):
    """The conversation's name from here on."""

    type: Literal["session_info"] = "session_info"
    name: str | None = None


class TokenCounts(DataModel):
    """Tokens by both counters."""

    tokenizer: Annotated[int, Field(ge=0, le=2**53 - 1)]
    estimate: Annotated[int, Field(ge=0, le=2**53 - 1)]


class ContextEditEntry(EntryBase):
    """From here on a model sees a line in place of each tool result of the entries `cleared`.

    The next compaction ends that: of what it keeps a model sees everything. `saved` is what the lines save.
    One with nothing `cleared` is where a user undid one: what comes before it is not cleared by itself.
    """

    type: Literal["context_edit"] = "context_edit"
    cleared: list[str]
    saved: TokenCounts
    reason: str | None = None


FileChangeKind = Literal["created", "modified", "deleted", "renamed", "read"]
FileSource = Literal["editor", "watcher", "tool"]


class FileChange(DataModel):
    """`from_path` (`from` on the wire) is the earlier path of a renamed file.

    A path that ends with `/` names a folder; only a renaming has one.
    """

    path: str
    kind: FileChangeKind
    from_path: str | None = Field(default=None, alias="from")
    source: FileSource


GitAction = Literal["checkout", "merge", "pull", "rebase", "reset"]


class GitUpdate(DataModel):
    """Git replaced files of the working tree: `target` is what it named, `commit` is where it ended."""

    action: GitAction
    target: str | None = None
    commit: str


class FileActivityEntry(EntryBase):
    """What happened to files, each once. `omitted` is how many further files changed at the same time.

    With `git_update` these files are what git replaced. They are not work of this conversation.
    """

    type: Literal["file_activity"] = "file_activity"
    changes: list[FileChange]
    omitted: int | None = None
    git_update: GitUpdate | None = None


Entry = Annotated[
    MessageEntry
    | CompactionEntry
    | BranchSummaryEntry
    | ContextEditEntry
    | CustomEntry
    | CustomMessageEntry
    | ModelChangeEntry
    | ThinkingLevelChangeEntry
    | LabelEntry
    | PinEntry
    | SessionInfoEntry
    | FileActivityEntry,
    Field(discriminator="type"),
]

ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry, config=ConfigDict(defer_build=True))

METADATA_TYPES = frozenset({"label", "pin", "session_info", "file_activity"})
"""Entries about the conversation rather than in it. Appending one never moves the leaf."""


def reply_of(entry: Entry) -> AssistantMessage | None:
    """The model's reply in `entry`, None where it holds something else."""
    if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
        return entry.message
    return None
