"""Replies to requests that did not fit: some servers cut them without a word and answer what is left."""

from dataclasses import dataclass
from http import HTTPStatus

from coppice.errors import StaleLeafError
from coppice.protocol.recovery import RequestError
from coppice.recovery.overflow import is_silent_overflow
from coppice.service.core.context import Context, now
from coppice.service.core.conversation_path import ConversationPath
from coppice.tree.entries import MessageEntry, reply_of
from coppice.tree.messages import Usage


@dataclass(frozen=True, slots=True)
class PartlyRead:
    """`counted` is the request's size by the provider's count; `entry` is its reply, if that is the leaf."""

    counted: int
    entry: MessageEntry | None


def partly_read(path: ConversationPath, error: RequestError, window: int) -> PartlyRead | None:
    """What a client's "error" is about when the model did reply, to a request larger than its window.

    The usage that came with the reply shows it, in the error or in the leaf. Reads the store.
    """
    if error.code is not None or error.status not in (None, HTTPStatus.OK):
        return None
    entry, stored = _newest_reply(path)
    usage = error.usage or stored
    if usage is None or not is_silent_overflow(usage.request_tokens, window):
        return None
    return PartlyRead(usage.request_tokens, entry if usage == stored else None)


async def move_before(context: Context, path: ConversationPath, reply: MessageEntry) -> bool:
    """Moves the leaf to where the reply's request was made; false when the conversation grew meanwhile."""
    return await _move(context, path, reply.parent_id, from_leaf_id=reply.id)


async def move_back_to(
    context: Context, path: ConversationPath, reply: MessageEntry, leaf_id: str | None
) -> bool:
    """Moves the leaf from `leaf_id` to the reply again; false when the conversation grew meanwhile."""
    return await _move(context, path, reply.id, from_leaf_id=leaf_id)


def _newest_reply(path: ConversationPath) -> tuple[MessageEntry | None, Usage | None]:
    """The reply at the leaf with its usage, unless it failed."""
    entry = path.entries(path.end.depth)[0] if path.end is not None else None
    if not isinstance(entry, MessageEntry) or (reply := reply_of(entry)) is None or reply.failed:
        return None, None
    return entry, reply.usage


async def _move(
    context: Context, path: ConversationPath, leaf_id: str | None, *, from_leaf_id: str | None
) -> bool:
    conversation_id = path.conversation.id

    def move() -> None:
        path.store.set_leaf(conversation_id, leaf_id, expected_leaf_id=from_leaf_id, modified_at=now())

    try:
        await context.write(conversation_id, move)
    except StaleLeafError:
        return False
    context.announce(conversation_id, leaf_id, "leaf")
    return True
