"""The notifications of the protocol: what each carries."""

from typing import Final

from coppice.protocol.base import WireModel
from coppice.protocol.compaction import CompactionEnded, CompactionStarted
from coppice.protocol.events import (
    BackgroundCompactionChanged,
    ConversationChanged,
    TurnChanged,
    UsageChanged,
)
from coppice.protocol.hooks import DidForkParams, DidNavigateParams

COMPACTION_STARTED: Final = "coppice/compactionStarted"
COMPACTION_ENDED: Final = "coppice/compactionEnded"
BACKGROUND_COMPACTION_CHANGED: Final = "coppice/backgroundCompactionChanged"
CONVERSATION_CHANGED: Final = "coppice/conversationChanged"
TURN_CHANGED: Final = "coppice/turnChanged"
USAGE_CHANGED: Final = "coppice/usageChanged"

DID_NAVIGATE: Final = "coppice/didNavigate"
DID_FORK: Final = "coppice/didFork"

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
