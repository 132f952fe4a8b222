"""The notifications of the protocol: what each carries."""

from typing import Final, Literal

from coppice.protocol.base import ConversationParams, WireModel
from coppice.protocol.compaction import CompactionEnded, CompactionStarted
from coppice.protocol.hooks import DidForkParams, DidNavigateParams
from coppice.protocol.usage import UsageState

COMPACTION_STARTED: Final = "coppice/compactionStarted"
COMPACTION_ENDED: Final = "coppice/compactionEnded"
BACKGROUND_COMPACTION_CHANGED: Final = "coppice/backgroundCompactionChanged"
CONVERSATION_CHANGED: Final = "coppice/conversationChanged"
TURN_CHANGED: Final = "coppice/turnChanged"
USAGE_CHANGED: Final = "coppice/usageChanged"

DID_NAVIGATE: Final = "coppice/didNavigate"
DID_FORK: Final = "coppice/didFork"

Change = Literal["entries", "leaf", "labels", "pins", "name", "model", "created", "deleted"]


class BackgroundCompactionChanged(ConversationParams):
    """What there is of a summary that is written before its compaction is due.

    `status` is null when there is none any more: it was taken, failed, was cancelled or has become useless.
    """

    status: Literal["writing", "ready"] | None


class ConversationChanged(ConversationParams):
    """Sent whoever made the change, another server on the same store included."""

    leaf_id: str | None
    changes: list[Change]


class TurnChanged(ConversationParams):
    """A turn began or ended.

    `turn` says where one runs now: in this server, or in another one on the same store.
    """

    turn: Literal["here", "elsewhere"] | None


class UsageChanged(ConversationParams):
    """Sent when the size of a conversation's view has changed.

    Where another server changed it, of the last 100 conversations that the client has asked about.
    """

    usage: UsageState


NOTIFICATIONS: Final[dict[str, type[WireModel]]] = {
    COMPACTION_STARTED: CompactionStarted,
    COMPACTION_ENDED: CompactionEnded,
    BACKGROUND_COMPACTION_CHANGED: BackgroundCompactionChanged,
    CONVERSATION_CHANGED: ConversationChanged,
    TURN_CHANGED: TurnChanged,
    USAGE_CHANGED: UsageChanged,
    DID_NAVIGATE: DidNavigateParams,
    DID_FORK: DidForkParams,
}
