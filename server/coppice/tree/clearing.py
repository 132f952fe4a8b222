"""Cleared tool results: the line that a model sees in place of one.

The line is a function of the result alone, so that the beginning of a view is the same in every request.
"""

import re
from collections.abc import Iterable
from typing import Final

from coppice.tree.entries import CompactionEntry, ContextEditEntry, Entry
from coppice.tree.messages import ImageContent, Message, TextContent, ToolResultMessage, text_of
from coppice.tree.tags import attribute

_ADDRESS: Final = re.compile(r"[^\s)\]]{1,64}")
"""An entry's id that the line can name; an imported one may be anything."""


def cleared_ids(entries: Iterable[Entry]) -> frozenset[str]:
    """The ids that the context edits among `entries`, oldest first, clear since the last compaction there."""
    return frozenset(clearing_steps(entries))


def clearing_steps(entries: Iterable[Entry]) -> dict[str, int]:
    """As `cleared_ids`, each with the number of the edit that clears it first: 1 for the oldest."""
    steps: dict[str, int] = {}
    number = 0
    for entry in entries:
        match entry:
            case CompactionEntry():
                steps, number = {}, 0
            case ContextEditEntry() if entry.cleared:
                number += 1
                steps = dict.fromkeys(entry.cleared, number) | steps
            case _:
                pass
    return steps


def cleared_result(message: Message, entry_id: str) -> Message:
    """`message`, a tool result of the entry `entry_id`, with a line in place of its content.

    Any other message is returned as it is.
    """
    if not isinstance(message, ToolResultMessage):
        return message
    size = f"{len(text_of(message.content)):,} characters"
    images = sum(isinstance(block, ImageContent) for block in message.content)
    if images:
        size += f", {images} {'image' if images == 1 else 'images'}"
    outcome = "failed, " if message.is_error else ""
    where = f" history_read (id {entry_id}) gives the whole." if _ADDRESS.fullmatch(entry_id) else ""
    tool = attribute(message.tool_name)
    line = f"[The result of {tool}, {outcome}{size}, was cleared to save room.{where}]"
    return message.model_copy(update={"content": [TextContent(text=line)]})
