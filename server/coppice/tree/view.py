"""The view: the messages a model sees of a path.

A view is what the newest compaction left, with everything since. It is valid for every provider: each tool
call is followed at once by its one result, and it contains nothing that a model may not be sent again.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from coppice.tree.clearing import cleared_result, clearing_steps
from coppice.tree.code import code_span, fence_of
from coppice.tree.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
)
from coppice.tree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryRoleMessage,
    CompactionSummaryRoleMessage,
    CustomRoleMessage,
    Message,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from coppice.tree.tags import attribute, tagged, tagged_summary

SummaryRole = Literal["user", "system"]

SUMMARY_PREAMBLE: Final = "The earlier part of this conversation has been replaced by this summary of it:"
BRANCH_PREAMBLE: Final = (
    "Another branch of this conversation was explored and left. This is a summary of what happened there:"
)
NO_RESULT: Final = "This call was interrupted; it has no result."


@dataclass(frozen=True, slots=True)
class ViewMessage:
    """A message with the id of its entry; None for a message that is no entry, such as a summary.

    `clearing_step` is the number of the context edit by which it shows a line in place of its content.
    """

    entry_id: str | None
    message: Message
    clearing_step: int | None = None


def message_of(entry: Entry) -> Message | None:
    """The message that a model is sent for `entry`, or None for an entry that a model does not see.

    None for a compaction too: only the newest one is in a view, added by `view_of`.
    """
    match entry:
        case MessageEntry():
            return entry.message
        case CustomMessageEntry():
            return UserMessage(content=entry.content, timestamp=entry.timestamp)
        case BranchSummaryEntry():
            return UserMessage(content=_branch_text(entry.summary), timestamp=entry.timestamp)
        case _:
            return None


def is_sent(message: Message) -> bool:
    """Whether a view that holds `message` shows it: a failed or empty reply is never sent again."""
    return _as_sent(message) is not None


def view_of(
    entries: Iterable[Entry],
    compaction: CompactionEntry | None = None,
    summary_role: SummaryRole = "user",
    pinned: Iterable[Entry] = (),
    history_note: str = "",
) -> list[ViewMessage]:
    """The view of a path, oldest message first.

    `entries` are those from the first kept one to the leaf, oldest first; `compaction` is the newest on the
    path, and may itself be among them. A tool result that a context edit among them cleared is a line.
    `pinned` are entries from before the first kept one that stay in the view; they come between the summary
    and the kept entries. `history_note` is a sentence before the summary about how to look up what it
    replaced.
    """
    entries = list(entries)
    steps = clearing_steps(entries)
    visible = [
        ViewMessage(entry.id, cleared_result(sent, entry.id), steps[entry.id])
        if entry.id in steps
        else ViewMessage(entry.id, sent)
        for entry in entries
        if (message := message_of(entry)) and (sent := _as_sent(message))
    ]
    opening = [] if compaction is None else [_summary_message(compaction, summary_role, history_note)]
    pins = [ViewMessage(entry.id, message) for entry in pinned if (message := pinned_message(entry))]
    return [*opening, *pins, *_with_paired_calls(visible)]


def pinned_message(entry: Entry) -> Message | None:
    """A pinned entry outside its place: a person's message as it is, all else in the user's name.

    Out of its turn a reply or a tool result would have no partner, and no provider would take it.
    """
    if isinstance(entry, CompactionEntry):
        return _as_sent(CompactionSummaryRoleMessage(summary=entry.summary))
    match message := message_of(entry):
        case AssistantMessage() | ToolResultMessage():
            tool = attribute(message.tool_name) if isinstance(message, ToolResultMessage) else ""
            speaker = f"tool `{tool}`" if tool else "assistant"
            quoted = tagged("pinned", _words(message))
            return UserMessage(content=f"Pinned from earlier, said by the {speaker}:\n\n{quoted}")
        case None:
            return None
        case _:
            return _as_sent(message)


def _words(message: AssistantMessage | ToolResultMessage) -> str:
    calls = message.tool_calls if isinstance(message, AssistantMessage) else []
    called = [f"{call.name}({call.arguments_json})" for call in calls]
    return "\n".join(filter(None, (text_of(message.content), *called)))


def bash_text(message: BashExecutionMessage) -> str:
    """A command the user ran, as a model is sent it."""
    fence = fence_of(message.output)
    lines = [f"The user ran {code_span(message.command)}", fence, message.output or "(no output)", fence]
    if message.cancelled:
        lines.append("The command was cancelled.")
    elif message.exit_code:
        lines.append(f"It exited with code {message.exit_code}.")
    if message.truncated:
        lines.append("The output was cut.")
    return "\n".join(lines)


def _branch_text(summary: str) -> str:
    return f"{BRANCH_PREAMBLE}\n\n{tagged_summary('summary', summary)}"


def _summary_message(compaction: CompactionEntry, role: SummaryRole, note: str) -> ViewMessage:
    text = _summary_text(compaction.summary)
    content = [TextContent(text=f"{note}\n\n{text}" if note else text)]
    message = SystemMessage(content=content) if role == "system" else UserMessage(content=list(content))
    return ViewMessage(compaction.id, message)


def _summary_text(summary: str) -> str:
    return f"{SUMMARY_PREAMBLE}\n\n{tagged_summary('summary', summary)}"


def _as_sent(message: Message) -> Message | None:
    """`message` as a provider may be sent it, or None when it may not be sent at all."""
    match message:
        case AssistantMessage():
            return None if message.failed or not message.content else message
        case BashExecutionMessage():
            if message.exclude_from_context:
                return None
            return UserMessage(content=bash_text(message), timestamp=message.timestamp)
        case CustomRoleMessage():
            return UserMessage(content=message.content, timestamp=message.timestamp)
        case BranchSummaryRoleMessage():
            return UserMessage(content=_branch_text(message.summary), timestamp=message.timestamp)
        case CompactionSummaryRoleMessage():
            return UserMessage(content=_summary_text(message.summary), timestamp=message.timestamp)
        case _:
            return message


def _with_paired_calls(items: Sequence[ViewMessage]) -> list[ViewMessage]:
    """Results follow their calls, in the calls' order; a result without a call is left out.

    A result answers the first open call with its id in the nearest earlier reply that has one; a call that
    nothing answered gets a result that says so. Messages between a call and its result come after the result.
    """
    results = _results_by_call(items)
    paired: list[ViewMessage] = []
    for index, item in enumerate(items):
        if isinstance(item.message, ToolResultMessage):
            continue
        paired.append(item)
        if isinstance(item.message, AssistantMessage):
            for position, call in enumerate(item.message.tool_calls):
                answer = results.get((index, position))
                paired.append(answer or ViewMessage(None, _missing_result(call)))
    return paired


def _results_by_call(items: Sequence[ViewMessage]) -> dict[tuple[int, int], ViewMessage]:
    """Maps (index of the reply, position of the call in it) to the message that answers it."""
    open_calls: dict[str, deque[tuple[int, int]]] = {}
    answered: dict[tuple[int, int], ViewMessage] = {}
    for index, item in enumerate(items):
        if isinstance(item.message, AssistantMessage):
            open_calls |= {call.id: deque() for call in item.message.tool_calls}
            for position, call in enumerate(item.message.tool_calls):
                open_calls[call.id].append((index, position))
        elif isinstance(item.message, ToolResultMessage) and open_calls.get(item.message.tool_call_id):
            answered[open_calls[item.message.tool_call_id].popleft()] = item
    return answered


def _missing_result(call: ToolCall) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=[TextContent(text=NO_RESULT)],
        is_error=True,
    )
