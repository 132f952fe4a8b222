"""What a conversation should say, computed the slow and plain way from two dicts and a leaf."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from conftest_service import assistant, tool, user

from coppice.tokens.measuring import size_of_entry, size_of_message
from coppice.tree.entries import (
    ENTRY,
    METADATA_TYPES,
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
)
from coppice.tree.messages import AssistantMessage, ToolResultMessage, UserMessage
from coppice.tree.view import message_of, pinned_message, view_of

SUMMARIZED_TYPES = ("message", "custom_message", "branch_summary", "compaction")


@dataclass
class ReferenceConversation:
    """`entries` holds what is no metadata, in the order in which it came."""

    entries: dict[str, Entry] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    pinned: set[str] = field(default_factory=set)
    leaf: str | None = None

    def put(self, value: dict[str, Any]) -> Entry:
        entry = ENTRY.validate_python(value)
        assert entry.type not in METADATA_TYPES
        self.entries[entry.id] = entry
        return entry

    def path(self, entry_id: str | None) -> list[Entry]:
        entries = []
        while entry_id is not None:
            entries.append(self.entries[entry_id])
            entry_id = entries[-1].parent_id
        return entries[::-1]

    def ids(self, entry_id: str | None) -> list[str]:
        return [entry.id for entry in self.path(entry_id)]

    def mark(self, entry_id: str, label: str | None) -> None:
        self.labels.pop(entry_id, None)
        if label:
            self.labels[entry_id] = label

    def destination(self, target_id: str) -> tuple[str | None, str | None]:
        """The leaf after going to the target, and what is given back to edit."""
        match target := self.entries[target_id]:
            case MessageEntry(message=UserMessage(content=str() as text)):
                return target.parent_id, text
            case CustomMessageEntry(content=str() as text):
                return target.parent_id, text
            case _:
                return target_id, None

    def abandoned(self, target_id: str) -> tuple[str | None, list[Entry]]:
        """The deepest entry that the leaf and the target share, and what comes after it on the way here."""
        here, there = self.path(self.leaf), self.ids(target_id)
        shared = [entry for entry, other in zip(here, there, strict=False) if entry.id == other]
        return shared[-1].id if shared else None, here[len(shared) :]

    def cut(self, path: list[Entry]) -> tuple[CompactionEntry | None, int]:
        """The newest compaction of a path, and how many entries it hides."""
        for depth in range(len(path) - 1, -1, -1):
            entry = path[depth]
            if isinstance(entry, CompactionEntry):
                ids = [one.id for one in path[:depth]]
                first_kept = entry.first_kept_entry_id
                return entry, ids.index(first_kept) if first_kept in ids else depth + 1
        return None, 0

    def compactions(self) -> list[str]:
        return [entry.id for entry in self.entries.values() if isinstance(entry, CompactionEntry)]

    def pins(self, path: list[Entry]) -> list[Entry]:
        """The pinned entries that the view shows in front of the kept ones."""
        opening, hidden = self.cut(path)
        return [
            entry
            for depth, entry in enumerate(path)
            if entry.id in self.pinned
            and entry is not opening
            and (depth < hidden or isinstance(entry, CompactionEntry))
        ]

    def context(self, entry_id: str | None) -> list[dict[str, Any]]:
        path = self.path(entry_id)
        opening, hidden = self.cut(path)
        shown = view_of(path[hidden:], opening, pinned=self.pins(path))
        messages = [(item.entry_id, item.message.model_dump(mode="json", by_alias=True)) for item in shown]
        return [{"entryId": entry, **message} if entry else message for entry, message in messages]

    def tokens(self, entry_id: str | None) -> int:
        """By the provider's newest count since the newest compaction, else by estimate."""
        path = self.path(entry_id)
        since = 0
        for entry in reversed(path):
            if isinstance(entry, CompactionEntry):
                break
            if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
                usage = entry.message.usage
                if usage is not None and usage.context_tokens > 0:
                    return usage.context_tokens + since
            since += size_of_entry(entry).estimate
        opening, hidden = self.cut(path)
        kept_tokens = sum(estimate(entry) for entry in path[hidden:])
        pins = (pinned_message(entry) for entry in self.pins(path))
        summary = size_of_entry(opening).estimate if opening is not None else 0
        return (
            kept_tokens
            + summary
            + sum(size_of_message(message).estimate for message in pins if message is not None)
        )

    def modified_files(self, path: list[Entry]) -> list[str]:
        return sorted(set(_modified(path)))


def estimate(entry: Entry) -> int:
    """What an entry adds to a view; a compaction adds only where it opens one."""
    return 0 if isinstance(entry, CompactionEntry) else size_of_entry(entry).estimate


def speaking(path: list[Entry]) -> list[Entry]:
    return [entry for entry in path if message_of(entry) is not None]


def _modified(path: list[Entry]) -> Iterator[str]:
    called: dict[str, str] = {}
    for entry in path:
        match entry:
            case MessageEntry(message=AssistantMessage() as reply):
                called |= {call.id: call.arguments["path"] for call in reply.tool_calls}
            case MessageEntry(message=ToolResultMessage(tool_call_id=call_id)) if call_id in called:
                yield called[call_id]
            case BranchSummaryEntry(details=dict() as details):
                yield from details["modifiedFiles"]
            case _:
                pass


def new_entries(kinds: Iterable[str], numbers: Iterator[int]) -> list[dict[str, Any]]:
    """New entries of those kinds, no two of which are alike."""
    made: list[dict[str, Any]] = []
    for kind, number in zip(kinds, numbers, strict=False):
        match kind:
            case "user":
                made.append(user(f"Question {number}: " + "please go on with it " * (number % 5)))
            case "assistant":
                made.append(assistant(f"Answer {number}. " + "It is done as was asked. " * (number % 7)))
            case "counted":
                counts = {"input": 100 + number, "output": 3, "totalTokens": 103 + number}
                made.append(assistant(f"Counted {number}.", usage=counts))
            case "edit":
                made += tool(f"call{number}", "edit", {"path": f"src/{number % 9}.py"}, "edited " * 9)
            case "extension":
                about = {"customType": "notes", "content": f"Note {number}", "display": True}
                made.append({"type": "custom_message", **about})
            case "model":
                made.append({"type": "model_change", "provider": "p", "modelId": f"m{number}"})
            case "thinking":
                made.append({"type": "thinking_level_change", "thinkingLevel": f"level {number}"})
            case _:
                made.append({"type": "custom", "customType": "notes", "data": number})
    return made
