"""The records that the store accepts and returns."""

import base64
import json
from dataclasses import dataclass, field
from typing import Any, Final

from coppice.tokens.size import Size
from coppice.tree.entries import Entry


class _Leaf:
    """The current leaf, as the value of a parameter that otherwise takes an entry id."""

    def __repr__(self) -> str:
        return "LEAF"


LEAF: Final = _Leaf()
EntryRef = str | _Leaf


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The configured model, by its name in the settings, and the thinking level that a user chose.

    None is what the settings say.
    """

    model: str | None = None
    thinking_level: str | None = None


@dataclass(frozen=True, slots=True)
class NewConversation:
    """What a new conversation starts with; `source` is where an imported one came from."""

    id: str
    workspace_uri: str
    created_at: str
    name: str | None = None
    parent_conversation_id: str | None = None
    source: dict[str, Any] | None = None
    choice: ModelChoice = ModelChoice()


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """`name` is the newest of the name it was created with and its `session_info` entries.

    `key` is its row's.
    """

    id: str
    workspace_uri: str
    created_at: str
    modified_at: str
    leaf_id: str | None
    entry_count: int
    name: str | None = None
    first_message: str | None = None
    parent_conversation_id: str | None = None
    source: dict[str, Any] | None = None
    key: int = 0
    choice: ModelChoice = ModelChoice()

    @property
    def cursor(self) -> str:
        """Continues a listing after this conversation."""
        return base64.urlsafe_b64encode(json.dumps([self.modified_at, self.key]).encode()).decode()

    @property
    def model(self) -> str | None:
        """The name of the configured model that was chosen."""
        return self.choice.model

    @property
    def thinking_level(self) -> str | None:
        """The thinking level that was chosen."""
        return self.choice.thinking_level


@dataclass(frozen=True, slots=True)
class NewRecord:
    """An entry to store, with its size. `append` sets its `parent_id`, an import uses the given one.

    `ledger` goes with a compaction: the files of the path up to the first kept entry, as JSON values.
    `new_id`: the entry's id was made for it, so that it is not looked for in the store.
    """

    entry: Entry
    size: Size
    ledger: dict[str, Any] | None = None
    new_id: bool = False


@dataclass(frozen=True, slots=True)
class Appended:
    """`stored` holds the ids that are new; an id that was stored before is in `entry_ids` only.

    `end` is the leaf afterwards, `compaction` the newest on the path to it, and `conversation` its row before
    the append.
    """

    entry_ids: list[str]
    stored: list[str]
    conversation: ConversationRecord
    end: "PathEnd | None"
    compaction: "CompactionRecord | None"
    leaf_moved: bool

    @property
    def leaf_id(self) -> str | None:
        """The id of the leaf afterwards; None in an empty conversation."""
        return None if self.end is None else self.end.id


@dataclass(frozen=True, slots=True)
class PathEnd:
    """An entry seen as the end of its path.

    `depth` counts from 0 at the root. `total` is the size of the path: every entry up to this one except
    compactions, of which a view holds one at most.
    `usage_tokens` is the newest valid provider count on the path that is not older than the newest
    compaction, and `since_usage` the size of what came after it, less than 0 where more was cleared.
    `saved` is what the context edits since the newest compaction save in the view.
    """

    conversation_id: str
    key: int
    id: str
    run: int
    depth: int
    type: str
    total: Size
    compaction_key: int | None
    usage_tokens: int | None = None
    since_usage: Size = field(default_factory=Size)
    saved: Size = field(default_factory=Size)


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An entry without its content. `role` is the message's, for entries of type `message`."""

    id: str
    depth: int
    type: str
    role: str | None
    size: Size
    timestamp: str


@dataclass(frozen=True, slots=True)
class CompactionRecord:
    """The newest compaction on a path.

    `kept_depth` is the depth of the first kept entry; where that entry is not on the path nothing before
    the compaction was kept and `kept_depth` is `depth + 1`. `before_kept` is the path's total up to the
    entry before the first kept one, `total` the path's total at the compaction, and `size` its own size,
    which is part of neither. `has_pins`: an entry of the conversation, on any branch,
    was pinned when the path was read.
    """

    entry_id: str
    depth: int
    kept_depth: int
    first_kept_entry_id: str | None
    size: Size
    total: Size
    before_kept: Size
    has_pins: bool


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A node of the tree listing; see `TreeNode` in docs/protocol.md."""

    id: str
    parent_id: str | None
    type: str
    role: str | None
    preview: str
    label: str | None
    pinned: bool
    timestamp: str
    size: Size
    child_count: int
    on_current_path: bool
    run_length: int | None


@dataclass(frozen=True, slots=True)
class StoredChange:
    """A change another server made. `kinds` are those of `coppice/conversationChanged`, and `turn`."""

    conversation_id: str
    leaf_id: str | None
    kinds: list[str]


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn that a server runs. `seen` is when `holder` last renewed it, in seconds since 1970.

    `stop`: another server asks `holder` to stop it.
    """

    holder: str
    seen: int
    stop: bool
