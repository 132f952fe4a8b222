"""Notifications about a conversation that changed."""

from typing import Literal

from coppice.service.messages.base import ConversationParams
from coppice.service.messages.usage import UsageState

Change = Literal["entries", "leaf", "labels", "pins", "name", "created", "deleted"]


class ConversationChanged(ConversationParams):
    """Sent whoever made the change, another server on the same store included."""

    leaf_id: str | None
    changes: list[Change]


class UsageChanged(ConversationParams):
    usage: UsageState
