"""The tool calls whose results were found: without them an output is hard to place."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from coppice.files.tools import touches_of
from coppice.store.search.recalling import RecallRow
from coppice.store.search.search_text import leaves
from coppice.store.store import Store
from coppice.tree.messages import ToolCall

_MAX_STEPS: Final = 8
"""Entries between a result and its call: other results of the same reply, which has a few."""
_MAX_CHARS: Final = 200  # characters of a call's line: two lines of a terminal
_COMMAND_NAMES: Final = ("command", "cmd", "script")


@dataclass(frozen=True, slots=True)
class CallOf:
    """The start of a call's arguments on one line: its command, or all of them. `path` is the first file,
    `text` all that the arguments hold.
    """

    arguments: str
    path: str | None
    text: str = ""


def calls_of_results(store: Store, rows: Sequence[RecallRow]) -> dict[int, CallOf]:
    """The calls of those `rows` that are tool results, by the key of the row."""
    wanted = {row.key: row for row in rows if row.tool_call_id is not None}
    above = {key: row.parent_key for key, row in wanted.items()}
    call_of: dict[int, CallOf] = {}
    for _ in range(_MAX_STEPS):
        keys = sorted({parent for parent in above.values() if parent is not None})
        if not keys:
            break
        parents = {row.key: row for row in store.recall_rows(keys)}
        following: dict[int, int | None] = {}
        for key, parent_key in above.items():
            parent = parents.get(parent_key) if parent_key is not None else None
            call = parent and next((c for c in calls_in(parent) if c.id == wanted[key].tool_call_id), None)
            if call:
                touches = touches_of(call, {})
                path = touches[0].path if touches else None
                call_of[key] = CallOf(_shown(call.arguments), path, "\n".join(leaves(call.arguments)))
            elif parent is not None and parent.tool_call_id is not None:
                following[key] = parent.parent_key
        above = following
    return call_of


def calls_in(row: RecallRow) -> Iterator[ToolCall]:
    """The calls that a message of the model has."""
    content = row.message.get("content")
    for block in content if row.role == "assistant" and isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "toolCall":
            arguments = block.get("arguments")
            yield ToolCall(
                id=str(block.get("id")),
                name=str(block.get("name")),
                arguments=arguments if isinstance(arguments, dict) else {},
            )


def _shown(arguments: dict[str, Any]) -> str:
    command = next((arguments[name] for name in _COMMAND_NAMES if isinstance(arguments.get(name), str)), None)
    text = command if command is not None else json.dumps(arguments, ensure_ascii=False)
    line = " ".join(text[: 4 * _MAX_CHARS].split())
    return line if len(line) <= _MAX_CHARS else f"{line[: _MAX_CHARS - 1]}…"
