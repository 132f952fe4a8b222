"""Notifications about a conversation that changed."""

from typing import Literal

from coppice.protocol.base import ConversationParams
from coppice.protocol.usage import UsageState

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
