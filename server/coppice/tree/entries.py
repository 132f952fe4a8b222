"""Entries: the nodes of a conversation tree.

An entry never changes once it is stored. `parent_id` is None at a root; a conversation may have several.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from coppice.tree.messages import DataModel, Message, UserContent


class EntryBase(DataModel):
    """What every entry has. `timestamp` is an ISO 8601 UTC string."""

    id: str
    parent_id: str | None
    timestamp: str


class MessageEntry(EntryBase):
    type: Literal["message"] = "message"
    message: Message


class CompactionEntry(EntryBase):
    """From here on a model sees `summary` in place of everything before `first_kept_entry_id`."""

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
    """What happened on the branch that ended at `from_id`, told to the branch that goes on here."""

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


class CustomMessageEntry(EntryBase):
    """An extension's message; a model sees it as a user message."""

    type: Literal["custom_message"] = "custom_message"
    custom_type: str
    content: str | list[UserContent]
    display: bool = True
    details: Any = None


class ModelChangeEntry(EntryBase):
    type: Literal["model_change"] = "model_change"
    provider: str
    model_id: str


class ThinkingLevelChangeEntry(EntryBase):
    type: Literal["thinking_level_change"] = "thinking_level_change"
    thinking_level: str


class LabelEntry(EntryBase):
    """Names an entry; without `label` it takes the name away."""

    type: Literal["label"] = "label"
    target_id: str
    label: str | None = None


class PinEntry(EntryBase):
    type: Literal["pin"] = "pin"
    target_id: str
    pinned: bool


class SessionInfoEntry(EntryBase):
    type: Literal["session_info"] = "session_info"
    name: str | None = None


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


class FileActivityEntry(EntryBase):
    """What happened to files, each once. `omitted` is how many further files changed at the same time."""

    type: Literal["file_activity"] = "file_activity"
    changes: list[FileChange]
    omitted: int | None = None


Entry = Annotated[
    MessageEntry
    | CompactionEntry
    | BranchSummaryEntry
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

ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)

METADATA_TYPES = frozenset({"label", "pin", "session_info", "file_activity", "custom"})
"""Entries about the conversation rather than in it. Appending one never moves the leaf."""
