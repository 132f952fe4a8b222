"""Replies that were cut at their token limit, and what asks for the rest of them."""

from collections.abc import Sequence
from typing import Final

from coppice.service.core.conversation_path import ConversationPath
from coppice.tree.entries import MessageEntry
from coppice.tree.messages import AssistantMessage, CustomRoleMessage, Message, UserMessage, text_of
from coppice.tree.view import ViewMessage, is_sent

_GO_ON: Final = (
    "Your last reply was cut off at its token limit. "
    "Continue it exactly where it ended, without repeating it."
)
"""Sent after a reply that was cut off, and not stored: some models refuse a reply as the last message."""


def was_cut(path: ConversationPath) -> bool:
    """Whether the words of the last reply were cut; notes after it are for the model alone."""
    for entry in path.newest_first(path.first_depth):
        message = entry.message if isinstance(entry, MessageEntry) else None
        if message is None or isinstance(message, CustomRoleMessage) or not is_sent(message):
            continue
        if not _is_wordless(message):
            return (
                isinstance(message, AssistantMessage)
                and not message.tool_calls
                and message.stop_reason == "length"
            )
    return False


def asking_to_go_on(view: Sequence[ViewMessage], *, is_cut: bool) -> list[ViewMessage]:
    """The messages of a request. A reply without words at their end is asked for again."""
    messages = list(view)
    while messages and _is_wordless(messages[-1].message):
        messages.pop()
    return [*messages, ViewMessage(None, UserMessage(content=_GO_ON))] if is_cut else messages


def _is_wordless(message: Message) -> bool:
    return (
        isinstance(message, AssistantMessage)
        and not message.tool_calls
        and not text_of(message.content).strip()
    )
