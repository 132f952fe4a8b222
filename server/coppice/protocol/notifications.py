"""The notifications of the protocol: what each carries."""

from typing import Final

from coppice.protocol.base import WireModel
from coppice.protocol.compaction import CompactionEnded, CompactionStarted
from coppice.protocol.events import ConversationChanged, TurnChanged, UsageChanged
from coppice.protocol.hooks import DidForkParams, DidNavigateParams

COMPACTION_STARTED: Final = "coppice/compactionStarted"
COMPACTION_ENDED: Final = "coppice/compactionEnded"
CONVERSATION_CHANGED: Final = "coppice/conversationChanged"
TURN_CHANGED: Final = "coppice/turnChanged"
USAGE_CHANGED: Final = "coppice/usageChanged"

DID_NAVIGATE: Final = "coppice/didNavigate"
DID_FORK: Final = "coppice/didFork"

NOTIFICATIONS: Final[dict[str, type[WireModel]]] = {
    COMPACTION_STARTED: CompactionStarted,
    COMPACTION_ENDED: CompactionEnded,
    CONVERSATION_CHANGED: ConversationChanged,
    TURN_CHANGED: TurnChanged,
    USAGE_CHANGED: UsageChanged,
    DID_NAVIGATE: DidNavigateParams,
    DID_FORK: DidForkParams,
}
