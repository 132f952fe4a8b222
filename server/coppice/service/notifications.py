"""The notifications of the protocol: what each carries."""

from typing import Final

from coppice.service.compacting import ENDED, STARTED
from coppice.service.conversations import CHANGED
from coppice.service.messages.base import WireModel
from coppice.service.messages.compaction import CompactionEnded, CompactionStarted
from coppice.service.messages.events import ConversationChanged, UsageChanged
from coppice.service.trees import USAGE_CHANGED

NOTIFICATIONS: Final[dict[str, type[WireModel]]] = {
    STARTED: CompactionStarted,
    ENDED: CompactionEnded,
    CHANGED: ConversationChanged,
    USAGE_CHANGED: UsageChanged,
}
