"""Replies to requests that did not fit: some servers cut them without a word and answer what is left."""

from dataclasses import dataclass
from typing import Final

from coppice.errors import StaleLeafError
from coppice.recovery.overflow import is_silent_overflow
from coppice.service.context import Context, now
from coppice.service.messages.recovery import RequestError
from coppice.service.path_reading import Path
from coppice.tree.entries import MessageEntry
from coppice.tree.messages import AssistantMessage, Usage

_SUCCESS: Final = 200


@dataclass(frozen=True, slots=True)
class PartlyRead:
    """`counted` is the request's size by the provider's count; `entry` is its reply, if that is the leaf."""

    counted: int
    entry: MessageEntry | None


def partly_read(path: Path, error: RequestError, window: int) -> PartlyRead | None:
    """What a client's "error" is about when the model did reply, to a request larger than its window.

    That is told by the usage that came with the reply, in the error or in the leaf. Reads the store.
    """
    if error.code is not None or error.status not in (None, _SUCCESS):
        return None
    entry, stored = _newest_reply(path)
    usage = error.usage or stored
    if usage is None or not is_silent_overflow(usage.request_tokens, window):
        return None
    return PartlyRead(usage.request_tokens, entry if usage == stored else None)


async def stand_before(context: Context, path: Path, reply: MessageEntry) -> bool:
    """Lets the conversation stand where the reply's request was made; false when it has gone on meanwhile."""
    return await _move(context, path, reply.parent_id, standing_at=reply.id)


async def stand_behind(context: Context, path: Path, reply: MessageEntry, leaf_id: str | None) -> bool:
    """Lets it stand at the reply again, coming from `leaf_id`; false when it has gone on meanwhile."""
    return await _move(context, path, reply.id, standing_at=leaf_id)


def _newest_reply(path: Path) -> tuple[MessageEntry | None, Usage | None]:
    """The reply at the leaf with its usage, unless it failed."""
    entry = path.entries(path.end.depth)[0] if path.end is not None else None
    if not isinstance(entry, MessageEntry) or not isinstance(entry.message, AssistantMessage):
        return None, None
    return (None, None) if entry.message.failed else (entry, entry.message.usage)


async def _move(context: Context, path: Path, leaf_id: str | None, *, standing_at: str | None) -> bool:
    conversation_id = path.conversation.id

    def move() -> None:
        path.store.set_leaf(conversation_id, leaf_id, expected_leaf_id=standing_at, modified_at=now())

    try:
        await context.write(conversation_id, move)
    except StaleLeafError:
        return False
    context.announce(conversation_id, leaf_id, "leaf")
    return True
