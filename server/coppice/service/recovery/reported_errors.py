"""What a client's error is about: the request's size, a reply to a part of the request, or neither.

Some servers cut a request that does not fit without a word and answer what is left.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from coppice.protocol.recovery import RequestError
from coppice.recovery.overflow import is_overflow, is_silent_overflow
from coppice.service.core.conversation_path import ConversationPath
from coppice.tree.entries import MessageEntry, ModelChangeEntry, reply_of
from coppice.tree.messages import AssistantMessage, Usage

_NOTHING_DONE: Final = "Nothing was compacted."
_BY_STATUS: Final[Mapping[int, str]] = {
    401: "The provider refused the key. Check it.",
    402: "The provider asks for payment: credit or quota is used up.",
    403: "The provider refused the key or the model. Check both.",
    404: "The provider does not know the model or the address. Check both.",
    408: "The provider took too long. Try again.",
    429: "The provider limits the rate or the quota. Wait, then try again.",
    529: "The provider is overloaded. Wait, then try again.",
}
_SERVER_FAILS: Final = range(500, 600)


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


def why_no_overflow(path: ConversationPath, error: RequestError) -> str | None:
    """A sentence for an error that a compaction would not help against; None for an overflow.

    The error of another model than the one that the conversation has gone on with is none. Reads the store.
    """
    code = None if error.code is None else str(error.code)
    if not is_overflow(error.status, code, error.message, path.settings.overflow.phrases):
        return f"{_reason(error.status)} {_NOTHING_DONE}"
    changed_to = _changed_to(path, error)
    if changed_to is None:
        return None
    return (
        f"The error came from {_named(error.provider, error.model)}; the conversation has gone on with "
        f"{changed_to} since. {_NOTHING_DONE}"
    )


def _reason(status: int | None) -> str:
    if status is not None and status in _BY_STATUS:
        return _BY_STATUS[status]
    if status is not None and status in _SERVER_FAILS:
        return "The provider failed. Try again."
    return "The request failed for another reason than the size of the conversation."


def _changed_to(path: ConversationPath, error: RequestError) -> str | None:
    """The model that was switched to after the one that failed, None where there was no such switch.

    A reply by the model that failed, failed or not, shows that it is the current one, whatever was noted.
    """
    if error.model is None:
        return None
    for entry in path.newest_first(path.first_depth):
        match entry:
            case MessageEntry(message=AssistantMessage(model=str() as model)) if model == error.model:
                return None
            case ModelChangeEntry(provider=provider, model_id=model):
                same = model == error.model and error.provider in (None, provider)
                return None if same else _named(provider, model)
            case _:
                pass
    return None


def _named(provider: str | None, model: str | None) -> str:
    return "/".join(filter(None, (provider, model)))


def _newest_reply(path: ConversationPath) -> tuple[MessageEntry | None, Usage | None]:
    """The reply at the leaf with its usage, unless it failed."""
    entry = path.entries(path.end.depth)[0] if path.end is not None else None
    if not isinstance(entry, MessageEntry) or (reply := reply_of(entry)) is None or reply.failed:
        return None, None
    return entry, reply.usage
