"""One line by which a person recognizes an entry."""

from coppice.tree.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    CustomEntry,
    CustomMessageEntry,
    Entry,
    FileActivityEntry,
    GitUpdate,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    PinEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
)
from coppice.tree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryRoleMessage,
    CompactionSummaryRoleMessage,
    Message,
    ToolResultMessage,
    text_of,
)

PREVIEW_CHARS = 100  # characters: a line of a list in a wide window


def preview_of(entry: Entry, limit: int = PREVIEW_CHARS) -> str:
    """The start of the text of `entry`, on one line of at most `limit` characters."""
    line = " ".join(_words_of(entry)[: limit * 8].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _words_of(entry: Entry) -> str:  # noqa: C901, PLR0911 - one line for each type
    match entry:
        case MessageEntry():
            return _words_of_message(entry.message)
        case CompactionEntry() | BranchSummaryEntry():
            return entry.summary
        case ContextEditEntry(cleared=cleared):
            what = f"cleared {len(cleared)} tool {'result' if len(cleared) == 1 else 'results'}"
            return what if cleared else "cleared tool results shown again"
        case CustomMessageEntry():
            return text_of(entry.content)
        case CustomEntry():
            return entry.custom_type
        case ModelChangeEntry():
            return f"{entry.provider}/{entry.model_id}"
        case ThinkingLevelChangeEntry():
            return entry.thinking_level
        case LabelEntry():
            return entry.label or ""
        case PinEntry():
            return "pinned" if entry.pinned else "unpinned"
        case SessionInfoEntry():
            return entry.name or ""
        case FileActivityEntry(git_update=GitUpdate() as update):
            named = [f"git {update.action}", *([update.target] if update.target else [])]
            count = len(entry.changes) + (entry.omitted or 0)
            return f"{' '.join(named)}, {count} {'file' if count == 1 else 'files'}"
        case FileActivityEntry():
            return ", ".join(f"{change.kind} {change.path}" for change in entry.changes[:5])


def _words_of_message(message: Message) -> str:
    match message:
        case AssistantMessage():
            text = text_of(message.content)
            calls = ", ".join(call.name for call in message.tool_calls)
            return text if text.strip() else (calls or message.error_message or "")
        case BashExecutionMessage():
            return f"$ {message.command}"
        case ToolResultMessage():
            return f"{message.tool_name}: {text_of(message.content)}"
        case BranchSummaryRoleMessage() | CompactionSummaryRoleMessage():
            return message.summary
        case _:
            return text_of(message.content)
