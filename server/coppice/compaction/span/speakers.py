"""Who wrote each message of a span: not all that has the user's role is the user's."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from coppice.compaction.facts.user import Asked, answers_in, asked_by_call, reason_in
from coppice.tree.authorship import written_by_user
from coppice.tree.entries import HARNESS_TYPE, MEMORY_TYPE, BranchSummaryEntry, CustomMessageEntry, Entry
from coppice.tree.messages import (
    AssistantMessage,
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


def with_answers(messages: Iterable[Message]) -> Iterator[Message]:
    """`messages`; a result that has what the user answered has it in its details apart from the questions.

    For whole messages: where a question is shortened, it is not recognized in the result.
    """
    asked: dict[str, Asked] = {}
    for message in messages:
        if isinstance(message, AssistantMessage):
            asked |= asked_by_call(message)
        elif isinstance(message, ToolResultMessage):
            details = _details(message)
            if details.get("answered") is True and not isinstance(details.get("answer"), str):
                words = answers_in(
                    text_of(message.content), asked.pop(message.tool_call_id, Asked([], [], [], []))
                )
                if words is not None:
                    yield message.model_copy(update={"details": {**details, "answer": words}})
                    continue
        yield message


def spoken_in_result(message: ToolResultMessage, text: str) -> tuple[str, str]:
    """Who speaks in the result of a call, and what: the tool in `text`, or the user who refused it with a
    reason, or whose answer is in its details.
    """
    details = _details(message)
    if details.get("denied") is True and (reason := reason_in(text)):
        return "User, refusing this call", reason
    if details.get("answered") is True and isinstance(answer := details.get("answer"), str):
        return "User, answering this call", answer
    return TOOL, text


def _details(message: ToolResultMessage) -> dict[str, Any]:
    return message.details if isinstance(message.details, dict) else {}
