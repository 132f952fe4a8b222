"""Recalled entries as a model reads them, each between tags that its text cannot close.

The first line of an entry is a JSON object that says what it is, by what the store knows. An entry's text,
its id or the name of a tool can therefore neither pass for another entry nor for what follows the entries.
"""

import json
from typing import Final

from coppice.protocol.history import RecallItem, RecallResult
from coppice.tree.tags import tagged

TAG: Final = "history-entry"


def shown_to_model(found: RecallResult, tool: str) -> str:
    """The entries, and after them how to call `tool` for the next page where there is one."""
    if not found.items:
        return "Nothing was found. Try other words: names of files, functions, commands, or error text."
    parts = [tagged(TAG, f"{_header(item)}\n{item.text.rstrip()}") for item in found.items]
    if found.next_cursor is not None:
        parts.append(
            f'There is more: call {tool} again with the same arguments and cursor "{found.next_cursor}".'
        )
    return "\n\n".join(parts)


def _header(item: RecallItem) -> str:
    kind = {"type": item.type} if item.role is None else {"role": item.role}
    facts = {
        "id": item.entry_id,
        "time": item.timestamp,
        **kind,
        "tool": item.tool_name,
        "call": item.call,
        "path": item.path if item.call is None else None,
        "part": item.truncated,
        "branch": None if item.on_current_path else "another",
    }
    lines = {
        name: " ".join(value.split()) if isinstance(value, str) else value
        for name, value in facts.items()
        if value is not None
    }
    return json.dumps(lines, ensure_ascii=False)
