"""The notifications of the protocol: what each carries."""

from typing import Final

from coppice.service.compacting import ENDED, STARTED
from coppice.service.context import CHANGED, USAGE_CHANGED
from coppice.service.messages.base import WireModel
from coppice.service.messages.compaction import CompactionEnded, CompactionStarted
from coppice.service.messages.events import ConversationChanged, UsageChanged

NOTIFICATIONS: Final[dict[str, type[WireModel]]] = {
    STARTED: CompactionStarted,
    ENDED: CompactionEnded,
    CHANGED: ConversationChanged,
    USAGE_CHANGED: UsageChanged,
}
