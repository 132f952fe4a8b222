"""Who wrote each message of a span: not all that has the user's role is the user's."""

from typing import Final

from coppice.compaction.facts.user import answer_in, reason_in
from coppice.tree.authorship import written_by_user
from coppice.tree.entries import HARNESS_TYPE, MEMORY_TYPE, BranchSummaryEntry, CustomMessageEntry, Entry
from coppice.tree.messages import (
    BranchSummaryRoleMessage,
    CompactionSummaryRoleMessage,
    CustomRoleMessage,
    Message,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from coppice.tree.view import message_of

HARNESS: Final = "Harness"
TOOL: Final = "Tool result"


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
            is_text = bool(text_of(message.content).strip())
            return HARNESS if is_text and not written_by_user(message.content) else "User"
        case _:
            return "User"


def spoken_in_result(message: ToolResultMessage, text: str) -> tuple[str, str]:
    """Who speaks in the result of a call, and what: the tool in `text`, or the user who refused it with a
    reason, or whose answer is in its details.
    """
    is_denied = isinstance(message.details, dict) and message.details.get("denied") is True
    if is_denied and (reason := reason_in(text)):
        return "User, refusing this call", reason
    if answer := answer_in(message):
        return "User, answering this call", answer
    return TOOL, text
