"""Who wrote each message of a span: not all that has the user's role is the user's."""

import re
from typing import Final

from coppice.tree.entries import HARNESS_TYPE, MEMORY_TYPE, BranchSummaryEntry, CustomMessageEntry, Entry
from coppice.tree.messages import (
    BranchSummaryRoleMessage,
    CompactionSummaryRoleMessage,
    CustomRoleMessage,
    Message,
    UserMessage,
    text_of,
)
from coppice.tree.view import message_of

HARNESS: Final = "Harness"
_TAGS: Final = (
    "system-reminder",
    "task-notification",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "user-prompt-submit-hook",
    "environment_context",
    "user_instructions",
    "skills_instructions",
    "apps_instructions",
    "plugins_instructions",
)
_HARNESS_TEXT: Final = re.compile(
    rf"\s{{0,100}}(?:<({'|'.join(_TAGS)})\b|\[Request interrupted by user|Caveat: The messages below were)"
)


def message_with_author(entry: Entry) -> Message | None:
    """The message of an entry as a view has it, but for its role: an extension's stays an extension's."""
    match entry:
        case CustomMessageEntry():
            return CustomRoleMessage(
                custom_type=entry.custom_type, content=entry.content, timestamp=entry.timestamp
            )
        case BranchSummaryEntry():
            return BranchSummaryRoleMessage(summary=entry.summary, timestamp=entry.timestamp)
        case _:
            return message_of(entry)


def speaker_of(message: Message) -> str:
    """Who wrote a message that a model is sent with the role of the user."""
    match message:
        case CustomRoleMessage():
            return {HARNESS_TYPE: HARNESS, MEMORY_TYPE: "Memory"}.get(message.custom_type, "Extension")
        case BranchSummaryRoleMessage() | CompactionSummaryRoleMessage():
            return HARNESS
        case UserMessage():
            return HARNESS if _is_of_harness(text_of(message.content)) else "User"
        case _:
            return "User"


def _is_of_harness(text: str) -> bool:
    """Whether a text is a harness's from its first to its last tag."""
    opening = _HARNESS_TEXT.match(text)
    if opening is None:
        return False
    tag = opening[1]
    return tag is None or text.rstrip().endswith(f"</{tag}>")
